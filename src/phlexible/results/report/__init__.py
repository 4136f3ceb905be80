"""Reports: one HTML file with a 3D view, linked plots, checks and the model, which needs no network."""
