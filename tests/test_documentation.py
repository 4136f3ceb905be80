"""The programs of the documentation pages run from top to bottom and say what the pages say."""

from pathlib import Path
from shutil import copy

import numpy as np
import pytest

import phlexible as ph

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md") if "```python" in path.read_text(encoding="utf-8"))


def run(page: str) -> dict[str, object]:
    """The variables after all programs of a page, which follow on one another."""
    parts = (DOCS / page).read_text(encoding="utf-8").split("```python\n")[1:]
    source = "\n".join(part.split("```")[0] for part in parts)
    variables: dict[str, object] = {}
    exec(compile(source, page, "exec"), variables)
    return variables


@pytest.fixture
def in_an_empty_folder(tmp_path, monkeypatch, unpainted) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_programs_of_all_pages_are_run_below() -> None:
    tests = Path(__file__).read_text(encoding="utf-8")
    assert "linear_analysis.md" in PAGES and [page for page in PAGES if f'run("{page}")' not in tests] == []


def test_identification(in_an_empty_folder) -> None:
    fit = run("identification.md")["fit"]
    low, high = fit.intervals(0.95)["youngs_modulus"]
    assert low < 7e10 < high < 1.01 * low and not fit.warnings
    assert {path.name for path in in_an_empty_folder.iterdir()} == {"fit.png", "fit.html"}


def test_the_first_page(in_an_empty_folder, capsys) -> None:
    found = run("index.md")
    bend = found["bend"]
    assert abs(bend(found["motion"])).max() == pytest.approx(0.01555, abs=5e-5)
    assert "bends by 1.55 % of its length" in capsys.readouterr().out
    assert abs(bend(found["slower"])).max() < abs(bend(found["motion"])).max() / 4
    assert {path.name for path in in_an_empty_folder.iterdir()} == {"my_crank.html", "thicker.png"}


@pytest.mark.parametrize("page", sorted(path.name for path in (DOCS / "how_to").glob("*.md")))
def test_how_to(page, in_an_empty_folder, capsys) -> None:
    """What the text says of the numbers is asked here; pages without programs only have to be there."""
    for deck in (DOCS / "how_to").glob("*.inp"):
        copy(deck, in_an_empty_folder)
    found = run(f"how_to/{page}")
    said = capsys.readouterr().out
    match page:
        case "choosing_a_step.md":
            coarse, middle, fine = found["bends"].values()
            assert 0 < coarse - middle < 0.01 * fine and 0 < middle - fine < coarse - middle
        case "choosing_a_frame.md":
            assert said == "simply_supported\n"
        case "gravity_compensation.md":
            held = [found["rest"].required(found[name]) for name in ("shoulder", "elbow")]
            weight, first, second = 9.81 * found["link"].mass, np.cos(np.pi / 6), np.cos(np.radians(75.0))
            arms = 1.2 * first + 0.4 * second, 0.4 * second
            assert held == pytest.approx(-weight * np.array(arms), rel=1e-12)
            kinetic = found["motion"].energy.kinetic
            assert kinetic[-1] > 0.3 and kinetic[250:] == pytest.approx(kinetic[-1], rel=1e-2)
        case "hoist_a_load.md":
            assert found["motion"].energy.work["hoist"][-1] == pytest.approx(96 * 9.81 * 2, rel=1e-12)
            assert found["caught"].element_force(found["rope"]).max() == 0.0
            bob = found["caught"].position(found["bob"].origin)[-1, 2]
            assert bob == pytest.approx(-2 - 50 * 9.81 / 2e5, abs=1e-6)
            lifted = found["lifted"].position(found["cargo"].origin)[-1, 2]
            assert lifted == pytest.approx(-2.7 / 2.35 - 50 * 9.81 / 2e5, abs=1e-3)
            assert np.abs(found["swing"][400:, 0]).max() == pytest.approx(1.802, abs=1e-3)  # a pendulum by SciPy
        case "lead_a_rope_over_pulleys.md":
            assert found["raised"] == pytest.approx(100 / 0.2 / (500 + 5 / 0.2**2) / 2, rel=3e-3)
        case "make_friction_stick.md":
            position = found["position"]
            assert np.abs(position[500:] - position[-1]).max() < 1e-9 and np.abs(found["moved"]).max() < 1e-9
            assert found["rest"].slipped == ()
        case "roll_a_wheel.md":
            assert found["speed"][150:] == pytest.approx(2 / 3, rel=1e-3)
            down = np.linalg.norm(found["down"])
            assert down == pytest.approx(5 / 14 * 9.81 * 0.1 / np.sqrt(1.01), rel=3e-4)
        case "import_from_abaqus.md":
            assert found["arm"].mass == pytest.approx(7870 * 0.3 * 0.02 * 0.01)
            assert np.ptp(found["motion"].energy.total) < 1e-12
        case "why_did_my_run_warn.md":
            energy = found["energy"]
            assert abs(energy.balance_error).max() < 1e-11 < abs(found["change"])
            assert found["change"] == pytest.approx(energy.supplied[-1], abs=1e-11)
            assert found["caught"][0].category is ph.StepWarning and "- the steps are too long" in said
        case "coming_from_exudyn.md" | "coming_from_simscape.md":
            assert found["motion"].check().is_clean


