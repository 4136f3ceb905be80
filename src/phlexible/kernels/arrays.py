"""The tables of an assembled model, before they are packed (``tables.py``). Starts index ``pool``."""

from typing import NamedTuple

from phlexible.algebra.arrays import Array, IntArray


class BodyArrays(NamedTuple):
    """Floating bodies (formulation, section 2); bodies of one type share their data.

    Sizes: n elastic coordinates of a type, m = n + 1, axes a in {0, 1, 3}.
    """

    dimension: int
    type_of: IntArray  # (bodies,)
    velocity_start: IntArray  # (bodies + 1,)
    elastic_start: IntArray  # (bodies + 1,)
    elastic_count: IntArray  # (types,) n
    axis_count: IntArray  # (types,) a
    mass: Array  # (types,)
    viscosity: Array  # (types,) tau [s]
    first_moment: IntArray  # (types,) start of S (3, m)
    deformation_mass: IntArray  # start of sum_a W[a, a] (m, m)
    gyroscopic: IntArray  # start of Z_k (a, m, m), skew
    rotational: IntArray  # start of Y_kl (pairs k <= l, m, m): Jrot_kl = xi.Y_kl.xi
    stiffness: IntArray  # start of K (n, n)
    damping: IntArray  # start of C (n, n), or -1
    strain_start: IntArray  # (types + 1,)
    strain_weight: Array  # (strains,) D_s
    strain_row: IntArray  # start of the linear row (n,)
    strain_first: IntArray  # support of the gradient: first ..
    strain_last: IntArray  # .. last + 1
    square_start: IntArray  # (strains + 1,)
    square_factor: Array  # (squares,)
    square_row: IntArray  # start of the slope function (n,)
    square_first: IntArray
    square_last: IntArray
    velocity_weight: Array  # (flat velocities,) makes velocities comparable [m/s]
    pool: Array


class AbsoluteArrays(NamedTuple):
    """Absolute bodies (formulation, section 5); their nodes are bodies after the floating ones."""

    pair_row: IntArray  # (pairs,) first velocity of the node that feels the mass
    pair_column: IntArray  # of the node that accelerates
    pair_block: IntArray  # start of block (node, node)
    pair_mass: Array
    point_weight: Array  # (nodes, 3) m g
    start: IntArray  # (strains + 1,) offsets into node
    node: IntArray  # bodies that are the nodes of each strain
    form: IntArray  # (strains,) start of rows b and c, each (k,) with its sum
    block_start: IntArray  # (strains,) offsets into block
    block: IntArray  # start of block (node i, node j), row by row
    law: IntArray  # (strains,)
    weight: Array  # (strains,)
    law_kind: IntArray  # (laws,)
    law_energy: IntArray  # addresses of user functions, or 0
    law_derivative: IntArray
    law_modulus: Array  # EA
    law_viscosity: Array  # tau [s]
    pool: Array


class VectorArrays(NamedTuple):
    """World vectors: points r + R (base + shapes eta), directions R (base + shapes eta), given ones."""

    body: IntArray  # (vectors,) or CONSTANT or MOVING
    is_point: IntArray  # (vectors,) 1 or 0
    base: Array  # (vectors, 3)
    shapes: IntArray  # start of the shapes (3, n) in pool
    first: IntArray  # support of the shapes
    last: IntArray
    moving: IntArray  # column in the table of moving vectors, where body is MOVING
    work_start: IntArray  # (vectors,) start of X (3, velocities) and Q (velocities, 3)
    pool: Array


class CouplingArrays(NamedTuple):
    """Functions g = sum coefficient x_first . x_second - constant of joints, drives and elements.

    A vector that meets a vector of another body in its joint is a partner: its mean is an extra
    unknown of the joint's node, so that Newton's matrix stays block-diagonal over bodies. Starts
    of blocks and columns are -1 where a vector is given or is no partner.
    """

    row_start: IntArray  # (joints + 1,)
    term_start: IntArray  # (rows + 1,)
    coefficient: Array  # (terms,)
    first: IntArray  # (terms,) vector
    second: IntArray
    first_upper: IntArray  # (terms,) start of block (body of first, joint)
    first_lower: IntArray  # start of block (joint, body of first)
    second_upper: IntArray
    second_lower: IntArray
    first_column: IntArray  # (terms,) column of the first vector's mean in the joint's node
    second_column: IntArray
    constant: Array  # (rows,)
    row_time: IntArray  # (rows,) component of the moving vectors that is subtracted, or -1
    term_time: IntArray  # (terms,) component that multiplies the term, or -1
    law: IntArray  # (links,) CONSTRAINT, POSITION, DISTANCE or ANGLE
    length: Array  # (rows,) what a gap is compared with: a length, 1 for cosines
    origin: IntArray  # (rows,) vector from which the row measures its points, or -1
    partner_start: IntArray  # (joints + 1,)
    partner: IntArray  # (partners,) vector
    partner_lower: IntArray  # start of block (joint, body of partner)


class ForceArrays(NamedTuple):
    """Scalar forces of elements, the last of the links (``forces.py``)."""

    stiffness: Array  # (forces,)
    damping: Array
    rest: Array
    energy: IntArray  # address of a potential's energy, or 0
    slope: IntArray  # address of its slope, or 0
    value: IntArray  # number among the load values of the prescribed force, or -1


class LoadArrays(NamedTuple):
    """Forces and moments of the user, then the weights of the bodies."""

    kind: IntArray  # (loads,) FORCE .. FOLLOWER_TORQUE
    point: IntArray  # vector of the point (forces)
    triad: IntArray  # first of three direction vectors (followers, torques), or -1
    weight_point: IntArray  # (weights,) vector of the center of mass
    weight: Array  # (weights, 3) m g


class EliminationArrays(NamedTuple):
    """Block elimination: nodes are bodies, then joints (multipliers and partner vectors)."""

    order: IntArray  # (nodes,)
    size: IntArray  # (nodes,)
    row_start: IntArray  # (nodes + 1,) in the flat right-hand side
    diagonal: IntArray  # (nodes,) start of the block in ``blocks``
    neighbour_start: IntArray  # (nodes + 1,)
    neighbour: IntArray  # nodes that are eliminated later
    upper: IntArray  # start of block (node, neighbour)
    lower: IntArray  # start of block (neighbour, node)
    target_start: IntArray  # (nodes + 1,)
    target: IntArray  # start of block (neighbour i, neighbour j), row by row
