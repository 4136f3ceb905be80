"""Beams."""
