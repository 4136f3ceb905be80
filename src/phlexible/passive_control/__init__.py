"""Control that shapes energies: potentials and dampers in joints."""
