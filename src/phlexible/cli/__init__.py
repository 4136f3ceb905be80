"""Command line of the package: ``phlexible list``, ``phlexible run`` and other commands."""

from phlexible.cli.commands import app


def main() -> None:
    """Entry point of the ``phlexible`` program."""
    app()


__all__ = ["app", "main"]
