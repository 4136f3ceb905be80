"""What the viewer reads from a report, read here in the same way."""

import base64
import json
import re
import zlib
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

KINDS = {"u1": "u1", "i2": "<i2", "u4": "<u4", "f4": "<f4"}


class Decoded:
    """The head and the arrays of a page, or of a file that holds one."""

    def __init__(self, page: Path | str) -> None:
        self.page = page if isinstance(page, str) else page.read_text(encoding="utf-8")
        self.head = json.loads(self.element("head"))
        self.block = zlib.decompress(base64.b64decode(self.element("block")))

    def element(self, name: str) -> str:
        return re.search(rf'<script id="{name}"[^>]*>(.*?)</script>', self.page, re.S)[1]

    def array(self, number: int | None) -> np.ndarray | None:
        if number is None:
            return None
        entry = self.head["arrays"][number]
        count = int(np.prod(entry["shape"]))
        values = np.frombuffer(self.block, KINDS[entry["kind"]], count, entry["start"]).reshape(entry["shape"])
        if entry["kind"] != "i2":
            return values
        columns = len(entry["scale"])
        flat = values.reshape(-1, columns) * np.array(entry["scale"]) + np.array(entry["shift"])
        return flat.reshape(entry["shape"])

    def node(self, body: int, node: int) -> np.ndarray:
        """World positions of a node of a skin at all frames, shape (frames, 3)."""
        entry = self.head["bodies"][body]
        if entry["skin"] is None:
            return self.array(entry["places"])[:, node]
        skin = self.head["skins"][entry["skin"]]
        n = skin["n"]
        rows = self.array(skin["table"]).reshape(skin["nodes"], 2 * n + 1, 3)[node]
        eta = self.array(entry["eta"]) if n else np.zeros((1, 0))
        local = rows[-1] + eta @ rows[0 : 2 * n : 2]
        turn = Rotation.from_quat(self.array(entry["turns"])).as_matrix()
        return self.array(entry["origins"]) + np.einsum("tij,tj->ti", turn, np.broadcast_to(local, (len(turn), 3)))
