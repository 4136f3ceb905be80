"""Descriptions of bodies that users write, and the data that the system needs of each body."""
