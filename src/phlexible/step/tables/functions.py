"""Programs of the compiled step and the functions that they export: the core that every model has, and families of
forces.

The tables hold the addresses of these functions, by which other programs call them. Programs that a model does not
use are never compiled, and their addresses are zero (``step/kernels/programs.py``). This is the only list of the
families: the loops of ``step/kernels/step.py`` go over its roles.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ForceFamily:
    """A program of the compiled step, and the functions that it exports.

    Attributes:
        name: of the program.
        title: what it is for, in messages.
        count: a count of the tables that is not zero in models that need it; empty: a rule of ``step/programs.py``.
        begin: role of the function for the start of a step, of the tables.
        forces: role of the function for forces over a step at given end velocities, of (tables, h, damping) or the
            first of these, as in all that follow.
        balance: role of the function that adds forces to the residual.
        tangent: role of the function that adds the derivative of the forces to Newton's matrix.
        equations: further functions that the residual calls, separated by blanks.
        others: functions that the residual does not call, which are not compiled for dual numbers.
        lanes: "refused" if models with it cannot step in lanes; "unused" if programs of several mechanisms, and of
            one structure, do not call it.
    """

    name: str
    title: str
    count: str = ""
    begin: str = ""
    forces: str = ""
    balance: str = ""
    tangent: str = ""
    equations: str = ""
    others: str = ""
    lanes: str = ""

    @property
    def of_equations(self) -> tuple[str, ...]:
        """Names of the functions that the residual of a step calls."""
        return (*filter(None, (self.begin, self.forces, self.balance)), *self.equations.split())

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of all functions of the family, each before its callers within it, so that these calls are
        direct."""
        return *self.of_equations, *filter(None, (self.tangent,)), *self.others.split()


def families_of(text: str) -> tuple[ForceFamily, ...]:
    """Parse families that a text declares, one a line: name, title, count, then fields; lines with a bar
    continue."""
    found = []
    for line in text.strip().replace("\n    |", " |").splitlines():
        name, title, count, *fields = (part.strip() for part in line.split("|"))
        found.append(ForceFamily(name, title, count, **dict(field.split(": ") for field in fields)))
    return tuple(found)


FAMILIES = families_of(
    """
    step | bodies and joints | | equations: begin_bodies begin_ports motion_and_forces residuals
    | others: start_from_end inertia_matrix jacobian constraints_close eliminate substitute factor_frame \
solve_carrier end_step ledger_closes energies
    long_bodies | long bodies | segments | equations: centre_moments
    | others: factor_segments solve_segments add_border
    laws | force elements | forces | begin: begin_laws | equations: pull_of_laws related_rate gather_gap
    | others: law_tangent forces_of_laws stored_energy
    contacts | stops and rolling | | equations: begin_gap gap_weights push
    soft | soft bodies | soft_elements | balance: add_soft_forces | tangent: soft_tangent | equations: end_soft
    | others: soft_energy
    pressure | pressure | faces | balance: add_pressures | tangent: pressure_tangent | others: pressure_work
    rods | rods | rod_points | begin: begin_rods | forces: rod_laws | tangent: rod_tangent
    | equations: add_rod_pulls | others: round_off_of_rods
    contact_groups | contacts | members | forces: push_contact_groups | tangent: pair_tangent
    | others: contact_group_energy end_contact_groups members_push load_pairs harden_pair hardness_of_pair \
forget_held_pairs frequency_of_pairs correct_for_pairs
    | lanes: refused
    contact_steps | steps around contacts | | others: contacts_push parts_around_contacts | lanes: refused
    loads | loads | loads | forces: pull_of_loads | tangent: load_tangent | others: load_work
    gradients | large soft bodies | | others: solve_by_gradients | lanes: refused
    teams | equal bodies in lanes | teams | others: form_teams start_teams move_teams tangents_of_teams \
eliminate_teams substitute_teams energies_of_teams
    | lanes: unused
    """
)

FUNCTIONS = tuple(name for family in FAMILIES for name in family.functions)
"""Names of all functions, in the order of their places in a header."""
