"""Results files."""
