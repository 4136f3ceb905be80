"""Results that models return: motions, equilibria, linear models, live runs."""