def test_the_papers_matrices(in_an_empty_folder, capsys) -> None:
    found = run("papers_matrices.md")
    rubber = found["run"]
    assert np.abs(rubber.balance_error).max() < 1e-12 * rubber.energy.max()
    geared = found["moved"]
    assert np.abs(geared.balance_error).max() < 1e-12 * geared.dissipated[-1]
    assert abs(geared.state("coordinates")[-1, 0] - found["turned"]) < 1e-6
    assert ph.check_structure(found["form"], found["x"]).power < 1e-14
    assert ph.check_structure(found["joined"], found["state"]).power < 1e-14
    text = capsys.readouterr().out
    assert "input_unit of a.end force is N, but input_unit of b.start moment is N m" in text
    assert "['N', 'N', 'N m', 'N', 'N']" in text
    assert abs(found["composed"].structure - found["linear"].structure).max() < 1e-12


def test_linear_analysis(in_an_empty_folder, capsys) -> None:
    found = run("linear_analysis.md")
    assert found["sweep"].frequencies[0] == pytest.approx([269.619, 305.718, 383.354], abs=1e-3)
    assert found["modes"].rigid_modes == 1  # the cart may roll
    assert found["response"].magnitude.shape == (400, 2, 2)
    assert [port.input_unit for port in found["linear"].ports] == ["N", "N m"]
    assert "undamped pole" in capsys.readouterr().out
    names = {path.name for path in in_an_empty_folder.iterdir()}
    assert names == {"four_bar.png", "bode.png", "arm.mat", "campbell.png"}
    unit = 0.01 * np.sqrt(2.1e11 / 7850.0 / 12) / 0.8**2  # the last speed is six of it; A. D. Wright et al. 1982
    assert found["campbell"].frequencies[[0, -1], 0] / unit == pytest.approx([3.5160, 7.3604], rel=1e-3)
    euler = np.pi**2 * 2e11 * np.pi * 0.01**4 / 64 / 4
    assert found["buckling_load"] == pytest.approx(euler, rel=1e-3)
    elastica = [[0.741, 0.593], [0.349, 0.792], [0.123, 0.803]]  # Timoshenko and Gere, table 2-3
    assert np.array(found["tips"][2:]) == pytest.approx(np.array(elastica), abs=1e-3)


def test_seeing(in_an_empty_folder) -> None:
    pytest.importorskip("matplotlib")
    found = run("seeing.md")
    names = {path.name for path in in_an_empty_folder.iterdir()}
    assert names == {"model.png", "run.png", "both.png", "run.html", "run.mp4"}
    assert found["arm"].body.mass == pytest.approx(0.6 * 0.05**2 * 2700)
    page = (in_an_empty_folder / "run.html").read_text(encoding="utf-8")
    assert "<h1>pendulum</h1>" in page and "position of ball.origin [m]" in page


