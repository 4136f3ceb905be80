"""What a kill leaves can be read, and goes on; 100 kills: ``python tests/faults/kills.py 100``."""

import sys

import pytest

from faults.kills import kill_many


@pytest.mark.skipif(sys.platform == "win32", reason="kills")
def test_killed_runs_leave_files_that_go_on_with_the_same_digits(tmp_path):
    assert kill_many(2, tmp_path, ("halved", "driven"), share=0.3)["files"] == 2
