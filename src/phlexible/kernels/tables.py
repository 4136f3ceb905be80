"""Where the kernels find their numbers: constants that index ``ints``.

All integers of a run lie in one array ``ints``, all reals in one array ``reals``. ``ints[NAME]`` is a
count for the names of ``COUNTS`` and the start of a table in ``ints`` or in ``reals`` for the others:
entry k of the masses is ``reals[ints[MASS] + k]``, component i of vector k is
``reals[ints[X1] + 3 * k + i]``. Two plain arrays pass through compiled calls for nothing; a tuple of
150 arrays made a step thirty times slower and the compilation four times longer.
"""

COUNTS = (
    DIMENSION,
    BODIES,
    VECTORS,
    JOINTS,  # joints, then drives, then scalar forces of elements: "links"
    ROWS,  # of all links
    FORCES,  # scalar forces of elements, the last of the links
    LOADS,
    WEIGHTS,
    NODES,
    VELOCITIES,
    UNKNOWNS,
    BLOCK_LENGTH,
    FLOATING,  # bodies with a frame; the nodes of absolute bodies are the bodies after them
    PAIRS,  # of nodes with common mass
    QUADRATICS,  # strains C = u . v
) = tuple(range(15))

INT_TABLES = (
    TYPE_OF,  # (bodies,)
    VELOCITY_START,  # (bodies + 1,)
    ELASTIC_START,  # (bodies + 1,)
    ELASTIC_COUNT,  # (types,) n; m = n + 1
    AXIS_COUNT,  # (types,) rotation axes: 0, 1 (z) or 3
    FIRST_MOMENT,  # (types,) start of S (3, m)
    DEFORMATION_MASS,  # (types,) start of sum_a W[a, a] (m, m)
    GYROSCOPIC,  # (types,) start of Z_k (axes, m, m), skew
    ROTATIONAL,  # (types,) start of Y_kl (pairs k <= l, m, m): Jrot_kl = xi.Y_kl.xi
    STIFFNESS,  # (types,) start of K (n, n)
    DAMPING,  # (types,) start of C (n, n), or -1
    STRAIN_START,  # (types + 1,)
    STRAIN_ROW,  # (strains,) start of the linear row (n,)
    STRAIN_FIRST,  # (strains,) support of the gradient: first ..
    STRAIN_LAST,  # (strains,) .. last + 1
    SQUARE_START,  # (strains + 1,)
    SQUARE_ROW,  # (squares,) start of the slope function (n,)
    SQUARE_FIRST,
    SQUARE_LAST,
    STRAIN_WORK_START,  # (bodies + 1,)
    SQUARE_WORK_START,  # (bodies + 1,)
    VECTOR_BODY,  # (vectors,) or CONSTANT or MOVING
    VECTOR_IS_POINT,  # (vectors,) 1: r + R rho, 0: R rho
    VECTOR_SHAPES,  # (vectors,) start of the shapes (3, n)
    VECTOR_FIRST,  # (vectors,) support of the shapes
    VECTOR_LAST,
    VECTOR_MOVING,  # (vectors,) number among the moving vectors
    VECTOR_WORK_START,  # (vectors,) offset in VECTOR_JACOBIAN and VECTOR_LEVER
    JOINT_ROW_START,  # (joints + 1,)
    JOINT_NODE_ROW,  # (joints + 1,) first row of the joint's node in the right-hand side
    JOINT_PARTNER_START,  # (joints + 1,)
    JOINT_LAW,  # (joints,) CONSTRAINT, POSITION, DISTANCE or ANGLE
    ROW_TIME,  # (rows,) number among the moving vectors' components that is subtracted, or -1
    TERM_TIME,  # (terms,) number among them that multiplies the term, or -1
    FORCE_ENERGY,  # (forces,) address of a potential's energy, or 0
    FORCE_SLOPE,  # (forces,) address of its slope, or 0
    FORCE_VALUE,  # (forces,) load value that is the prescribed force, or -1
    ROW_TERM_START,  # (rows + 1,)
    ROW_ORIGIN,  # (rows,) vector at t_n from which the row measures its points, or -1: the origin
    TERM_FIRST,  # (terms,) vector
    TERM_SECOND,
    TERM_FIRST_UPPER,  # (terms,) start of block (body of first, joint), or -1
    TERM_FIRST_LOWER,  # (terms,) start of block (joint, body of first)
    TERM_SECOND_UPPER,
    TERM_SECOND_LOWER,
    TERM_FIRST_COLUMN,  # (terms,) column of the vector's mean in the joint's node, or -1
    TERM_SECOND_COLUMN,
    PARTNER,  # (partners,) vector
    PARTNER_LOWER,  # (partners,) start of block (joint, body of partner)
    LOAD_KIND,  # (loads,) FORCE .. FOLLOWER_TORQUE
    LOAD_POINT,  # (loads,) vector of the point (forces)
    LOAD_TRIAD,  # (loads,) first of three direction vectors (followers, torques), or -1
    WEIGHT_POINT,  # (weights,) vector of the center of mass
    NODE_ORDER,  # (nodes,)
    NODE_SIZE,  # (nodes,)
    NODE_ROW,  # (nodes + 1,) first row in the right-hand side
    NODE_DIAGONAL,  # (nodes,) start of the block
    NODE_NEIGHBOUR_START,  # (nodes + 1,)
    NODE_NEIGHBOUR,  # nodes that are eliminated later
    NODE_UPPER,  # start of block (node, neighbour)
    NODE_LOWER,  # start of block (neighbour, node)
    NODE_TARGET_START,  # (nodes + 1,)
    NODE_TARGET,  # start of block (neighbour i, neighbour j)
    PIVOTS,  # (unknowns,)
    PAIR_ROW,  # (pairs,) first velocity of the node that feels the mass
    PAIR_COLUMN,  # (pairs,) of the node that accelerates
    PAIR_BLOCK,  # (pairs,) start of block (node, node)
    QUADRATIC_START,  # (quadratics + 1,) offsets into QUADRATIC_NODE
    QUADRATIC_NODE,  # bodies that are the nodes of each strain
    QUADRATIC_FORM,  # (quadratics,) start of rows b and c, each (k,) with its sum
    QUADRATIC_BLOCK_START,  # (quadratics,) offsets into QUADRATIC_BLOCK
    QUADRATIC_BLOCK,  # start of block (node i, node j), row by row
    QUADRATIC_LAW,  # (quadratics,)
    LAW_KIND,  # (laws,) as in ``laws.py``
    LAW_ENERGY,  # (laws,) address of W, where the user wrote it
    LAW_DERIVATIVE,  # (laws,) address of dW
    STATE_COUNTER,  # (2,) Newton iterations, relaxed steps
) = tuple(range(15, 15 + 77))

