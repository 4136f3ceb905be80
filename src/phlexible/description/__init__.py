"""What users write between bodies: ports, interactions, joints, mechanisms."""
