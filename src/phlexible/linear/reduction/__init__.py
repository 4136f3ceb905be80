"""Smaller linear models."""
