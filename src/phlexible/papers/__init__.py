"""The papers' equations, readable line by line, with reference integrators."""
