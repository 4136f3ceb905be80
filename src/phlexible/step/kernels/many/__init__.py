"""Contacts among many: who is near, how they push, how they rub."""
