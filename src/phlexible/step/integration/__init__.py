"""Time integration of mechanisms: single steps, runs, controllers, events, and the recording of results."""
