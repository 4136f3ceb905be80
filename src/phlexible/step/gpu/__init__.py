"""Steps of many mechanisms in threads of a GPU: nothing below imports it, and ``device="cuda"`` alone needs it."""
