"""Quantities that are read: from recorded runs, by sensors."""
