"""Package of elastic beams: elements, modes, strains and section forces."""
