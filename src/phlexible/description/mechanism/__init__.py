"""A mechanism as users write it."""
