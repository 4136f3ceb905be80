"""Loads, force elements, drives, controllers, contact."""
