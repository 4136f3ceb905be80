"""Runs: steps, controllers, events, storage."""
