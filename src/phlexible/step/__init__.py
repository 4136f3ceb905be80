"""The conserving step: tables, compilation, kernels, assembly, time integration."""
