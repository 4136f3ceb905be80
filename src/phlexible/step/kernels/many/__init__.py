"""Contact groups: candidate pairs, contact forces and friction, and their part in Newton's matrix."""
