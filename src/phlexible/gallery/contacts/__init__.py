"""Bodies that touch, slide and rub."""
