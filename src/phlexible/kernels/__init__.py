"""Compiled loops over plain arrays: the conserving step (formulation, section 4), imported to simulate."""
