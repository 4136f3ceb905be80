"""Model order reduction of linear models."""
