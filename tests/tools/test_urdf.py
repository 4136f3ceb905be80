"""Robots of URDF files: dynamics of pinocchio, kinds of joints, limits, mimics, frames, flexible links."""

import json
from pathlib import Path

import numpy as np
import pytest

import phlexible as ph
from refusals import refused

HERE = Path(__file__).parent
REFERENCE = json.loads((HERE / "ur5_inverse_dynamics.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", REFERENCE["cases"])
def test_rigid_inverse_dynamics_are_those_of_pinocchio(case):
    """Torques of drives at the start, from accelerations; benchmarks/urdf_inverse_dynamics.py makes the numbers."""
    names = REFERENCE["joints"]
    model = ph.from_urdf(HERE / "ur5.urdf", positions=dict(zip(names, case["q"], strict=True)))
    for name, v, a in zip(names, case["v"], case["a"], strict=True):
        path, rate = (lambda t, v=v, a=a: v * t + a * t * t / 2), (lambda t, v=v, a=a: v + a * t)
        model.apply(model.joint(name).drive(angle=path, rate=rate))
    motion = model.simulate(2e-4, 1e-4, progress=False)
    found = np.array([motion.required(model.joint(name))[0] for name in names])
    assert np.abs(found - case["torque"]).max() <= 1e-9 * np.abs(case["torque"]).max()


LINK = """<link name="{name}"><inertial><mass value="{mass}"/><origin xyz="{center}" rpy="0.3 0 0"/>
<inertia ixx="0.02" iyy="0.03" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0.1 0 0"/><geometry><box size="0.2 0.05 0.05"/></geometry></visual></link>"""
GRIPPER = f"""<robot name="gripper"><link name="base"/>
{LINK.format(name="arm", mass=1.0, center="0.1 0 0")}
{LINK.format(name="left", mass=0.2, center="0 0 0")}
{LINK.format(name="right", mass=0.2, center="0 0 0")}
{LINK.format(name="wheel", mass=0.3, center="0 0 0")}<link name="tool"/>
<joint name="lift" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
<limit lower="-0.5" upper="0.5" effort="10" velocity="1"/><dynamics damping="0.2" friction="0.1"/></joint>
<joint name="tip" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0.5 0 0"/></joint>
<joint name="open" type="prismatic"><parent link="tool"/><child link="left"/><axis xyz="0 1 0"/>
<limit lower="0" upper="0.04" effort="10" velocity="1"/></joint>
<joint name="follow" type="prismatic"><parent link="tool"/><child link="right"/><axis xyz="0 1 0"/>
<mimic joint="open" multiplier="-1" offset="-0.01"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="spin" type="continuous"><parent link="arm"/><child link="wheel"/><axis xyz="1 0 0"/></joint></robot>"""


@pytest.fixture
def gripper(tmp_path):
    path = tmp_path / "gripper.urdf"
    path.write_text(GRIPPER, encoding="utf-8")
    return path


def test_joints_of_all_kinds_with_limits_and_mimics(gripper):
    """A torque pushes the arm into its limit, which holds it; the fingers move against each other."""
    model = ph.from_urdf(gripper, positions={"lift": 0.48, "open": 0.02}, gravity=(0, 0, 0), stop_stiffness=1e3)
    kinds = {name: type(model.joint(name)).__name__ for name in model.joint_names}
    assert kinds == {"lift": "Revolute", "open": "Prismatic", "follow": "Prismatic", "spin": "Revolute"}
    assert model.starts["follow"] == pytest.approx(-0.03) and len(model.relations) == 1
    arm, left = model["arm"], model["left"]
    tool = np.array([0.5 * np.cos(0.48), 0.0, 1.0 - 0.5 * np.sin(0.48)])
    assert left.position == pytest.approx(tool + (0, 0.02, 0), abs=1e-15)
    assert arm.rotation @ (0, 0, 1) == pytest.approx([np.sin(0.48), 0, np.cos(0.48)], abs=1e-15)
    turned = np.array([[0.02, 0, 0], [0, 0.02, 0], [0, 0, 0.02]])
    turned += 0.01 * np.outer(axis := np.array([0, np.cos(0.3), np.sin(0.3)]), axis)  # rpy="0.3 0 0"
    assert arm.body.inertia == pytest.approx(turned, abs=1e-15)
    assert arm.body.shape.vertices[:, 0].max() == pytest.approx(0.2)
    model.apply(model.joint("open").force(0.05))
    model.apply(model.joint("lift").torque(5.0))
    motion = model.simulate(0.3, 1e-3, progress=False)
    fingers = [motion.translation(model.joint(name)) for name in ("open", "follow")]
    assert fingers[0] + fingers[1] == pytest.approx(-0.01, abs=1e-12) and np.ptp(fingers[0]) > 1e-4
    assert 0.02 < motion.angle(model.joint("lift")).max() < 0.05
    assert {str(element).split(" ")[0] for element in model.elements} >= {"damper", "friction", "stop"}
    assert motion.energy.dissipated[-1] > 0 and np.abs(motion.energy.balance_error).max() <= 1e-10
    assert model.replace().joint("open") is not model.joint("open")


def test_flexible_links_take_the_place_of_rigid_ones(tmp_path):
    """A beam clamped at the base bends under its tip's weight by P L^3 / 3 E I, with the weight of the beam."""
    links = [LINK.format(name="boom", mass=1, center="0 0.1 0"), LINK.format(name="load", mass=2.0, center="0 0 0")]
    grip = joint("grip", "fixed", "boom", "load", origin="0 0.8 0")
    path = robot(tmp_path / "boom.urdf", *links, joint("clamp", "fixed", "base", "boom"), grip)
    steel = ph.Material(2e11, 7800.0)
    boom = ph.Beam(0.8, ph.CircularSection(0.03), steel, elements=4, frame="cantilever", strain="linear")
    model = ph.from_urdf(path, flexible={"boom": boom})
    rest = model.equilibrium()
    stiffness, weight = 2e11 * np.pi * 0.03**4 / 64, 9.81 * 7800.0 * np.pi * 0.015**2
    expected = 2.0 * 9.81 * 0.8**3 / (3 * stiffness) + weight * 0.8**4 / (8 * stiffness)
    tip = rest.position(model["boom"].end)
    assert tip[2] == pytest.approx(-expected, rel=1e-4) and tip[1] == pytest.approx(0.8, rel=1e-4)
    with pytest.raises(ph.ModelError, match="must be 0.8 m long, from clamp"):
        ph.from_urdf(path, flexible={"boom": ph.Beam(0.7, ph.CircularSection(0.03), steel)})
    refused(ph.ModelError, "no link is named 'crane'", lambda: ph.from_urdf(path, flexible={"crane": boom}))
    refused(ph.ParameterError, "flexible takes Beam", lambda: ph.from_urdf(path, flexible={"boom": "soft"}))


OPEN, WHEEL = '<child link="left"/>', LINK.format(name="wheel", mass=0.3, center="0 0 0")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (WHEEL, '<link name="wheel"/>', "wheel moves on spin and has no i"),
        ('<mass value="0.3"/>', '<mass value="-0.3"/>', "link wheel: no body has a mass of -0.3 kg"),
        ('lower="0" upper="0.04"', 'lower="0.01" upper="0.04"', r"open is at 0, .* positions={'open': 0.01}"),
        ('type="continuous"', 'type="screw"', "which URDF does not have|no URDF file"),
        ('iyy="0.03"', 'iyy="0.3"', "link arm: no body has .*repair"),
        ('mimic joint="open"', 'mimic joint="wide"', "follow mimics 'wide', which the file does not have"),
        (
            '<joint name="spin" type="continuous">',
            '<joint name="spin" type="floating"><mimic joint="lift"/>',
            "both must",
        ),
        (OPEN, OPEN + '<mimic joint="follow"/>', "in a circle: open -> follow -> open"),
        ('multiplier="-1"', 'multiplier="nan"', "follow: multiplier must be a finite number, got nan"),
        ('<axis xyz="1 0 0"/>', '<axis xyz="nan 0 1"/>', "joint spin: axis must be finite"),
        ('upper="0.04"', 'upper="wide"', "no URDF file"),
        ('<axis xyz="1 0 0"/>', '<axis xyz="0 0 0"/>', "joint spin: axis must not be zero"),
        ('damping="0.2"', 'damping="little"', "joint lift: damping must be a finite number, got 'little'"),
        ('link name="left"', 'link name="arm"', "two links are named 'arm'"),
        ('joint name="spin"', 'joint name="open"', "two joints are named 'open'"),
        ('child link="wheel"', 'child link="left"', "two joints carry the link 'left'"),
        ('child link="wheel"', 'child link="whee"', "spin names the link 'whee', which the file does not have"),
        ('parent link="arm"/><child link="wheel"', 'parent link="wheel"/><child link="wheel"', "one tree"),
    ],
)
def test_what_makes_no_robot_is_refused(gripper, old, new, words):
    gripper.write_text(GRIPPER.replace(old, new), encoding="utf-8")
    refused((ph.ModelError, ph.ResultFileError), words, lambda: ph.from_urdf(gripper))
    refused(ph.ResultFileError, "no URDF file", lambda: ph.from_urdf(gripper.with_name("missing.urdf")))


