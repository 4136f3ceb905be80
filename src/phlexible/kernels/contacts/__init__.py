"""Contacts: pairs among many, how stiff they are beside the masses, parts of steps."""
