"""Compiled products of the papers' matrices."""
