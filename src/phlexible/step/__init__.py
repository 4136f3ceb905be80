"""Package of the conserving step: its tables, compilation, kernels, assembly and time integration."""
