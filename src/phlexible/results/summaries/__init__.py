"""Runs and models in a few words: figures, tables, what notebooks show."""
