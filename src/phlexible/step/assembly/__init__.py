"""From a system to tables."""
