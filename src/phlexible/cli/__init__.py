"""The command line: ``phlexible list`` and ``phlexible run``."""

from phlexible.cli.commands import app


def main() -> None:
    """Entry point of the ``phlexible`` program."""
    app()


__all__ = ["app", "main"]
