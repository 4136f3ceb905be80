"""Shells of arbitrarily large rotation: thin bodies with a director at each node of a curved mesh."""
