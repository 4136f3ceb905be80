"""Without multipliers: the standard port-Hamiltonian form in coordinates of the null space ([B] 5.3)."""

from phlexible.errors import ModelError
from phlexible.linear_analysis.null_space import null_space_basis
from phlexible.linear_analysis.observed import ObservedPHDAE, mechanical_model
from phlexible.linear_analysis.saddle_point import natural_scale


def without_constraints(model: ObservedPHDAE) -> ObservedPHDAE:
    """The model in free coordinates, with a regular E: states (q, v), Q = diag(K, I).

    Raises:
        ModelError: a model that has no second-order form.
    """
    mechanics = model.mechanics
    if mechanics is None:
        raise ModelError("this model has no mechanical form whose joints could be eliminated")
    basis = null_space_basis(mechanics.constraint_matrix, natural_scale(mechanics.mass))
    small = mechanics.projected(basis)
    names = tuple(f"q{k}" for k in range(small.size))
    return mechanical_model(small, names, model.inputs, model.outputs)
