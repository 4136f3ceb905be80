"""Linkages: crank-sliders, four-bars, closed loops."""
