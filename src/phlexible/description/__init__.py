"""Descriptions of everything between bodies: ports, interactions, joints, mechanisms."""
