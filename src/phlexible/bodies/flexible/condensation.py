"""What a finite element model keeps as a floating body: shapes and their interfaces (docs/theory.md, 3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.frames import frame_rows
from phlexible.bodies.flexible.interfaces import Interface
from phlexible.bodies.flexible.points import InterfaceMotion
from phlexible.bodies.flexible.retained_shapes import (
    STIFF,
    RetainedShapes,
    every_shape,
    homogeneous_frequency,
    retained_shapes,
)
from phlexible.bodies.flexible.rigid_interfaces import TiedStructure, tied_structure, turning_work
from phlexible.bodies.flexible.stiffening import MeshStrain
from phlexible.bodies.flexible.structure import ElasticStructure, HeldStructure
from phlexible.bodies.flexible.unknowns import Unknowns
from phlexible.errors import ParameterError


@dataclass(frozen=True)
class Choice:
    """What of a finite element model is kept, and how.

    Attributes:
        modes: number of modes; None: all shapes of the model.
        frame, strain, damping_ratio, moments, inertial_shapes, modal_derivatives: as of
            ``FlexibleBody.from_mesh``.
    """

    modes: int | None
    frame: str | Sequence[str]
    strain: MeshStrain
    damping_ratio: float
    moments: bool
    inertial_shapes: bool
    modal_derivatives: bool = False


@dataclass(frozen=True, eq=False)
class Condensed:
    """Retained shapes of a finite element model.

    Attributes:
        shapes: of its unknowns, shape (N, n).
        kept: how they came about.
        moved: displacement of each interface, shape (k, 3, n).
        turned: rotation of each interface, shape (k, 3, n).
        effective_mass: part of the mass and of the inertia about the origin that each shape carries, (n, 3 or 6).
        tied_work: work of the stress of shape k on the second-order displacement of interfaces that move as one
            where they turn with shapes i and j, shape (n, n, n) (3.16).
    """

    shapes: Array
    kept: RetainedShapes
    moved: Array
    turned: Array
    effective_mass: Array
    tied_work: Array
    _held: HeldStructure
    _loads: Array
    _columns: sparse.csr_array

    @property
    def solver(self) -> str:
        """What factored the stiffness matrix."""
        return self._held.solver

    def relaxed(self, loads: Array) -> Array:
        """Displacements (N, k) of the model under loads (N, k) that leave no resultant."""
        return np.asarray(self._columns @ self._held.answers(np.asarray(self._columns.T @ loads)))

    def mixture(self) -> Array:
        """The shapes as combinations of the answers to all unit loads and inertial loads, (loads, n).

        What the answers do not span, of modes, has no part in it.
        """
        answers = self._held.answers(self._loads)
        forces = self._held.structure.stiffness @ answers
        energies = np.sqrt(np.maximum(np.einsum("Nl,Nl->l", answers, forces), 1e-300))
        scaled = (answers.T @ forces) / np.outer(energies, energies)
        values = (forces.T @ self.kept.shapes) / energies[:, None]
        solved: Array = np.linalg.pinv(scaled, rcond=1e-10, hermitian=True) @ values / energies[:, None]
        return solved


SecondOrder = Callable[[TiedStructure, HeldStructure, Array], Array]


def interface_motion(interfaces: tuple[Interface, ...], moved: Array, turned: Array) -> InterfaceMotion:
    """How the interfaces move and turn with the retained shapes, by rows (k, 3, n)."""
    places = np.array([each.position for each in interfaces]).reshape(-1, 3)
    areas = np.array([each.area for each in interfaces]).reshape(-1, 3)
    return InterfaceMotion(tuple(each.name for each in interfaces), places, moved, turned, areas)


def condensed(
    mass: sparse.csr_array,
    stiffness: sparse.csr_array,
    unknowns: Unknowns,
    interfaces: tuple[Interface, ...],
    choice: Choice,
    second_order: SecondOrder | None = None,
) -> Condensed:
    """What a choice keeps of a model.

    Args:
        second_order: loads whose answers are the modal derivatives of shapes of unit energy, all on the unknowns of
            a tied structure; None: there are none.

    Raises:
        ParameterError: no interfaces to take derivatives of, a frame that does not hold the body, more modes than
            it has, or a mechanism.
    """
    full = ElasticStructure(mass, stiffness, unknowns.rigid_fields(), unknowns.places)
    tied = tied_structure(full, unknowns, interfaces)
    held = HeldStructure(tied.structure, frame_rows(choice.frame, tied.structure, tied.rows, tied.positions))
    loads, inertial = _loads(tied, unknowns, choice)
    if choice.modes is None:
        kept = every_shape(held)
    else:
        fastest = np.inf
        if choice.inertial_shapes:
            middle = unknowns.places.mean(axis=0)
            fastest = STIFF * homogeneous_frequency(full, unknowns.homogeneous_fields(middle))
        second = None
        if second_order is not None and choice.modal_derivatives:
            if not interfaces:
                raise ParameterError("modal_derivatives are those of the answers to loads: they need interfaces")
            answers = retained_shapes(held, loads, loads[:, :0], np.inf, 0)
            second = second_order(tied, held, answers.shapes / answers.frequencies)
        kept = retained_shapes(held, loads, inertial, fastest, choice.modes, second)
    d, n = unknowns.dimension, kept.shapes.shape[1]
    moved, turned = np.zeros((len(interfaces), 3, n)), np.zeros((len(interfaces), 3, n))
    for number, each in enumerate(interfaces):
        motion = tied.rows[each.name] @ kept.shapes
        moved[number, :d] = motion[:d]
        turned[number, unknowns.spin_axes] = motion[d:]
    momenta = tied.structure.mass @ tied.structure.rigid
    carried = (kept.shapes.T @ momenta) ** 2 / np.einsum("Nr,Nr->r", tied.structure.rigid, momenta)
    shapes = np.asarray(tied.columns @ kept.shapes)
    forces = np.asarray(stiffness @ shapes)
    tied_work = turning_work(interfaces, unknowns, forces, turned, choice.modal_derivatives)
    return Condensed(
        shapes, kept, moved, turned, carried, tied_work, held, np.hstack([loads, inertial]), tied.columns
    )


def _loads(tied: TiedStructure, unknowns: Unknowns, choice: Choice) -> tuple[Array, Array]:
    """Unit loads on the interfaces, and inertial loads of an accelerated and spinning frame."""
    d, size = unknowns.dimension, len(tied.structure.rigid)
    rows = [each if choice.moments else each[:d] for each in tied.rows.values()]
    loads = np.vstack([np.zeros((0, size)), *rows]).T
    if not choice.inertial_shapes:
        return loads, loads[:, :0]
    middle = unknowns.places.mean(axis=0)
    return loads, tied.loads(np.hstack([unknowns.rigid_fields(middle), unknowns.centrifugal_fields(middle)]))
