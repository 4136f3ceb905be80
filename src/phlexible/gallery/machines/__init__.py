"""Satellite, robot arm, crane, deployable panels: with drives and controls."""
