"""Models with controllers around them."""
