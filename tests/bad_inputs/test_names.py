"""Names with signs that mean something to HTML, JSON or Matplotlib are shown letter by letter."""

import json
import re

import numpy as np
import pytest

import phlexible as ph
from bad_inputs.wrong_values import ROD
from mechanisms import grounded

NAMES = ["a<!--<script>$x$\\frac$", "</script>@HEAD@_1 [$]"]


def named(name):
    model, beam, joint = grounded(ROD, ph.Revolute, dimension=2, joint_name=f"{name} hinge", name=name)
    model.apply(joint.spring(1.0, name=f"{name} spring"))
    model.apply(ph.Torque(beam.end, (0.0, 0.0, 0.1), name=name))
    return model, beam, joint


@pytest.mark.parametrize("name", NAMES)
def test_pictures_and_reports(name, tmp_path):
    model, beam, joint = named(name)
    motion = model.simulate(0.02, 0.01, initial="quasi_static", progress=False)
    pictures = [motion.plot(points=[beam.end])]
    if name == NAMES[0]:  # of what pictures make of signs both have the same
        pictures += [
            model.plot(),
            motion.plot_mechanism(),
            motion.plot_elastic_displacement(beam.end),
            motion.plot_section_forces(beam),
            motion.plot_reaction(joint),
            model.linearize([joint], [ph.JointRate(joint)], at="static").frequency_response([1.0, 2.0]).plot(),
        ]
    for picture in pictures:
        picture.savefig(tmp_path / "picture.png", dpi=20)  # where formulas are read
    texts = [text.get_text() for picture in pictures for text in picture.findobj(lambda a: hasattr(a, "get_text"))]
    assert any(name.replace("$", r"\$") in text for text in texts)
    motion.report(tmp_path / "run.html", points=[beam.end], title=name)
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    head = re.search(r'<script id="head" type="application/json">(.*?)</script>', page, re.DOTALL)[1]
    assert "<" not in head
    assert name in json.dumps(json.loads(head), ensure_ascii=False).replace("\\\\", "\\")
    assert page.count('<script id="head"') == 1
    assert np.isfinite(motion.time).all()