def test_what_does_not_matter_is_taken(gripper):
    """Axes of fixed joints, and limits of which one end is left out, which is 0."""
    text = GRIPPER.replace('type="fixed">', 'type="fixed"><axis xyz="0 0 0"/><mimic joint="lift"/>')
    text = text.replace('limit lower="0" upper', "limit upper").replace('mimic joint="open"', 'mimic joint="tip"')
    text = text.replace('offset="-0.01"/>', 'offset="-0.01"/><safety_controller k_velocity="1"/>')
    gripper.write_text(text + "<!-- end -->", encoding="utf-8")
    model = ph.from_urdf(gripper)
    assert sum("stop" in str(element) for element in model.elements) == 2
    place = model.frame("right").initial_position() - model.frame("tool").initial_position()
    assert place == pytest.approx([0, -0.01, 0])  # follows a fixed joint: held at its offset
    refused(ph.ModelError, r"'right' is no body: .* hold it to arm.*model.frame\('right'\)", lambda: model["right"])
    assert str(model.replace().frame("tool")) == "arm.point(0.5, 0, 0)" and "right" not in model.starts


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("</robot>", '<xacro:hand prefix="left"/></robot>', "xacro:hand, macros that were not expanded"),
        ("</robot>", '<loop_joint name="rod" type="revolute"/></robot>', "loop_joint rod, the loop is open"),
        (
            "</robot>",
            "<gazebo><joint name='rod'/></gazebo><gazebo><material>Blue</material></gazebo></robot>",
            "gazebo j",
        ),
        ("</robot>", '<drake:bushing name="b"/></robot>', "drake:bushing b"),
        ("</robot>", '<transmission name="motor"><type>t</type></transmission></robot>', "transmission motor"),
        ('lower="-0.5" upper="0.5"', 'lower="0.5" upper="-0.5"', "limits from 0.5 to -0.5 lift"),
        ('friction="0.1"', 'friction="0.1" spring_stiffness="3"', "dynamics spring_stiffness lift"),
        ('<box size="0.2 0.05 0.05"/>', '<mesh filename="package://arm/no.stl"/>', r"arm \(package://arm/no.stl\)"),
        ('<box size="0.2 0.05 0.05"/>', '<box size="nan 1 1"/>', "pictures that cannot be read: arm, "),
    ],
)
def test_one_warning_lists_what_a_file_has_beside(gripper, old, new, words):
    gripper.write_text(GRIPPER.replace(old, new), encoding="utf-8")
    with pytest.warns(ph.LeftOutWarning, match=words) as told:
        ph.from_urdf(gripper)
    assert len(told) == 1


