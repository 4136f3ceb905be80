"""Motions and running models in a browser that a server on this machine feeds (viser)."""
