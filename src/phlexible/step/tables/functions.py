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
        energy: role of the function that adds the energy stored at the state to ``energy``, of the tables.
        stress_start: role of the function that sets the stresses that Newton's method carries along to those at the
            start of the step, of the tables.
        stress_keep: role of the function that stores the stresses at which an update starts, of the tables.
        stress_update: role of the function that carries stresses along with a fraction of an update, of (tables,
            h, damping, share).
        stress_residual: role of the function that adds to the residual what carried stresses leave of it, likewise.
        equations: further functions that the residual calls, separated by blanks.
        extra: functions that the residual does not call, which are not compiled for dual numbers.
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
    energy: str = ""
    stress_start: str = ""
    stress_keep: str = ""
    stress_update: str = ""
    stress_residual: str = ""
    equations: str = ""
    extra: str = ""
    lanes: str = ""

    @property
    def of_equations(self) -> tuple[str, ...]:
        """Return the names of the functions of this force family (program of the compiled time step) that the
        residual of a time step calls. They compute starting values, forces and balances, and whatever the family
        lists besides."""
        return (*filter(None, (self.begin, self.forces, self.balance)), *self.equations.split())

    @property
    def functions(self) -> tuple[str, ...]:
        """Return the names of all functions that this force family (program of the compiled time step)
        exports. Each comes before those of the family that call it, so that these calls are direct."""
        stresses = self.stress_start, self.stress_keep, self.stress_update, self.stress_residual
        return *self.of_equations, *filter(None, (self.tangent, self.energy, *stresses)), *self.extra.split()


def parse_families(text: str) -> tuple[ForceFamily, ...]:
    """Return the force families (groups of forces with their own compiled program) that a ``text`` declares, one a
    line. A line has name, title, name of its count, then fields as "key: value", separated by bars. Lines that
    begin with a bar continue the line before."""
    found = []
    for line in text.strip().replace("\n    |", " |").splitlines():
        name, title, count, *fields = (part.strip() for part in line.split("|"))
        found.append(ForceFamily(name, title, count, **dict(field.split(": ") for field in fields)))
    return tuple(found)


FAMILIES = parse_families(
    """
    step | bodies and joints | | equations: begin_bodies begin_ports move_carriers motion_and_forces residuals
    | extra: inertia_matrix jacobian constraints_close eliminate substitute factor_frame \
solve_carrier accept_step energies_balance compute_energies
    long_bodies | long bodies | segments | equations: centre_moments
    | extra: factor_segments solve_segments set_border
    laws | force elements | forces | begin: begin_laws
    | equations: apply_law_forces relation_rate gather_coordinate_gradient
    | extra: add_law_tangents forces_of_laws stored_energy
    capstans | tendons that rub | pieces | equations: capstan_force | extra: capstan_energy | lanes: refused
    contacts | stops and rolling | | equations: start_distance coordinate_weights one_sided_force
    sliding | sliding joints | slides | equations: start_slide acting_of_slide slide_weights
    | extra: slides_stay_near | lanes: refused
    soft | soft bodies | soft_elements | balance: add_soft_forces | tangent: add_soft_tangents
    | energy: add_soft_energy | equations: advance_soft_branches
    products | shells | product_elements | balance: add_product_forces | tangent: add_product_tangents
    | energy: add_product_energy | stress_start: start_carried_stresses | stress_keep: keep_stresses
    | stress_update: carry_stresses | stress_residual: add_carried_residual
    pressure | pressure | faces | balance: add_pressures | tangent: add_pressure_tangents | extra: pressure_work
    rods | rods | rod_points | begin: begin_rods | forces: rod_laws | tangent: add_rod_tangents
    | equations: add_rod_forces | extra: rod_round_off
    contact_groups | contacts | members | forces: apply_contact_forces | tangent: add_pair_tangents | lanes: refused
    | extra: contact_group_energy find_active_pairs set_pair_loads add_pair_stiffness \
pair_stiffness_over_mass clear_matrix_pairs coupled_squared_frequency correct_for_pairs
    contact_steps | steps around contacts | | extra: find_active_contacts substeps_around_contacts | lanes: refused
    loads | loads | loads | forces: apply_loads | tangent: add_load_tangents | extra: load_work
    gradients | large soft bodies | | extra: solve_by_gradients | lanes: refused
    teams | equal bodies in lanes | teams | extra: form_teams start_teams move_teams tangents_of_teams \
eliminate_teams substitute_teams energies_of_teams
    | lanes: unused
    """
)

FUNCTIONS = tuple(name for family in FAMILIES for name in family.functions)
"""Names of all functions, in the order of their places in a header."""
