"""The table of wrong values covers all that users call."""

import inspect

import phlexible as ph
from bad_inputs.bodies import BODIES
from bad_inputs.control import CONTROL
from bad_inputs.derived import DERIVED
from bad_inputs.meshed import MESHED
from bad_inputs.parts import PARTS
from bad_inputs.runs import RUNS
from bad_inputs.stepped import STEPPED

# Made by this package, or made of what it made.
NOT_CALLED_BY_USERS = {
    *("FlexibleBody", "LinearModel", "LinearPHDAE", "Motion", "PortHamiltonianModel", "Study", "Trajectory"),
    *("Batch", "BatchRuns", "LiveBatch", "Fit", "Library", "InverseDynamics", "OptimalInputs"),
    *("Cost", "ModeDerivatives", "ResponseDerivatives", "Sensitivity"),
}
OWNERS = {
    "Mechanism": ph.Model,
    "Model": ph.Model,
    "Motion": ph.Motion,
    "LinearModel": ph.LinearModel,
    "joint": ph.Revolute,
    "Beam": ph.Beam,
    "String": ph.String,
}
# Methods that this package calls: how joints, bodies and models in port-Hamiltonian form are written.
WITHIN = {
    *("constraints", "coordinate", "coordinates", "initial_coordinate", "named_coordinate"),
    *("described_coordinates", "discretize", "resolved", "initial_nodes", "stress_space", "of"),
    *("element_forces", "radii_of_gyration", "sections_at", "group_rod", "with_rotation"),
    *("descriptor_matrix", "structure_matrix", "dissipation_matrix", "port_matrix"),
    *("effort", "forces", "output", "storage", "skin"),
    *("expect", "set_events", "warn_of_gravity", "perpendicular_directions"),
    *("efforts", "descriptor_products", "flows", "output_products", "discrete_effort", "defect_slope"),
    *("without_multipliers", "default_inputs", "storages", "defects", "descriptor_solutions"),
}
PICTURES = {"plot", "plot_reaction", "TriangleMesh"}  # how things look; a wrong value is seen at once
# In signatures: what stands for other names, and what ``output_coordinates`` takes like the methods above.
NO_ARGUMENTS = {
    *("self", "cls", "args", "kwargs", "named", "options"),
    *("x of output_coordinates", "ranges of samples", "dimension of memory", "parameters of load_library"),
}


def arguments(function):
    return [name for name in inspect.signature(function).parameters if name not in NO_ARGUMENTS]


def covered():
    """Arguments in the table by the last word of what is called: "Beam", "add", "drive"."""
    found: dict[str, set[str]] = {}
    for call in (*BODIES, *PARTS, *RUNS, *MESHED, *CONTROL, *DERIVED, *STEPPED):
        taken = call.accepted(call.make_stage()) if call.is_whole else call.takes
        found.setdefault(call.name.split(" ")[0].split(".")[-1], set()).update(taken)
    return found


def public_callables():
    """Everything in the package by name, and the methods of what it hands out."""
    for name in ph.__all__:
        each = getattr(ph, name)
        is_error = inspect.isclass(each) and issubclass(each, Exception)
        if callable(each) and not is_error and name not in NOT_CALLED_BY_USERS | PICTURES:
            yield name, each
    for owner in OWNERS.values():
        for name, method in inspect.getmembers(owner, callable):
            if not name.startswith("_") and name not in WITHIN | PICTURES:
                yield name, method


def test_every_argument_is_in_the_table():
    table = covered()
    missing = [
        f"{name}({argument})"
        for name, function in public_callables()
        for argument in arguments(function)
        if not (argument == "axes" and name.startswith("plot_"))
        and argument not in table.get(name, set())
        and f"{argument} of {name}" not in NO_ARGUMENTS
    ]
    assert sorted(set(missing)) == []
