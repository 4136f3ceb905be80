"""Functions of compiled programs that other programs call, by name: the tables hold their addresses.

What a model has no use for is never compiled, and its addresses are zero (``step/kernels/programs.py``).
"""

STEP = (
    "begin_bodies",
    "begin_ports",
    "start_from_end",
    "motion_and_forces",
    "residuals",
    "jacobian",
    "inertia_matrix",
    "constraints_close",
    "eliminate",
    "substitute",
    "factor_frame",
    "solve_frame",
    "end_step",
    "ledger_closes",
    "energies",
)
SEGMENTS = ("factor_segments", "solve_segments", "centre_moments", "add_border")
LAWS = (
    "begin_laws",
    "pull_of_laws",
    "law_tangent",
    "related_rate",
    "forces_of_laws",
    "gather_gap",
    "stored_energy",
)
CONTACTS = (
    "begin_gap",
    "gap_weights",
    "push",
    "slide",
    "begins_sliding",
    "pull_of_sliding",
    "sliding_gradient",
    "sliding_work",
)
CONTACT_GROUPS = (
    "push_contact_groups",
    "contact_group_energy",
    "end_contact_groups",
    "members_push",
    "harden_pair",
    "hardness_of_pair",
    "forget_held_pairs",
    "frequency_of_pairs",
    "pair_tangent",
    "correct_for_pairs",
)
CONTACT_STEPS = ("contacts_push", "parts_around_contacts")
LOADS = ("pull_of_loads", "load_work", "load_tangent")
RODS = ("begin_rods", "rod_laws", "add_rod_pulls", "rod_tangent", "round_off_of_rods")
SOFT = ("add_soft_forces", "soft_tangent", "soft_energy", "end_soft")
GRADIENTS = ("solve_by_gradients",)
PRESSURE = ("add_pressures", "pressure_work", "pressure_tangent")

FUNCTIONS: tuple[str, ...] = (
    *STEP,
    *SEGMENTS,
    *LAWS,
    *CONTACTS,
    *CONTACT_GROUPS,
    *CONTACT_STEPS,
    *LOADS,
    *RODS,
    *SOFT,
    *GRADIENTS,
    *PRESSURE,
)
"""All of them, in the order of their places."""
