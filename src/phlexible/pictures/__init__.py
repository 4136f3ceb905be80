"""Scenes, plots, films, reports, live views."""
