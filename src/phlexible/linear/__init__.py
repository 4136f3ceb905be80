"""Small motions of mechanisms: linear models, modes, responses, equilibria."""
