"""Physical quantities from the raw numbers of a run: arrays over time, apart from the step."""
