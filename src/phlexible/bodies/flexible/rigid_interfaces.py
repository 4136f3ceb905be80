"""Interfaces that move as one: their nodes follow a few unknowns of their own (docs/theory.md, 3)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.interfaces import Interface, InterfaceKind
from phlexible.bodies.flexible.structure import ElasticStructure
from phlexible.bodies.flexible.unknowns import Unknowns


@dataclass(frozen=True, eq=False)
class TiedStructure:
    """A structure with its interfaces.

    Attributes:
        structure: with unknowns q.
        columns: the unknowns of the finite element model are ``columns @ q``.
        rows: displacement and rotation of each interface by name, of q.
        positions: of the interfaces by name, each shape (3,) [m].
        untied: the structure with all unknowns.
    """

    structure: ElasticStructure
    columns: sparse.csr_array
    rows: dict[str, Array]
    positions: dict[str, Array]
    untied: ElasticStructure

    def loads(self, accelerations: Array) -> Array:
        """Inertial loads of accelerations (N, k) of all unknowns, on q."""
        return np.asarray(self.columns.T @ (self.untied.mass @ accelerations))


def tied_structure(full: ElasticStructure, unknowns: Unknowns, interfaces: tuple[Interface, ...]) -> TiedStructure:
    """Nodes of rigid interfaces follow displacement and rotation of their position."""
    r, size = full.rigid.shape[1], len(full.rigid)
    rigid_ones = [each for each in interfaces if each.kind is not InterfaceKind.AVERAGE]
    bound = [_bound(each, unknowns) for each in rigid_ones]
    free = np.setdiff1d(np.arange(size), np.concatenate([*bound, np.zeros(0, dtype=np.int64)]))
    count = len(free) + r * len(rigid_ones)
    blocks = [sparse.coo_array((np.ones(len(free)), (free, np.arange(len(free)))), shape=(size, count))]
    rigid, rows, places = [full.rigid[free]], {}, [full.places[free]]
    for number, (each, members) in enumerate(zip(rigid_ones, bound, strict=True)):
        motion = unknowns.selected(members).rigid_fields(each.position)
        own = len(free) + r * number + np.arange(r)
        pairs = (np.repeat(members, r), np.tile(own, len(members)))
        blocks.append(sparse.coo_array((motion.ravel(), pairs), shape=(size, count)))
        rigid.append(_rigid_motion_at(each.position, unknowns))
        rows[each.name] = np.eye(r, count, own[0])
        places.append(np.tile(each.position, (r, 1)))
    columns = sparse.csr_array(sum(block.tocsr() for block in blocks))
    for each in interfaces:
        if each.kind is InterfaceKind.AVERAGE:
            rows[each.name] = np.asarray(columns.T @ each.rows.T).T
    ordered = {each.name: rows[each.name] for each in interfaces}
    positions = {each.name: each.position for each in interfaces}
    return TiedStructure(
        full.reduced(columns, np.vstack(rigid), np.vstack(places)), columns, ordered, positions, full
    )


def turning_work(
    interfaces: tuple[Interface, ...], unknowns: Unknowns, forces: Array, turned: Array, with_averaged: bool
) -> Array:
    """Work of nodal forces on what linear ties leave out of turns, theta x (theta x xi) / 2 (3.16), (n, n, n).

    Without it the nodes of an interface that turns in its frame move apart, and what holds them together works on
    that.

    Args:
        forces: K phi_k on all unknowns, shape (N, n).
        turned: rotation of the interfaces, shape (k, 3, n).
        with_averaged: whether averaged interfaces turn as if they moved as one.
    """
    n = forces.shape[1]
    result = np.zeros((n, n, n))
    for each, turns in zip(interfaces, turned, strict=True):
        if each.kind is InterfaceKind.AVERAGE and not with_averaged:
            continue
        members = unknowns.of_nodes(each.nodes)
        members = members[unknowns.component[members] < 3]
        arms = unknowns.places[members] - each.position
        spread = np.zeros((3, 3, n))  # sum of force times arm
        np.add.at(spread, unknowns.component[members], forces[members, None] * arms[:, :, None])
        for k in range(n):
            even = (spread[..., k] + spread[..., k].T) / 2
            result[k] += turns.T @ (even - np.trace(even) * np.eye(3)) @ turns
    return result


def turning_displacements(interfaces: tuple[Interface, ...], unknowns: Unknowns, turned: Array) -> Array:
    """What linear ties leave out of turns, (theta_i x (theta_j x xi) + theta_j x (theta_i x xi)) / 2, (N, pairs).

    Of averaged interfaces too, as if they moved as one.

    Args:
        turned: rotation of the interfaces, shape (k, 3, n); pairs are i <= j.
    """
    first, second = np.triu_indices(turned.shape[2])
    result = np.zeros((len(unknowns.places), len(first)))
    for each, turns in zip(interfaces, turned, strict=True):
        members = unknowns.of_nodes(each.nodes)
        members = members[unknowns.component[members] < 3]
        arms, component = unknowns.places[members] - each.position, unknowns.component[members]
        one, other = turns[:, first], turns[:, second]
        along = arms @ one, arms @ other
        result[members] = (one[component] * along[1] + other[component] * along[0]) / 2
        result[members] -= (one * other).sum(axis=0) * arms[np.arange(len(members)), component][:, None]
    return result


def _bound(interface: Interface, unknowns: Unknowns) -> IntArray:
    """Unknowns that follow a rigid interface; a hinged one lets rotations free."""
    members = unknowns.of_nodes(interface.nodes)
    return members if interface.kind is InterfaceKind.RIGID else members[unknowns.component[members] < 3]


def _rigid_motion_at(position: Array, unknowns: Unknowns) -> Array:
    """Displacement and rotation at a point for unit rigid motions about the origin, shape (r, r)."""
    components = np.array([*unknowns.translation_axes, *(3 + axis for axis in unknowns.spin_axes)])
    places = np.tile(position, (len(components), 1))
    return Unknowns(unknowns.dimension, np.zeros_like(components), components, places).rigid_fields()
