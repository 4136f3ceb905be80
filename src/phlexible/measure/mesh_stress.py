"""Stress of meshed bodies over time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.skin import von_mises
from phlexible.description.ports import PlacedBody
from phlexible.errors import ModelError, ParameterError
from phlexible.state.recorded_run import RecordedRun


@dataclass(frozen=True, eq=False)
class MeshStress:
    """Stress at k nodes of a mesh at all instants; at each node the mean over the adjacent elements.

    Attributes:
        time: instants, shape (T,) [s].
        positions: positions of the nodes in the undeformed body, shape (k, 3) [m].
        components: stress components xx, yy, zz, yz, xz, xy in body axes, shape (T, k, 6) [Pa].
    """

    time: Array
    positions: Array
    components: Array

    @property
    def von_mises(self) -> Array:
        """Von Mises equivalent stress at the nodes of a mesh at all instants, shape (instants, nodes) [Pa]."""
        return von_mises(self.components)


def mesh_stress(
    run: RecordedRun, target: PlacedBody, nodes: Sequence[int] | None = None, every: int = 1
) -> MeshStress:
    """Return the stress components at nodes of a meshed body (``target``) over time, at every ``every``-th
    recorded instant of a run. Without ``nodes`` they are those of the surface, of a shell ``surface_positions``.
    The result has times (T,), positions (k, 3) [m] and components xx, yy, zz, yz, xz, xy (T, k, 6) [Pa]."""
    field = target.body.stress_field() if isinstance(target, PlacedBody) else None
    if field is None:
        raise ModelError(f"body must be a FlexibleBody.from_mesh or a Shell in the model, got {target!r}")
    instants = slice(None, None, every)
    chosen = field.surface if nodes is None else _checked(nodes, len(field.positions))
    found = field.components(run.elastic(run.body_index(target))[instants], chosen)
    return MeshStress(run.recording.time[instants], field.positions[chosen], found)


def _checked(nodes: Sequence[int], count: int) -> IntArray:
    try:
        numbers = np.asarray(nodes)
    except ValueError:  # lists of several lengths
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise ParameterError(f"nodes must be numbers of nodes of body.points.nodes, got {nodes!r}")
    if len(np.unique(numbers)) < len(numbers):
        raise ParameterError(f"nodes must differ from each other, got {nodes!r}")
    if numbers.min() < 0 or numbers.max() >= count:
        raise ParameterError(f"nodes must be 0 to {count - 1}, got {numbers.min()} to {numbers.max()}")
    return numbers.astype(np.int64)
