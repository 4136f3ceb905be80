"""Studies, exchange formats and passive control of models."""