def test_inverse_problems(in_an_empty_folder) -> None:
    found = run("inverse_problems.md")
    assert found["missed"] == pytest.approx(0.056, abs=1e-3)
    assert found["tracking_error"] == pytest.approx(4e-4, rel=0.05)
    assert found["error"] < 2e-5
    assert found["torque"].lead == pytest.approx(0.6)
    assert found["held"].largest_deviation < 1e-11 and found["held"]["shoulder"](0.5) == pytest.approx(20.5, 2e-3)
    assert found["off_line"] < 1.5e-4
    assert found["found"].largest_deviation < 3e-7 and found["tip_off"] < 5e-5
    assert found["lifted"].largest_deviation < 5e-5
    assert -found["lifted"]["winch"].values.min() == pytest.approx(630, abs=2)


def test_the_paper_on_floating_bodies(in_an_empty_folder, capsys) -> None:
    found = run("paper_floating_bodies.md")
    assert found["newton_gap"] < 1e-11 and found["energy_gap"] < 1e-14 and found["power_gap"] < 1e-13
    assert found["euler_gap"] < 1e-15 and found["jacobi_gap"] < 1e-14
    assert found["figures"].skewness == 0.0 and found["figures"].gradient < 1e-9
    assert 5e-5 < found["rod_gap"] < 8e-5
    assert found["hinge_gap"] < 1e-10
    assert (found["first"].rigid_modes, found["first"].self_stresses) == (4, 6)
    assert found["reduction_gap"] < 1e-3 and found["small"].passivity().is_passive
    assert found["inverse_gap"] < 1e-6
    assert found["four_bar_gap"] < 1e-6 and found["modes"].self_stresses == 9
    assert found["index_two"] < 1e3
    assert "J is not skew" in capsys.readouterr().out


def test_the_paper_on_hyperelastic_strings(in_an_empty_folder) -> None:
    found = run("paper_hyperelastic_strings.md")
    assert max(found[name] for name in ("energy_gap", "stress_gap", "linear_gap", "venant_gap")) < 1e-14
    assert found["figures"].skewness == 0.0 and found["figures"].power < 1e-14
    assert found["weight"][1::2].sum() == pytest.approx(-9.81 * 59 / 60)
    assert found["law_gap"] < 1e-14 and abs(found["direction_gap"]) < 1e-11
    assert found["run"].energy[-1] == pytest.approx(-3.403761620753, abs=1e-9)
    assert found["changes"].max() < 1e-11 and found["others"].max() == pytest.approx(4.6e-4, rel=0.02)
    table = Path(__file__).parent / "gallery" / "reference" / "string_pendulum.csv"
    reference = np.genfromtxt(table, delimiter=",", names=True)
    assert found["midpoint"].energy == pytest.approx(reference["H_mp"], abs=1e-9)
    assert found["strain_gap"] < 1e-12
    assert np.abs(found["relaxing"].balance_error).max() < 1e-14 < 1e-6 < found["relaxing"].dissipated[-1]
    assert np.abs(found["run"].balance_error).max() < 1e-11


def test_reduction(in_an_empty_folder, capsys) -> None:
    with pytest.warns(ph.ReductionWarning, match="static answers to all inputs"):
        found = run("reduction.md")
    assert found["errors"].peak.max() < 0.01
    assert found["bending"].shape == (48, 3) and found["basis"].shape[1] <= 10
    energy = found["motion"].energy
    assert np.abs(energy.balance_error).max() < 1e-10 * energy.total.max()
    assert "would lock" in capsys.readouterr().out


