"""Bodies: what one body is, its inertia, strains and points; no system, no time."""
