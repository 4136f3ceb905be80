"""The same model with many parameters: on all cores, or on a cluster."""
