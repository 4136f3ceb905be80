"""Decks of Nastran and Abaqus: cards, axes, instances, sets, and what the body has not of them."""

import numpy as np
import pytest

import phlexible as ph
from bodies.flexible.meshes import STEEL
from phlexible.bodies.flexible.user_mesh import check_mesh, user_mesh

BRICK = np.array([(x, y, z) for z in (0, 0.1) for x, y in ((0, 0), (1, 0), (1, 0.1), (0, 0.1))])
FACES = {"S1": BRICK[:, 2] == 0, "S2": BRICK[:, 2] > 0, "S4": BRICK[:, 0] == 1, "S6": BRICK[:, 0] == 0}


def read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return user_mesh(tmp_path / name)


def rows(places):
    return "".join(f"{k + 1}, {x:.16g}, {y:.16g}, {z:.16g}\n" for k, (x, y, z) in enumerate(places))


ELEMENT = "*Element, type=C3D8R, elset=all\n1, 1, 2, 3, 4,\n5, 6, 7, 8\n"
PART = f"*Part, name=A\n*Node\n{rows(BRICK)}{ELEMENT}*Nset, nset=ends, generate\n1, 8, 7\n*End Part\n"
GRIDS = "".join(f"GRID,{k + 1},,{x},{y},{z}\n" for k, (x, y, z) in enumerate(BRICK))
CARDS = [
    "CHEXA          1       1       1       2       3       4       5       6+A\n+A             7       8\n",
    "CHEXA          1       1       1       2       3       4       5       6\n               7       8\n",
    "CHEXA,1,1,1,2,3,4,5,6\n,7,8\n",
    "CHEXA*                 1               1               1               2*\n"
    "*                      3               4               5               6*\n"
    "*                      7               8\n",
    "CHEXA*,1,1,1,2\n*,3,4,5,6\n*,7,8\n",
    "CHEXA_         1       1       1       2       3       4       5       6+A\n+A             7       8\n",
]


@pytest.mark.parametrize("card", CARDS)
def test_cards_go_on_in_the_next_line(card, tmp_path):
    given = read(
        tmp_path, "a.bdf", f"SOL 101\nBEGIN BULK\n{GRIDS}{card}PSOLID,1,1\nMAT1,1,2.+11,,.3,7850.\nENDDATA\n"
    )
    assert given.points == pytest.approx(BRICK)
    assert sorted(given.cells[0]) == list(range(8))
    assert not given.left_out
    assert given.element_groups["1"].tolist() == [0]
    assert given.points_by_name["1"].tolist() == list(range(8))  # as an interface


def test_nodes_of_nastran_in_other_axes(tmp_path):
    """A sphere's axes within cylindrical ones within those of three grid points that are turned and moved."""
    turn = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])  # axes of system 1 as columns in basic axes
    frame = "GRID,91,0,3.,0.,0.\nGRID,92,0,4.,0.,0.\nGRID,93,0,3.,1.,0.\nCORD1R,1,91,92,93\n"
    frame += "CORD2C,2,1,1.,0.,0.,1.,0.,1.\n,2.,0.,0.\nCORD2S,3,2,1.,90.,0.,1.,90.,1.\n,2.,90.,0.\n"
    local = BRICK + (0.5, 0.5, 0.5)
    radius = np.linalg.norm(local, axis=1)
    polar = np.degrees([np.arccos(local[:, 2] / radius), np.arctan2(local[:, 1], local[:, 0])])
    grids = "".join(
        f"GRID,{k + 1},3,{r:.12g},{a:.12g},{b:.12g}\n"
        for k, (r, a, b) in enumerate(zip(radius, *polar, strict=True))
    )
    given = read(tmp_path, "a.bdf", frame + grids + CARDS[2])
    in_cylinder = np.column_stack([-local[:, 1], local[:, 0], local[:, 2]]) + (0, 1, 0)
    expected = np.array((3, 0, 0)) + (in_cylinder + (1, 0, 0)) @ turn.T
    assert given.points[3:] == pytest.approx(expected, abs=1e-9)


def test_nodes_of_abaqus_in_cylindrical_axes(tmp_path):
    polar = [(np.hypot(x + 1, y), np.degrees(np.arctan2(y, x + 1)), z) for x, y, z in BRICK]
    given = read(tmp_path, "a.inp", f"*NODE, SYSTEM=C\n{rows(polar)}{ELEMENT}")
    assert given.points == pytest.approx(BRICK + (1, 0, 0))


def test_instances_are_moved_and_turned(tmp_path):
    other = PART.replace("name=A", "name=B").replace("ends", "rest")
    one = "*Instance, name=A-1, part=A\n1., 2., 3.\n1., 2., 3., 1., 2., 4., 90.\n*End Instance\n"
    sets = "*Nset, nset=top, instance=A-1\n5, 6\n*Nset, nset=top\nA-1.7, A-1.ends\n"
    given = read(tmp_path, "a.inp", f"*Heading\n{PART}{other}*Assembly, name=S\n{one}{sets}*End Assembly\n")
    turned = np.column_stack([-BRICK[:, 1], BRICK[:, 0], BRICK[:, 2]])
    assert given.points == pytest.approx(turned + (1, 2, 3))
    assert {name: group.tolist() for name, group in given.node_groups.items()} == {
        "ends": [0, 7],
        "A-1.ends": [0, 7],
        "top": [0, 4, 5, 6, 7],
    }
    two = one.replace("A-1", "A-2")
    with pytest.raises(ph.ParameterError, match="2 parts that share no nodes"):
        check_mesh(read(tmp_path, "b.inp", f"{PART}*Assembly, name=S\n{one}{two}*End Assembly\n"))


