"""How objects show themselves: short texts, small tables and pictures for notebooks."""