def robot(path, *parts):
    path.write_text(f'<robot name="r"><link name="base"/>{"".join(parts)}</robot>', encoding="utf-8")
    return path


def link(name, mass, moments, center="0 0 0", shape=""):
    ixx, iyy, izz = moments
    return (
        f'<link name="{name}"><inertial><origin xyz="{center}"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>{shape}</link>'
    )


def joint(name, kind, parent, child, axis="0 1 0", origin="0 0 0", more=""):
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{origin}"/><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="{axis}"/>{more}</joint>'
    )


@pytest.mark.parametrize(
    ("mass", "moments", "center"),
    [
        (0.01, (0, 0, 0), "0 0 0"),
        (0.01, (0, 1e-5, 1e-5), "0 0 0"),
        (0.01, (1.33e-4, 7.57e-3, 8.25e-3), "0 0 0"),  # no body alone
        (0, (0.3, 0.3, 0.3), "0 0 0"),
        (4e-15, (2e-27, 2e-27, 2e-27), "0.4 0 0"),
        (0.5, (0.02, 0.03, 0.04), "0.1 0 0"),
    ],
)
def test_links_on_fixed_joints_are_part_of_what_carries_them(tmp_path, mass, moments, center):
    """A pendulum with a sensor, by the sum of both inertias; the sensor is a frame of the arm."""
    sensor = link("sensor", mass, moments, center), joint("mount", "fixed", "arm", "sensor", origin="1 0 0")
    arm = link("arm", 1.0, (0.02, 0.02, 0.02), "0.5 0 0"), joint("hinge", "continuous", "base", "arm")
    model = ph.from_urdf(robot(tmp_path / "r.urdf", *arm, *sensor))
    lever = 1.0 + float(center.split()[0])
    wanted = 9.81 * (0.5 + mass * lever) / (0.27 + mass * lever**2 + moments[1])
    rate = model.simulate(2e-6, 1e-6, progress=False)[ph.JointRate(model.joint("hinge"))][-1]
    assert rate / 2e-6 == pytest.approx(wanted, rel=1e-9)
    assert len(model.bodies) == 1 and model.frame("sensor").initial_position() == pytest.approx([1, 0, 0])


