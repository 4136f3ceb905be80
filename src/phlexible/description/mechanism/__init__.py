"""Mechanisms as users write them."""
