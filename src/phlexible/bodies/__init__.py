"""What one body is: immutable descriptions, and what the system needs to know of them."""
