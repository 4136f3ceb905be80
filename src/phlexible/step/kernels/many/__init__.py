"""Candidate pairs, contact forces and friction of contacts, and their part in Newton's matrix."""
