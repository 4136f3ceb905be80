"""Models as libraries that run without Python: their data, the C around compiled steps, linking, loading."""
