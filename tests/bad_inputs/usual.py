"""What arguments accept: those of one name accept the same wherever they are, but for some that calls list."""

from bad_inputs.wrong_values import FUNCTIONS

# Labels of the wrong values that something accepts.
REFUSED: frozenset[str] = frozenset()
POSITIVE = frozenset({"1", "0.5"})
NON_NEGATIVE = POSITIVE | {"0"}
FINITE = NON_NEGATIVE | {"-1"}
NOT_ZERO = FINITE - {"0"}
ZERO = frozenset({"0"})
COUNT = frozenset({"1"})
FLAG = frozenset({"True", "False"})
FALSE = frozenset({"False"})
PAIR = frozenset({"(1, 2)"})
VECTOR = frozenset({"(1, 2, 3)"})
MATRIX = frozenset({"3 x 3"})
EMPTY = frozenset({"()"})
MAPPING = frozenset({"{}"})
NONE = frozenset({"None"})
FILE = frozenset({"'x'", "'1'"})
NAME = FILE | NONE
TIMES = EMPTY | PAIR | VECTOR
FREQUENCIES = NON_NEGATIVE | TIMES
NUMBER_FUNCTION = frozenset({"f -> 1.0"})
VECTOR_FUNCTION = frozenset({"f -> (0, 0, 0)"})
CALLED_LATER = frozenset({"a class", "f raises", *(label for label in FUNCTIONS if label.startswith("f ->"))})
DESCRIPTION = frozenset({"description"})
END = frozenset({"attachment"})
ON_A_BODY = END | {"foreign attachment"}
POINT = END | {"ground", "foreign ground"}
ORIENTED = POINT | {"body"}
PORT = frozenset({"ground", "frame", "foreign attachment", "foreign ground", "foreign frame"})
OTHERS_JOINT = frozenset({"foreign joint"})
JOINT = OTHERS_JOINT | {"joint"}  # one that reads the same is taken from a model that was built again

USUAL = {
    name: labels
    for labels, names in (
        (REFUSED, "a actions at axes axial b between body boom build cost coupling dW dimension element end fmi"),
        (REFUSED, "form frame initial interface kind law linear material mesh method model on order p parameters"),
        (REFUSED, "part path paths plane ports rack recordings saved second_axis section sections sensor slide"),
        (REFUSED, "slope start strain stress stress_free string surface targets terms theory third triangles"),
        (REFUSED, "variant vertices x0"),
        (POSITIVE, "accuracy area axial_stiffness coulomb density diameter duration height injection length mass"),
        (POSITIVE, "line_density noise radius radius_a radius_b restitution_rate restitution_speed scale step"),
        (POSITIVE, "width second_moment_y shear_factor shear_modulus thickness transverse_modulus tube_radius"),
        (POSITIVE, "youngs_modulus"),
        (POSITIVE | NONE, "friction_speed interval lead longest_part memory output_step period second_moment_z"),
        (POSITIVE | NONE, "seconds shear_area_y shear_area_z shear_coefficient stiffness tolerance"),
        (POSITIVE | NONE, "torsion_constant transverse_shear_modulus"),
        (NON_NEGATIVE, "damping damping_ratio delay friction kd kp numerical_damping to viscosity viscous when x"),
        (NON_NEGATIVE | NONE, "restitution stop_stiffness"),
        (NON_NEGATIVE | VECTOR, "inertia rotational_damping rotational_stiffness"),
        (FINITE, "above"),
        (FINITE | NONE, "lower rest upper"),
        (FINITE | NUMBER_FUNCTION, "value"),
        (NOT_ZERO, "ratio"),
        (NOT_ZERO | NONE, "other_radius"),
        (ZERO, "coefficient drilling modal rolling time"),
        (ZERO | NONE, "bristle"),
        (ZERO | COUNT, "modes seed"),
        (ZERO | COUNT | NONE, "coordinate"),
        (frozenset({"0", "0.5"}), "poissons_ratio"),
        (COUNT, "count elements every exponent frames_per_second iterations parts shots times"),
        (COUNT | NONE, "static steps"),
        (COUNT | NONE | {"10**400"}, "executor"),
        (FLAG, "at_rest follows free inertial_shapes inside is_crossed labels large live moments normalized"),
        (FLAG, "overwrite rotary_inertia specialize tension_only visuals"),
        (FLAG | NONE, "progress"),
        (FALSE, "keep_rigid static_correction"),
        (NONE, "about along below breaks bristle_damping color frames geometric_stiffness nodes of other_material"),
        (NONE, "outputs potential rate relaxation release render_mode second_radius shape state static_friction"),
        (NONE, "directors stiction_speed stop where"),
        (NONE | MAPPING, "bias bodies bounds curves final flexible inputs interfaces positions priors scales"),
        (NONE | MAPPING, "weights"),
        (MAPPING, "dampings"),
        (EMPTY, "accelerations fixed gain masses measured observe points sensors separate"),
        (PAIR, "around branches mass_center offset shear_center stations"),
        (PAIR | VECTOR, "values"),
        (VECTOR, "axis direction gravity normal position size"),
        (VECTOR | NONE, "angular_velocity center velocity"),
        (MATRIX, "basis"),
        (MATRIX | NONE, "rotation"),
        (NONE | {"2 x 2"}, "fibres"),
        (TIMES, "breakpoints"),
        (FREQUENCIES, "frequencies"),
        (NAME, "name output title"),
        (FILE, "parameter prefix"),
        (NUMBER_FUNCTION, "W angle energy"),
        (CALLED_LATER, "controller measure quantity reward"),
        (CALLED_LATER | NONE, "function is_over weight"),
        (CALLED_LATER | NONE | {"f(a, b, c)"}, "jvp vjp"),
        (DESCRIPTION, "bob"),
        (PORT, "first"),
        (PORT | END, "port"),
        (ON_A_BODY, "attachment second wheel"),
        (ORIENTED, "target"),
        (POINT | NONE, "trace"),
        (JOINT, "joint joint_a pinion"),
        (OTHERS_JOINT, "joint_b"),
        (frozenset({"joint"}), "lock"),
        (frozenset({"model", "foreign model"}), "mechanism"),
    )
    for name in names.split()
}


def usual(names: str = "", /, **others: frozenset[str]) -> dict[str, frozenset[str]]:
    """What arguments accept: the usual of these names, and labels of others."""
    return {name: USUAL[name] for name in names.split()} | others
