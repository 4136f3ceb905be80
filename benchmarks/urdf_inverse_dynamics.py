"""Inverse dynamics of a rigid UR5 by pinocchio, for the test of ``from_urdf``.

Needs pinocchio (``pip install pin``, in an environment of its own; phlexible is not needed). ``--write`` writes the
numbers that tests/tools/test_urdf.py compares with.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pinocchio

HERE = Path(__file__).parent.parent / "tests" / "exchange"


def main() -> None:
    model = pinocchio.buildModelFromUrdf(str(HERE / "ur5.urdf"))
    data, random = model.createData(), np.random.default_rng(5)
    cases = []
    for _ in range(5):
        q, v, a = random.uniform(-2, 2, 6), random.uniform(-2, 2, 6), random.uniform(-5, 5, 6)
        torque = pinocchio.rnea(model, data, q, v, a)
        cases.append({"q": q.tolist(), "v": v.tolist(), "a": a.tolist(), "torque": torque.tolist()})
    found = {"source": f"pinocchio {pinocchio.__version__}, rnea", "joints": list(model.names)[1:], "cases": cases}
    text = json.dumps(found, indent=1)
    if "--write" in sys.argv:
        (HERE / "ur5_inverse_dynamics.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
