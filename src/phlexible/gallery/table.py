"""All models of the gallery, by topic and in the order of their files."""

from importlib import import_module

from phlexible.gallery.entries import TOPICS, GalleryEntry

MODULES = [import_module(f"phlexible.gallery.{name}") for name in TOPICS]
ENTRIES: tuple[GalleryEntry, ...] = tuple(
    function.entry
    for module in MODULES
    for function in vars(module).values()
    if getattr(function, "__module__", "") == module.__name__ and hasattr(function, "entry")
)
