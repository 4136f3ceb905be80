"""Assembly of the tables that the compiled step reads, from a system of bodies and interactions."""
