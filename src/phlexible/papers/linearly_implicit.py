"""The linearly implicit scheme of Brugnoli, Matignon, Morlier, Nonlinear Dynamics (2025).

For models ``E dx/dt = (J(q) - R(q)) z + B(q) u`` with constant E, coordinates q whose rates are efforts, and
efforts that are linear in all other states y, such as velocities and stresses (docs/theory.md, 5)::

    q_+ = q_n + h/2 dq/dt(y_n)
    E (x_{n+1} - x_n) = h (J - R)(q_+) z(mean(y)) + h B(q_+) u(t_m)

One linear system a step. J is skew, so that the power balance is exact; order 2, symmetric in time.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import ModelError
from phlexible.papers.collocation import GAUSS_LEGENDRE_1, NewtonFactors, StageLoop, Step
from phlexible.papers.equations import Equations

SMALL = 1e-3
APART = 0.1  # of the greatest state of a block: how far from x0 the model is tried
EXACT = 1e-9
REMEDY = (
    'method="linearly_implicit" needs constant E, efforts that are linear in velocities and stresses, and J that is'
    " affine in the coordinates: strings of the law of St. Venant and Kirchhoff, soft bodies by"
    " port_hamiltonian(stresses=True), phlexible.papers.QuadraticStrainModel. For others take"
    ' method="discrete_gradient"'
)


class LinearlyImplicitLoop(StageLoop):
    """Solver of steps of the linearly implicit midpoint rule, for models with strains that are quadratic in their
    coordinates. The coordinates are half a step ahead.

    What is left is linear: Newton's method takes one iteration, and another one that finds round-off.

    Args:
        equations: of the model.
        initial: a state, shape (n,).

    Raises:
        ModelError: a model that is no such one; says what of it is not.
    """

    expected = 1e-16

    def __init__(self, equations: Equations, initial: Array) -> None:
        super().__init__(equations, GAUSS_LEGENDRE_1, initial, is_projected=False)
        self._coordinates = equations.model.coordinates
        self._half = np.zeros(len(self._coordinates))
        self._strains = _strain_rows(equations, initial)
        _check_model(equations, initial, self._coordinates, self._strains)

    def advance(self, time: float, step: float, x: Array) -> Step:
        """Solve one time step of the linearly implicit midpoint rule, of length ``step`` [s] from the state x
        (n,) at ``time`` [s]: coordinates advance explicitly by half a time step, then one linear system gives
        velocities and stresses."""
        self._half = x[self._coordinates] + step / 2 * self._free_flow(x)[self._coordinates]
        self._factors = None  # J has changed
        return super().advance(time, step, x)

    def conserved_start(self, step: float, x: Array) -> Array:
        """Return the initial state x, shape (n,), with strains or stresses changed to those that the linearly
        implicit time steps conserve: those of the polarised strain e(q - h/2 dq/dt, q + h/2 dq/dt) instead of
        e(q), for time steps of length ``step`` h [s].

        Then C s = e(q_-, q_+) holds at all times, and stresses do not drift away from the coordinates.
        """
        ahead, change = x.copy(), np.zeros_like(x)
        ahead[self._coordinates] += step / 2 * self._free_flow(x)[self._coordinates]
        change[self._strains] = (self._free_flow(ahead, x) - self._free_flow(x))[self._strains]
        return np.asarray(x - step / 4 * self.equations.state_rates(change))

    def _free_flow(self, x: Array, efforts_of: Array | None = None) -> Array:
        """Return the right-hand side (J - R)(x) z of a port-Hamiltonian model without inputs at the state x; shape
        (n,), with the efforts z of x, or of the state ``efforts_of`` if it is given."""
        model = self.equations.model
        z = model.efforts((x if efforts_of is None else efforts_of)[None])
        return np.asarray(model.flows(x[None], z, np.zeros((1, model.port_size)))[0])

    def _stage_states(self, x: Array, step: float, k: Array) -> Array:
        """Return the state in the middle of a time step of length ``step`` from the state x for stage rates
        k; shape (1, n), in which the coordinates are those that were advanced explicitly by half a time step."""
        states = super()._stage_states(x, step, k)
        states[:, self._coordinates] = self._half
        return states

    def _new_factors(self, times: Array, step: float, states: Array, k: Array, is_careful: bool) -> NewtonFactors:
        """Return the factored matrix of the linear system of one linearly implicit time step. The coordinates
        in it are fixed at their values half a time step ahead. ``states`` and k are states and rates; slopes
        of inputs are sought along all states if ``is_careful``. ``times`` are those of the stages."""
        slope, descriptor = self.equations.tangent(float(times[0]), states[0], k[0], is_careful)
        moves = np.ones(len(states[0]))
        moves[self._coordinates] = 0.0  # the step does not move them
        slope = slope @ sparse.diags_array(moves) if sparse.issparse(slope) else slope * moves
        return NewtonFactors(step, self.tableau.matrix, slope, descriptor, self.equations.is_algebraic)


def _strain_rows(equations: Equations, x: Array) -> IntArray:
    """Return the indices of the strains or stresses among the states of a port-Hamiltonian model
    (``equations``). They are all states but coordinates, algebraic states (multipliers), and states with an
    entry in a row of coordinates in the structure matrix J(x), i.e. velocities."""
    coordinates = equations.model.coordinates
    structure = sparse.csr_array(equations.model.structure_matrix(x))[coordinates]
    is_strain = ~equations.is_algebraic
    is_strain[coordinates], is_strain[structure.nonzero()[1]] = False, False
    return np.flatnonzero(is_strain)


def _check_model(equations: Equations, x: Array, q: IntArray, strains: IntArray) -> None:
    """Raise ``ModelError`` unless a port-Hamiltonian model (``equations``) has what linearly implicit time
    steps need: constant E, linear efforts, and ``strains`` quadratic in the coordinates q. It is tested at
    random states that differ from x by up to a tenth of the greatest state of each block.

    Raises:
        ModelError: says what does not fit.
    """
    model, generator = equations.model, np.random.default_rng(0)
    begins = equations.block_begins
    sizes = np.maximum(np.maximum.reduceat(np.abs(x), begins), SMALL)
    sizes = np.repeat(sizes, np.diff([*begins, len(x)]))
    first, second, rate, z = generator.uniform(-APART, APART, (4, len(x))) * sizes
    turned, u = np.zeros(len(x)), generator.normal(size=model.port_size)
    turned[q] = first[q]

    def efforts(change: Array) -> Array:
        return np.asarray(model.efforts((x + change)[None])[0])

    def momenta(change: Array) -> Array:
        return np.asarray(model.descriptor_products((x + change)[None], rate[None])[0])

    def flows(change: Array) -> Array:
        return np.asarray(model.flows((x + change)[None], z[None], u[None])[0])

    none = np.zeros(len(x))
    identity = np.asarray(model.descriptor_products(x[None], rate[None])[0][q]) - rate[q]
    bent = flows(2 * turned)[strains] - 2 * flows(turned)[strains] + flows(none)[strains]
    trials = {
        "the rates of its coordinates are no efforts": (identity, rate[q]),
        "E depends on the state": (momenta(first) - momenta(none), momenta(none)),
        "its efforts depend on the coordinates": (efforts(turned) - efforts(none), efforts(none)),
        "its efforts are not linear": (
            efforts(first + second) - efforts(first) - efforts(second) + efforts(none),
            efforts(first),
        ),
        "J, R or B depend on states that are no coordinates": (flows(first) - flows(turned), flows(turned)),
        "its strains are not quadratic in the coordinates": (bent, flows(turned)[strains]),
    }
    for words, (gap, size) in trials.items():
        if not np.abs(gap).max(initial=0.0) <= EXACT * np.abs(size).max(initial=0.0):
            raise ModelError(f"{words}: {REMEDY}")
