"""What models return: motions, equilibria, linear models, live runs."""
