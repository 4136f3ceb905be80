"""Without multipliers: the standard port-Hamiltonian form in coordinates of the null space ([B] 5.3)."""

from phlexible.linear_analysis.constraint_elimination.algebraic_states import without_algebraic_states
from phlexible.linear_analysis.constraint_elimination.null_space import null_space
from phlexible.linear_analysis.observed import ObservedPHDAE, mechanical_model
from phlexible.linear_analysis.saddle_point import natural_scale


def without_constraints(model: ObservedPHDAE) -> ObservedPHDAE:
    """The model in free coordinates, with a regular E: states (q, v), Q = diag(K, I).

    The free coordinates are some of the model's own, whose names they keep; the others follow from them.

    A model without second-order form goes by ``without_algebraic_states``.

    Raises:
        ModelError: algebraic states that are no multipliers of constraints.
    """
    mechanics = model.mechanics
    if mechanics is None:
        return without_algebraic_states(model)
    found = null_space(mechanics.constraint_matrix, natural_scale(mechanics.mass))
    own = model.states if model.linearization is None else model.linearization.coordinates
    names = tuple(own[k] for k in found.free)
    small = mechanics.projected(found.basis)
    return mechanical_model(small, names, model.ports, model.outputs, model.output_units)
