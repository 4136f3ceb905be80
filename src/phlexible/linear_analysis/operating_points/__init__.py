"""What a model is linearized about: its pose, a static equilibrium, a steady rotation; and whether it is stable."""
