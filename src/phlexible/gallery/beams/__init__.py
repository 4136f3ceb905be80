"""Beams, free, held or spinning."""
