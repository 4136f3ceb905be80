"""Mass and stiffness in Ansys's ``.full`` files, by the package ansys-mapdl-reader."""

from pathlib import Path

import numpy as np
from scipy import sparse

from phlexible.bodies.flexible.files.labelled_matrix import LabelledMatrix
from phlexible.errors import MissingExtraError, ParameterError

COMPONENTS = 6  # displacements and rotations; later numbers are temperatures, voltages and the like


def read_full(file: Path) -> dict[str, LabelledMatrix]:
    """Mass and stiffness of the unknowns that no support holds, by the program's nodes and components.

    Raises:
        MissingExtraError: the package that reads it is not installed.
        ParameterError: unknowns that are no displacements or rotations.
    """
    try:
        from ansys.mapdl import reader
    except ImportError as error:
        raise MissingExtraError(
            f"{file} is read by ansys-mapdl-reader; install it with: pip install phlexible[ansys]"
        ) from error
    full = reader.read_binary(str(file))
    labels, stiffness, mass = full.load_km(sort=True)
    held = {(int(node), int(component)) for node, component in np.asarray(full.const).reshape(-1, 2)}
    free = [k for k, (node, component) in enumerate(labels) if (int(node), int(component)) not in held]
    nodes, components = np.asarray(labels, dtype=np.int64)[free].T
    if (components >= COMPONENTS).any():
        raise ParameterError(f"path: {file} has unknowns that are no displacements or rotations")
    return {
        name: LabelledMatrix(_both_halves(matrix, free), nodes, components + 1)
        for name, matrix in (("mass", mass), ("stiffness", stiffness))
    }


def _both_halves(upper: sparse.csc_matrix, chosen: list[int]) -> sparse.csr_array:
    """The symmetric matrix of which the upper half is given, of some unknowns."""
    half = sparse.triu(sparse.csr_array(upper)[chosen][:, chosen], format="csr")
    return sparse.csr_array(half + half.T - sparse.diags_array(half.diagonal()))