def test_sets_and_surfaces_add_up(tmp_path):
    text = f"*NODE, NSET=every\n{rows(BRICK)}{ELEMENT}"
    text += (
        "*NSET, NSET=Low\n1, 2\n*NSET, NSET=low\n3\n4\n*NSET, NSET=both\nlow, every\n*NSET, NSET=of, ELSET=all\n"
    )
    text += "*SURFACE, NAME=two\n1, S1\nall, S2\n*SURFACE, NAME=out, TYPE=ELEMENT\nall,\n"
    text += "*SURFACE, NAME=nodes, TYPE=NODE\nlow, 1.\n7\n"
    text += "".join(f"*SURFACE, NAME={side}\n1, {side}\n" for side in FACES)
    given = read(tmp_path, "a.inp", text)
    assert given.node_groups["Low"].tolist() == [0, 1, 2, 3]
    assert given.node_groups["nodes"].tolist() == [0, 1, 2, 3, 6]
    assert len(given.node_groups["both"]) == len(given.node_groups["of"]) == 8
    assert (len(given.facet_groups["two"]), len(given.facet_groups["out"])) == (2, 6)
    for side, is_on in FACES.items():
        assert sorted(given.facet_groups[side][0]) == np.flatnonzero(is_on).tolist()


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        (
            "a.bdf",
            "CONM2,5,1,,2.\nRBE2,6,2,123,1,4\nRBE2,7,2,123,5\nCELAS2,8,9.,1,1\nCBAR,9,2,1,2,0.,1.,0.\nCQUAD4,3,7,1,2,3,4\n",
            r"CQUAD4 \(1\), CBAR \(1\), CELAS2 \(1\), CONM2 \(1\), RBE2 \(2\)",
        ),
        (
            "a.inp",
            "*NODE\n9, 5., 5., 5.\n*ELEMENT, TYPE=MASS, ELSET=m\n7, 9\n*MASS, ELSET=m\n3.\n*SPRING, ELSET=s\n\n4.\n"
            "*RIGID BODY, REF NODE=9, NSET=ends\n*COUPLING, REF NODE=9, SURFACE=s, CONSTRAINT NAME=c\n*KINEMATIC\n"
            "*ELEMENT, TYPE=B31\n8, 1, 2\n*ELEMENT, TYPE=S4R\n10, 1, 2, 3, 4\n*STEP\n*STATIC\n*BOUNDARY\n1, 1, 3\n",
            r"S4R \(1\), \*BOUNDARY \(1\), \*COUPLING .*\*MASS .*RIGID BODY.*SPRING.*B31 .*MASS \(1\), 1 nodes",
        ),
        ("a.bdf", "GRID,3,,1.,0.1,0.\nGRID,3,,2.,0.1,0.\n", r"earlier positions of GRID .* twice \(1\)"),
        ("a.inp", "*NODE\n3, 2., 0.1, 0.\n4, 0., 0.1, 0.\n", r"have earlier positions of nodes .* twice \(1\);"),
        ("a.inp", "*NODE\n9, 2., 0., 0.\n" + ELEMENT.replace(" 2,", " 9,"), r"earlier nodes of elements .* \(1\)"),
    ],
)
def test_one_warning_lists_what_the_body_has_not(name, more, message, tmp_path):
    deck = GRIDS + CARDS[2] if name == "a.bdf" else f"*NODE\n{rows(BRICK)}{ELEMENT}"
    with pytest.warns(ph.MeshWarning, match=message) as said:
        check_mesh(read(tmp_path, name, deck + more))
    assert len(said) == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.bdf", GRIDS + CARDS[2] + "CPENTA,2,1,1,2,3,5,6,7\n", r"one kind, got hexahedron \(1\), wedge \(1\)"),
        ("a.inp", f"*NODE\n{rows(BRICK)}{ELEMENT}*ELEMENT, TYPE=C3D5\n2,1,2,3,4,5\n", r"pyramid \(1\)"),
        ("a.inp", f"*NODE\n{rows(BRICK)}*ELEMENT, TYPE=CAX4\n2,1,2,3,4\n", "type CAX4 cannot be read"),
        ("a.inp", f"*NODE\n{rows(BRICK)}*NGEN\n1, 8, 1\n{ELEMENT}", r"\*NGEN describes nodes"),
        ("a.bdf", GRIDS + "CTETRA,1,1,1,2,3,5,6\n", "CTETRA 1 has 5 nodes, it must have 4 or 10"),
        ("a.bdf", "GRID,1,4,0.,0.,0.\n" + CARDS[2], "no coordinate system 4"),
    ],
)
def test_decks_that_are_refused(name, text, message, tmp_path):
    with pytest.raises(ph.ParameterError, match=message):
        read(tmp_path, name, text)


def test_a_mesh_in_millimetres(tmp_path):
    text = f"*NODE\n{rows(1000 * BRICK)}{ELEMENT}*NSET, NSET=end\n2, 3, 6, 7\n"
    (tmp_path / "a.inp").write_text(text)
    ends = {"end": "end", "start": lambda x: x[0] < 1e-9}
    small = ph.FlexibleBody.from_mesh(tmp_path / "a.inp", STEEL, ends, modes=1, scale=1e-3)
    assert small.mass == pytest.approx(0.01 * STEEL.density)
    assert small.points.interfaces.positions[0] == pytest.approx((1, 0.05, 0.05))
    with pytest.warns(ph.MeshWarning, match=r"1000 x 100 x 100 m large.*millimetres\? .*scale=1e-3"):
        ph.FlexibleBody.from_mesh(tmp_path / "a.inp", STEEL, modes=1)
