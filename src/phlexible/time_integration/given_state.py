"""Runs that begin with a state instead of the initial pose, and states that need no run."""

from dataclasses import replace

import numpy as np

from phlexible.errors import ModelError
from phlexible.initial.closure import check_closure
from phlexible.system.layout import State
from phlexible.system.recording import Recording
from phlexible.system.system import System
from phlexible.time_integration.projection import projection
from phlexible.time_integration.recorder import recording_of
from phlexible.time_integration.stepper import Stepper


def given_state(system: System, state: State) -> State:
    """The state with velocities that satisfy the joints, the nearest in the metric of the kinetic energy.

    Raises:
        ModelError: a state of another model.
        JointGapError: joints are open in it.
    """
    layout = system.layout
    shapes = (state.position.shape, state.rotation.shape, state.eta.shape, state.velocity.shape)
    own = ((int(layout.carrier[-1]), 3), (layout.frames, 3, 3), (int(layout.eta[-1]),), (int(layout.velocity[-1]),))
    if shapes != own:
        raise ModelError(
            f"the initial state has {state.velocity.size} velocities and {state.eta.size} elastic coordinates, this"
            f" model {own[3][0]} and {own[2][0]}; take a state of the same model"
        )
    check_closure(system, state)
    return replace(state, velocity=projection(system.whole_phase, state).velocity)


def standing(system: System, stepper: Stepper, state: State) -> Recording:
    """The one instant of a state, with the joint forces that its accelerations ask for."""
    stepper.begin(state)
    recording = recording_of(system, stepper.work_sources, np.array([state.time]), stepper.now(state.time))
    found = stepper.reactions(state.time, np.inf)()
    if found is not None:
        recording.multipliers[0], recording.forces[0] = found
    return recording
