"""What is read of a state between steps."""
