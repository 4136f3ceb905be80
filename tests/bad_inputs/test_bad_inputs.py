"""Every wrong value for every argument: refused by name where it is given, warned of, or taken on purpose."""

import pytest

from bad_inputs.bodies import BODIES
from bad_inputs.control import CONTROL
from bad_inputs.derived import DERIVED
from bad_inputs.meshed import MESHED
from bad_inputs.outcomes import surprises
from bad_inputs.parts import PARTS
from bad_inputs.runs import RUNS
from bad_inputs.stepped import STEPPED


@pytest.mark.parametrize(
    "call", [*BODIES, *PARTS, *RUNS, *MESHED, *CONTROL, *DERIVED, *STEPPED], ids=lambda call: call.name
)
def test_wrong_values_are_refused_by_name(call, tmp_path, monkeypatch, unpainted):
    monkeypatch.chdir(tmp_path)  # what is taken as the name of a file is written there
    assert surprises(call) == []
