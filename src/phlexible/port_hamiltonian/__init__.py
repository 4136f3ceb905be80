"""Port-Hamiltonian models as matrices: base class, linear models, interconnection and checks."""
