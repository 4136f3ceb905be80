"""Results files in HDF5: writing, reading, resuming."""
