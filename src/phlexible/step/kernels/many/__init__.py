"""Contacts among many: who is near, how they push, how they rub. Many equal bodies: in lanes."""
