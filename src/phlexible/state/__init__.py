"""A mechanism as numbers: system, redundancy, start."""
