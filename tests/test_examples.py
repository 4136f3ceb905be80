"""The examples run, and their numbers are right."""

import ast
import importlib
import importlib.util
import runpy
from pathlib import Path

import pytest

from phlexible.pictures import animation

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"

# Example: (variable, its value, tolerance). The peak is that of the von Karman reference.
NUMBERS = {
    "01_crank_slider.py": [("peak", 0.015547, 1e-4)],
    "02_falling_chain.py": [("drift", 0.0, 1e-11)],
    "03_free_flight.py": [("worst", 0.0, 1e-11), ("gap", 0.0, 1e-12)],
    "04_string_pendulum.py": [("kept", 0.0, 3e-12), ("lost", 4.634e-4, 1e-6)],
    # The filter's error is that of its own covariance, 1.57e-4, within the scatter of 1800 correlated samples.
    "05_state_estimation.py": [("filtered", 1.57e-4, 0.2e-4), ("open_loop", 2.22e-3, 2e-5)],
    "06_pendulum.py": [("quarter", 0.483388, 2e-6)],  # a complete elliptic integral
    "07_four_bar.py": [("balance", 0.0, 1e-12)],
    "08_robot_arm.py": [("carried", 18.592, 0.002)],  # the weights times their arms
    "09_satellite.py": [("swing", 3.04811, 1e-5), ("difference", 0.0, 3e-4)],
    "10_crane.py": [("swing", 2.3923, 2e-3), ("upper", 2523.1, 5.0)],  # a massless cable; all weights
    "11_imported_mesh.py": [("deviation", 0.0, 0.006)],  # from a tapered beam
    "12_large_deflections.py": [("error", 0.00091, 2e-5)],  # against elliptic integrals
    "13_contact.py": [("period", 0.64855, 5e-5)],
    # rest to rest over one metre; by the impulse of the push, up to what the trapezoidal rule leaves of its samples
    "15_gradients.py": [("after", 0.0, 1e-7), ("left", 0.0, 1e-3), ("moved", 1.0, 2e-3)],
    # design: the cost of both together over that of one after the other; the sun over the spring
    "16_codesign.py": [("ratio", 0.727, 0.01), ("missing", 0.0, 1e-11)],
    "17_shaped_energy.py": [
        ("miss", 0.0, 1e-9),
        ("risen", 0.0, 1e-11),
        ("share", 0.339, 0.01),
        ("same", 1.0, 0.02),
    ],
    "18_balancing.py": [("stands", 5, 0), ("missing", 0.0, 1e-11), ("fallen", 1.0, 3e-3)],
    # the optimum of the closed form of the path by Nelder and Mead; a rad/s bends the links by a micrometre
    "19_four_bar_synthesis.py": [("after", 0.346223, 5e-4), ("bent", 4.915, 0.01), ("better", 2.841, 0.01)],
    # before the wall at 3.5 m, which the first plan alone passes
    "20_receding_horizon.py": [("farthest", 3.43, 0.03), ("hit", 4.24, 0.04), ("missing", 0.0, 1e-9)],
    # the greatest distance from the path, of second order; the closed form of heavy chains; the flat output
    "21_load_on_a_string.py": [
        ("strayed", 0.0, 2e-3),
        ("order", 2.0, 0.1),
        ("swing", 0.38, 0.01),
        ("chain_error", 0.0, 1e-3),
        ("flat_error", 0.0, 3e-4),
    ],
    # against models that are linearized anew; a spring, a damper and an inertia about one axis come once
    "22_uncertain_model.py": [("corner", 0.0, 1e-9), ("inside", 0.0, 1e-9), ("sizes", (1, 1, 15, 1), 0)],
    "14_rods.py": [("gap", 0.0, 2.5e-3), ("stored", 0.411234, 2e-4)],  # a closed circle; EI L / (2 r^2)
}

LONG = (
    *("04_string_pendulum.py", "07_four_bar.py", "09_satellite.py", "14_rods.py", "16_codesign.py"),
    *("17_shaped_energy.py", "18_balancing.py", "19_four_bar_synthesis.py", "20_receding_horizon.py"),
)
"""They take more than a second; pages, other examples and tests of the same models have their numbers."""


def test_every_example_has_numbers_and_a_title_that_is_underlined_as_the_site_asks() -> None:
    for path in EXAMPLES.glob("*.py"):
        title, line = path.read_text(encoding="utf-8").removeprefix('"""').splitlines()[:2]
        assert path.name in NUMBERS and len(line) >= len(title) and set(line) == {"="}, path.name


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough if name in LONG else ()) for name in sorted(NUMBERS)]
)
def test_an_example_prints_the_right_numbers(name, tmp_path, monkeypatch, unpainted) -> None:
    monkeypatch.chdir(tmp_path)
    variables = runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    for variable, value, tolerance in NUMBERS[name]:
        assert variables[variable] == pytest.approx(value, abs=tolerance), variable


def test_readme_program_runs_and_says_what_it_prints(tmp_path: Path, monkeypatch, capsys) -> None:
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    source = readme.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(animation, "SECONDS", 0.2)  # of the film
    exec(compile(source, "README.md", "exec"), {})
    peak, balance = map(float, capsys.readouterr().out.split())
    assert peak == pytest.approx(0.0155, abs=1e-4)
    assert balance < 1e-11
    assert (tmp_path / "run.h5").exists() and (tmp_path / "run.mp4").exists()


def test_the_linear_program_of_the_readme(capsys):
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    source = readme.split("```python\n")[2].split("```")[0]
    exec(compile("import phlexible as ph\n" + source, "README.md", "exec"), {})
    frequencies, passive = capsys.readouterr().out.rsplit("\n", 2)[:2]
    found = [float(number) for number in frequencies.strip("[]").split()]
    assert found == pytest.approx([0, 0, 0, 3.04810796, 7.67040037, 18.38168612], rel=1e-6, abs=0)
    assert passive == "True"


def test_benchmarks_and_scripts_of_pages_find_what_they_import_from_the_package() -> None:
    """Nothing but a bench or a build of the pages runs them: a name that is gone would be told then only."""
    files = [*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "docs").glob("*.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    imports = [n for n in nodes if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("phlexible.")]
    assert len(imports) > 20
    for node in imports:
        module = importlib.import_module(node.module)
        has_files = hasattr(module, "__path__")
        unknown = [
            name.name
            for name in node.names
            if not hasattr(module, name.name)
            and not (has_files and importlib.util.find_spec(f"{node.module}.{name.name}"))
        ]
        assert not unknown, f"{node.module} has no {unknown}"