REAL_TABLES = (
    MASS,  # (types,)
    VISCOSITY,  # (types,) tau [s]
    STRAIN_WEIGHT,  # (strains,) D_s
    SQUARE_FACTOR,  # (squares,)
    VELOCITY_WEIGHT,  # (velocities,) makes velocities comparable [m/s]
    VECTOR_BASE,  # (vectors, 3)
    TERM_COEFFICIENT,  # (terms,)
    ROW_CONSTANT,  # (rows,)
    TERM_END,  # (terms,) coefficient at the end of the step
    TERM_MEAN,  # (terms,) mean coefficient of the step
    ROW_END,  # (rows,) constant at the end of the step
    ROW_VALUE0,  # (rows,) y of elements at the start of the step
    ROW_VALUE1,  # at its end
    ROW_SLOPE,  # (rows, 2) derivative of the row's residual to y_{n+1} of its link's rows
    FORCE_STIFFNESS,  # (forces,)
    FORCE_DAMPING,
    FORCE_REST,
    FORCE_THETA1,  # (forces,) coordinate at the end of the step
    ROW_LENGTH,  # (rows,) what a gap is compared with: a length, 1 for cosines
    ROW_RELAXATION,  # (rows,) of the last factorization
    WEIGHT,  # (weights, 3) m g
    PAIR_MASS,  # (pairs,)
    POINT_WEIGHT,  # (nodes of absolute bodies, 3)
    QUADRATIC_WEIGHT,  # (quadratics,)
    LAW_MODULUS,  # (laws,) EA
    LAW_VISCOSITY,  # (laws,) tau [s]
    LOAD_VALUE,  # (loads, 3) of the step
    MOVING0,  # (moving vectors, 3) at the start of the step
    MOVING1,  # at its end
    V0,  # (bodies, 3); 0 is the start, 1 the end of the step
    W0,
    V1,
    W1,
    HALF_TURN,  # (bodies, 3) a = h mean(w) / 2
    ROTATION1,  # (bodies, 3, 3)
    MEAN_ROTATION,  # (bodies, 3, 3) A
    POSITION1,  # (bodies, 3)
    XI0,  # (sum m,) (1, eta)
    XI1,
    RATE0,  # (sum m,) (0, deta/dt)
    RATE1,
    LINEAR0,  # (bodies, 3) pi_t
    LINEAR1,
    ANGULAR0,  # (bodies, 3) pi_r
    ANGULAR1,
    ELASTIC0,  # (sum m,) pi_eta (the first entry is not used)
    ELASTIC1,
    MOMENT1,  # (bodies, 3) S xi
    Z_RATE0,  # (3 sum m,) Z_k dxi
    Z_RATE1,
    Z_XI,  # (3 sum m,) Z_k^T xi at the last state
    Y_XI0,  # (6 sum m,) Y_kl xi
    Y_XI1,
    STRAIN0,  # (sum strains,)
    STRAIN1,
    STRAIN_CHANGE,  # delta(eps)
    SLOPE0,  # (sum squares,) slope function times eta
    SLOPE1,
    ELASTIC_FORCE,  # (sum m,)
    ELASTIC_MEAN,
    STRAIN_GRADIENT,  # (sum m,) of one strain, at the mean
    STRAIN_GRADIENT1,  # at the end
    RHO0,  # (vectors, 3) in the body frame
    RHO1,
    X0,  # (vectors, 3) in the world
    X1,
    X_MEAN,
    VECTOR_FORCE,  # (vectors, 3) total force on the vector
    VECTOR_JACOBIAN,  # (3, velocities) for each vector on a body: dx_{n+1} / dnu_{n+1}
    POINT_MOVE,  # (nodes of absolute bodies, 3) delta(q)
    QUADRATIC0,  # (quadratics,) C_n
    QUADRATIC_CHANGE,  # delta(C)
    QUADRATIC_FORCE,  # delta(W) / delta(C)
    QUADRATIC_VECTORS,  # (quadratics, 2, 3) u_n and v_n
    QUADRATIC_SCRATCH,  # (4, 3)
    VECTOR_LEVER,  # (velocities, 3): how a force enters the balances
    BLOCKS,  # (block length,)
    RESIDUAL,  # (unknowns,)
    UPDATE,
    TRIAL_UPDATE,
    VELOCITY,  # (velocities,) nu_{n+1}
    MULTIPLIER,  # (rows,)
    PREVIOUS_VELOCITY,  # nu_n
    SAVED_VELOCITY,
    SAVED_MULTIPLIER,
    SCRATCH,  # (9 widest body,)
    HISTORY,  # scaled Newton updates of the last step
    MEAN_MULTIPLIER,  # (rows,) of the substeps of a composed step
    SAVED_STATE,  # the tables from STATE_POSITION on at the start of a composed step
    STATE_POSITION,  # (bodies, 3)
    STATE_ROTATION,  # (bodies, 3, 3); of nodes the identity
    STATE_ELASTIC,  # (sum n,)
    STATE_VELOCITY,  # (velocities,)
    STATE_MULTIPLIER,  # (rows,)
    STATE_WORK,  # (loads + joints,) work done by loads, then by moving frames and values on links
    STATE_THETA,  # (forces,) coordinates, angles over full turns
    STATE_DISSIPATED,  # (1,)
) = tuple(range(15 + 77, 15 + 77 + 97))

HEADER = 15 + 77 + 97

CONSTANT = -1
MOVING = -2
FORCE = 0
FOLLOWER_FORCE = 1
TORQUE = 2
FOLLOWER_TORQUE = 3
CONSTRAINT = 0
POSITION = 1
DISTANCE = 2
ANGLE = 3
