"""Steps of many mechanisms in threads of a GPU, used by ``device="cuda"`` alone; no lower layer imports it."""
