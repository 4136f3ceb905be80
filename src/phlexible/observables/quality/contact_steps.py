"""Contacts too stiff for the shortest parts of a step: energy stays exact, the bounce comes late (theory, 8)."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.observables.run import RecordedRun
from phlexible.system.state_laws import coordinate_row
from phlexible.tables.declarations import MOST_PARTS

LONGEST = 0.3  # step times frequency: a rebound comes 0.023 / omega late


def long_contact_steps(run: RecordedRun, step: float) -> list[str]:
    """What says that a step [s] was too long for contacts and stops that pushed at a stored instant, in words."""
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
        if ratio > LONGEST * MOST_PARTS:
            told.add(element)
            found.append(
                f"the step is {ratio:.2g} times 1/omega of {element}, too long for the {MOST_PARTS} parts that it"
                " is taken in at most: its bounces are late and imprecise, whatever the energy says; take steps of"
                f" {LONGEST * MOST_PARTS / ratio * step:.2g} s"
            )
    return found