LIMIT = '<limit lower="-2" upper="2" effort="1" velocity="1"/>'
FLOOR = [
    *('<link name="x"/><link name="y"/>', joint("jx", "prismatic", "base", "x", "1 0 0", more=LIMIT)),
    *(joint("jy", "prismatic", "x", "y", more=LIMIT), joint("jz", "continuous", "y", "body", "0 0 1")),
]


def test_coordinates_need_inertia_and_links_do_not(tmp_path):
    """A base on rails and a turntable without mass; thin links; and axes that nothing with inertia turns about."""
    path, slow = tmp_path / "r.urdf", (0.0, 0.0, 0.0)
    model = ph.from_urdf(robot(path, link("body", 2.0, (1, 1, 1), "0.2 0.1 0"), *FLOOR), gravity=slow)
    for name, force in {"jx": "force", "jz": "torque"}.items():
        model.apply(getattr(model.joint(name), force)(3.0))
    motion = model.simulate(2e-3, 1e-3, progress=False)
    rates = [motion[ph.JointRate(model.joint(name))][-1] / 2e-3 for name in ("jx", "jy", "jz")]
    inertia = np.array([[2, 0, -0.2], [0, 2, 0.4], [-0.2, 0.4, 1.1]])
    assert rates == pytest.approx(np.linalg.solve(inertia, [3.0, 0.0, 3.0]), rel=1e-5)
    hinge = joint("h", "continuous", "base", "a", "0 0 1")
    slim = (8.53333333333e-07, 1.70666666667e-06, 8.53333333333e-07)
    for moments in (slim, (0, 1e-3, 1e-3), (-4e-22, 1e-3, 1e-3)):
        assert ph.from_urdf(robot(path, link("a", 1.0, moments), hinge))["a"].body.mass == 1.0
    thin = link("a", 1.0, (1e-3, 1e-3, 0), "0 0 0.1")
    for spun in (thin, link("a", 1.0, (0, 0, 0)), '<link name="a"/>'):
        with pytest.raises(ph.ModelError, match="a moves on h and has no inertia"):
            ph.from_urdf(robot(path, spun, hinge))
    twice = FLOOR[0], FLOOR[1], joint("jy", "prismatic", "x", "y", "1 0 0"), link("body", 1, (1, 1, 1)), FLOOR[3]
    with pytest.raises(ph.ModelError, match="x moves on jx and y moves on jy and has no inertia"):
        ph.from_urdf(robot(path, *twice))


