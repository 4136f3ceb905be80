"""Numbers that others published or that closed forms give, each beside the run of this package that shows it."""
