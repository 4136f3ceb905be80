"""Newton's method of one step, and the elimination of its linear equations."""
