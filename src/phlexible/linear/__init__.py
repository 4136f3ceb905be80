"""Small motions: linear models, modes, responses, equilibria."""
