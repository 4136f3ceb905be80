"""Programs as first users write them give the numbers of formulas, without a warning."""

import numpy as np
import pytest

from ordinary.first_programs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_obvious_lines_give_the_number_of_the_formula(name):
    program = PROGRAMS[name]
    found, expected = program.run()
    size = np.abs(expected).max() or 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=program.tolerance * size, err_msg=program.source)
