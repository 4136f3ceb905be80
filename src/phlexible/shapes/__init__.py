"""What things look like, as triangles: solids, sections, and the mass that closed surfaces hold."""
