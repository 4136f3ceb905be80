"""Compiled loops over plain arrays: the conserving step (docs/theory.md, 4), imported to simulate."""