def test_springs_drives_and_motors(in_an_empty_folder, capsys) -> None:
    assert run("forces_and_drives.md")["fall"].time[-1] == pytest.approx(np.sqrt(2 / 9.81), abs=1e-9)
    lines = capsys.readouterr().out.split("\n")
    assert float(lines[0]) == pytest.approx(10.0, abs=1e-9)
    assert float(lines[5]) == pytest.approx(2.0 * 9.81)
    assert float(lines[7]) == pytest.approx(9 / 7 * 9.81, rel=1e-2)  # a weight and a block of three on two strands
    assert float(lines[8]) == pytest.approx(5 / 200, rel=0.02) and float(lines[8]) < 5 / 200  # creeps still
    storage, loss = (200 + 300 * 0.15**2 / (1 + 0.15**2) + 100 * 36 / 37, 300 * 0.15 / (1 + 0.15**2) + 100 * 6 / 37)
    assert float(lines[9]) == pytest.approx(loss / storage)
    assert complex(lines[10]) == pytest.approx(complex(storage, loss))
    assert 0 < float(lines[11].split()[0]) < 1 and len(lines[11].split("[")[1].split()) == 2
    assert float(lines[12]) == pytest.approx(0.313, abs=0.001)


def test_control(in_an_empty_folder, capsys) -> None:
    found = run("control.md")
    assert found["settled"].angle(found["hinge"])[-1] == pytest.approx(0.5, abs=1e-5)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "False ('hub x', 'hub y') True" and 0.0499 < float(said[1]) < 0.0501
    assert said[3] == "100.0"
    assert found["pushed"].angle(found["elbow"])[-1] == pytest.approx(0.6, abs=5e-3)


def test_studies(in_an_empty_folder, capsys) -> None:
    found = run("studies.md")
    assert np.isfinite(found["again"]["peak"]).all() and found["again"]["bend"].shape == (6, 11)
    assert "4 runs" in capsys.readouterr().out
    assert [failure.parameters["diameter"] for failure in found["study"].failures] == []


def test_gradients(in_an_empty_folder) -> None:
    found = run("gradients.md")
    assert found["found"].derivatives[0]["diameter"].shape == (101,) and found["by_sample"]["push"].shape == (101,)
    assert found["objective"](found["objective"].start)[1][0] < 0  # a thicker rod bends less


def test_optimal_control(in_an_empty_folder) -> None:
    """The arm stands still where it arrives, as an arm that a stiff one's torque turns does not."""
    found = run("optimal_control.md")
    assert abs(found["best"].deviations["angle"]) < 1e-10

    def swings(torque) -> float:
        model = found["build"]({"motor": lambda t: np.where(t < 1.0, torque(t), 0.0)})
        motion = model.simulate(2.0, step=0.02, progress=False)
        return np.ptp(motion.elastic_displacement(model["arm"].end)[50:, 1])

    inertia = 0.02 + 0.2 + 0.04e-3 * 2700 / 3
    stiff = ph.Signal([0.0, 0.5, 1.0], inertia * 1.2 * np.array([1.0, -1.0, -1.0]), "constant")
    assert swings(found["torque"]) < 1e-6 * swings(stiff)
    assert found["fast"].duration == pytest.approx(2 * np.sqrt(2.0 / 3.0), rel=1e-6)
    assert {path.name for path in in_an_empty_folder.iterdir()} == {"arm.png"}


def test_bodies_from_meshes(in_an_empty_folder) -> None:
    """A second program's matrices are those of the mesh: first bending mode of the free bar in both."""
    found = run("meshes.md")
    assert found["stress"].components.shape[0] == 51
    assert found["loaded"][:3] == pytest.approx([9.88, 35.8, 77.3], rel=4e-3)
    assert np.abs(found["sag"]).max() > 1e-6
    interfaces = {"tip": (lambda x: x[0] > 0.3 - 1e-9, "rigid"), "hub": (lambda x: x[0] < 1e-9, "rigid")}
    same = ph.FlexibleBody.from_mesh(found["mesh"], found["steel"], interfaces, modes=6)
    assert found["other"].frequencies[:6] == pytest.approx(same.frequencies[:6], rel=1e-6)


def test_rods(in_an_empty_folder) -> None:
    found = run("rods.md")
    model, arc = found["model"], found["arc"]
    rest = model.equilibrium()
    still = model.simulate(0.02, 1e-3, initial=rest, progress=False).position(arc.end)
    assert np.abs(still - rest.position(arc.end)).max() < 1e-9
    assert found["frequency"] == pytest.approx(2340.50, rel=1e-3)


