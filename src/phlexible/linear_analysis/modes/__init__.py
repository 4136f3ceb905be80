"""Natural modes: with and without damping and gyroscopic terms."""
