"""Command line of the package: ``phlexible list``, ``phlexible run`` and other commands."""

from phlexible.cli.commands import app


def main() -> None:
    """Run the command line program ``phlexible``, its entry point."""
    app()


__all__ = ["app", "main"]