def test_inertia_is_repaired_where_that_is_wanted(tmp_path):
    """By the shape of the link, at 1000 kg/m3 or with its mass, or by the nearest moments; one warning lists it."""
    box = '<collision><geometry><box size="0.2 0.1 0.1"/></geometry></collision>'
    parts = [f'<link name="a">{box}</link>', joint("ja", "continuous", "base", "a")]
    parts += [link("b", 3.0, (0, 0, 0), shape=box), joint("jb", "continuous", "a", "b", origin="1 0 0")]
    parts += [link("c", 1.0, (0.1, 0.1, 0.3)), joint("jc", "continuous", "b", "c", origin="1 0 0")]
    path = robot(tmp_path / "r.urdf", *parts, '<link name="d"/>', joint("jd", "continuous", "c", "d"))
    refused(ph.ModelError, 'inertia="repair"', lambda: ph.from_urdf(path))
    with pytest.warns(ph.LeftOutWarning, match="changes .*c .mass 1, moments 0.1, 0.1, 0.3.*d to 0.001 kg") as told:
        model = ph.from_urdf(path, inertia="repair")
    assert len(told) == 1 and "a to 2 kg with the moments of its shape" in str(told[0].message)
    assert model["a"].body.inertia == pytest.approx(np.diag([1, 2.5, 2.5]) * 2 / 6 * 1e-2, rel=1e-9)
    assert model["b"].body.inertia == pytest.approx(np.diag([1, 2.5, 2.5]) * 3 / 6 * 1e-2, rel=1e-9)
    assert model["c"].body.inertia == pytest.approx(np.diag([0.15, 0.15, 0.3]), rel=1e-9)


@pytest.mark.parametrize(
    ("shape", "volume", "along", "across"),
    [
        ('cylinder radius="0.3" length="2"', 0.18 * np.pi, 0.045, (0.27 + 4) / 12),
        ('sphere radius="0.3"', 0.036 * np.pi, 0.036, 0.036),
    ],
)
def test_repaired_inertia_of_round_shapes_is_exact(tmp_path, shape, volume, along, across):
    """Closed forms of cylinder and ball; the shape is turned by 90 degrees and shifted, z of the shape is x."""
    body = f'<collision><origin xyz="1 2 3" rpy="0 {np.pi / 2} 0"/><geometry><{shape}/></geometry></collision>'
    path = robot(tmp_path / "r.urdf", f'<link name="a">{body}</link>', joint("j", "continuous", "base", "a"))
    with pytest.warns(ph.LeftOutWarning, match="moments of its shape"):
        link = ph.from_urdf(path, inertia="repair")["a"].body
    assert link.mass == pytest.approx(1000 * volume, rel=1e-9)
    assert link.center == pytest.approx([1, 2, 3], rel=1e-9)
    assert link.inertia == pytest.approx(1000 * volume * np.diag([along, across, across]), rel=1e-9, abs=1e-9)
