"""``python -m phlexible`` is the command line."""

from phlexible.cli import main

if __name__ == "__main__":
    main()
