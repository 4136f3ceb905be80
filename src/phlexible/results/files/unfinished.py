"""The file of a run as long as it goes on: blocks of instants, each with the checkpoint at its end."""

from pathlib import Path
from typing import Any

from phlexible.errors import ResultFileError
from phlexible.results.files.fields import FIELDS
from phlexible.results.files.journal import Arrays, Journal, records
from phlexible.results.files.stored import HEADER, Stored, check_kind, packed, unpacked
from phlexible.system.recording import Recording, concatenated
from phlexible.time_integration.checkpoint import Checkpoint


class UnfinishedFile:
    """Writes the blocks of a run.

    Args:
        path: replaced once the new file holds its first block.
        description: of what moves, as JSON.
        block: the first instants, from t = 0 on.
        checkpoint: at their end.

    Raises:
        ResultFileError: the disk refuses.
    """

    def __init__(self, path: Path, description: dict[str, Any], block: Recording, checkpoint: Checkpoint) -> None:
        text, arrays = _record(block, checkpoint, False)
        head = {**HEADER, "work_names": block.work_names, "description": description}
        self._journal = Journal(path, {**head, **text}, arrays)

    def append(self, block: Recording, checkpoint: Checkpoint, is_complete: bool = False) -> None:
        """More instants, the first of which takes the place of the last one so far.

        Raises:
            ResultFileError: the disk refuses; the file is as it was before.
        """
        self._journal.append(*_record(block, checkpoint, is_complete))


def _record(block: Recording, checkpoint: Checkpoint, is_complete: bool) -> tuple[dict[str, Any], Arrays]:
    text, numbers = packed(checkpoint)
    arrays = {name: getattr(block, name) for name in FIELDS}
    return {"checkpoint": text, "complete": is_complete}, {**arrays, "checkpoint": numbers}


def read_unfinished(path: Path) -> Stored:
    """Everything up to the last whole block.

    Raises:
        ResultFileError: a damaged file, or one of another version.
        Exception: of another kind, for a damaged file.
    """
    description: dict[str, Any] = {}
    work_names: tuple[str, ...] = ()
    blocks: list[Recording] = []
    for text, arrays in records(path):
        if not blocks:
            check_kind(path, *(text[name] for name in HEADER))
            description, work_names = text["description"], tuple(text["work_names"])
        else:
            blocks[-1] = blocks[-1].rows(slice(0, -1))
        numbers = arrays.pop("checkpoint")
        blocks.append(Recording(**arrays, work_names=work_names))
        checkpoint, is_complete = unpacked(text["checkpoint"], numbers), bool(text["complete"])
    if not blocks:
        raise ResultFileError(f"{path} holds no instant")
    return Stored(description, concatenated(blocks), checkpoint, is_complete)
