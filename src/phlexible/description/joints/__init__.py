"""Joints, and relations between their coordinates."""
