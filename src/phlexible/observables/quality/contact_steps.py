"""Steps that are too long for a contact: energy stays exact, the bounce comes late (docs/theory.md, 8)."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.observables.run import RecordedRun
from phlexible.system.forces import coordinate_row

LONGEST = 0.3  # step times frequency: a rebound comes 0.023 / omega late


def long_contact_steps(run: RecordedRun, step: float) -> list[str]:
    """What says that the step [s] is too long for contacts and stops that pushed at a stored instant, in words."""
    record, found, told = run.recording, [], set()
    for number, (element, force) in enumerate(run.system.forces):
        contact = force.contact
        if contact is None or element in told:
            continue
        depth = contact.side * (force.rest - record.theta[:, number])
        deepest = int(np.argmax(depth))
        if not depth[deepest] > 0:
            continue
        state = record.state(deepest)
        row, _ = coordinate_row(run.system, run.instants.at(slice(deepest, deepest + 1)), force.coordinate)
        compliance = row @ splu(sparse.csc_matrix(run.system.mass(state))).solve(row)
        slope = -contact.slope(float(record.theta[deepest, number]), force.rest)
        ratio = step * float(np.sqrt(slope * compliance))
        if ratio > LONGEST:
            told.add(element)
            found.append(
                f"the step is {ratio:.2g} times 1/omega of {element}, whose bounces are late and imprecise beyond"
                f" {LONGEST:g}, whatever the energy says: take steps of {LONGEST / ratio * step:.2g} s"
            )
    return found