def test_accuracy(in_an_empty_folder, capsys) -> None:
    assert run("accuracy.md")["motion"].check().is_clean
    assert "no problems found" in capsys.readouterr().out


def test_beams(in_an_empty_folder) -> None:
    """The greatest stress of a round bar is N / A and M / W together; the arm in parts bends under its load."""
    found = run("beams.md")
    bar = ph.gallery.crank_slider()
    forces, section = found["forces"], bar["coupler"].body.section
    bending = np.hypot(forces.moment_y, forces.moment_z) * section.diameter / 2 / section.second_moment_z
    motion = bar.simulate(duration=0.02, step=1e-4)
    assert motion.stress(bar["coupler"], x=forces.x).greatest == pytest.approx(
        forces.normal / section.area + bending, rel=1e-6, abs=1.0
    )
    assert found["motion"].position(found["arm"].end)[-1, 2] > 0.05
    at_rest = 1e3 / (48 * 210e9 * 0.03 * 0.05**3 / 12)
    assert at_rest < found["sag"] < 1.1 * at_rest  # a slow crossing shakes the bridge a little


def test_contact(in_an_empty_folder) -> None:
    frequencies = run("contact.md")["linear"].modes().frequencies
    assert frequencies == pytest.approx([34.9, 282.8, 282.8, 2866.0], rel=1e-3)
    assert frequencies[0] * frequencies[3] == pytest.approx(1e5, rel=1e-6)


def test_joint_friction(in_an_empty_folder) -> None:
    found = run("joint_friction.md")
    motion = found["model"].simulate(0.5, 1e-3, progress=False)
    assert -0.2 < motion.translation(found["rail"]).min()
    assert np.abs(motion.energy.balance_error).max() < 1e-12


def test_gears(in_an_empty_folder) -> None:
    """The gears of the page turn together: angles, a rack and a screw."""
    found = run("gears.md")
    model = found["model"]
    model.apply(found["pin_a"].torque(1.0))
    motion = model.simulate(0.5, 1e-2, progress=False)
    turned = motion[ph.JointPosition(found["pin_b"])]
    assert np.abs(turned).max() > 0.5
    assert motion[ph.JointPosition(found["pin_a"])] == pytest.approx(-2 * turned, abs=1e-10)
    assert motion[ph.JointPosition(found["slide"])] == pytest.approx(0.01 * turned / (2 * np.pi), abs=1e-10)
    assert motion[ph.JointPosition(found["rail"])] == pytest.approx(0.05 * turned / 3, abs=1e-10)


def test_shells(in_an_empty_folder) -> None:
    found = run("shells.md")
    motion, stress = found["motion"], found["stress"]
    assert motion.position(found["tip"])[:, 2].min() < -0.5  # it hangs down
    assert np.abs(motion.energy.balance_error).max() < 1e-11
    assert stress.shape == (201, 3 * 105) and 2e8 < stress.max() < 5e8
    assert (in_an_empty_folder / "sheet.png").exists()


def test_soft_bodies(in_an_empty_folder) -> None:
    found = run("soft_bodies.md")
    rest = found["rest"].position(found["soft"]["tip"])[2]
    assert rest < found["sag"].min() < -0.01  # on its way down
    assert np.abs(found["motion"].energy.balance_error).max() < 1e-12


def test_states_and_sensors(in_an_empty_folder) -> None:
    found = run("states_and_sensors.md")
    beam, motion = found["beam"], found["motion"]
    assert found["rest"].is_stable
    assert np.ptp(motion.position(beam.end), axis=0).max() < 1e-9
    assert (in_an_empty_folder / "run.csv").exists()
    assert found["run"].motion.time[-1] == pytest.approx(0.6)
    assert found["further"].time[[0, -1]] == pytest.approx([0.2, 0.3])
    assert found["longer"].time[-1] == pytest.approx(0.5)


def test_strings(in_an_empty_folder) -> None:
    found = run("strings.md")
    assert found["motion"].energy.balance_error.max() < 1e-13
    assert found["motion"].tension(found["placed"]).max() > 0
