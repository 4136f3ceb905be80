"""Around models: studies, exchange formats, passive control."""
