"""Compiled models as libraries without Python: data, the C code around compiled steps, linking, loading."""
