"""Counts that may only fall, in JSON files of this folder: a commit that lowers some of them writes its file."""

import json
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent


def exceeded(file: str, counts: Mapping[str, int]) -> list[str]:
    """Lines about counts above those in the file; a name that is not in the file counts as 0 there."""
    limits: dict[str, int] = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    return [
        f"{name}: {count}, and .ci/{file} allows {limits.get(name, 0)}"
        for name, count in counts.items()
        if count > limits.get(name, 0)
    ]


def lower(file: str, counts: Mapping[str, int]) -> None:
    """Write the counts to the file.

    Raises:
        SystemExit: their sum is above that in the file.
    """
    path = FOLDER / file
    limit = sum(json.loads(path.read_text(encoding="utf-8")).values()) if path.exists() else None
    if limit is not None and sum(counts.values()) > limit:
        raise SystemExit(
            f".ci/{file} is only ever lowered: its sum is {limit}, and there are {sum(counts.values())}"
        )
    path.write_text(json.dumps(dict(counts), indent=4) + "\n", encoding="utf-8")
