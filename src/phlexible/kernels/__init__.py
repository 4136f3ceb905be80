"""Compiled loops over plain arrays: the conserving step (formulation, section 4). Imported only to simulate."""
