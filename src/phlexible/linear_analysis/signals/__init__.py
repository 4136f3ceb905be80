"""Inputs and outputs of linear models, their states, and the names and units of all."""
