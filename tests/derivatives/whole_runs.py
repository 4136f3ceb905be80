"""Derivatives of costs by differences of whole runs."""

import numpy as np

from phlexible.derivatives.parameters import Parameters


def by_differences(build, cost, parameters, duration, step, share=1e-3, **options):
    """Derivatives by central differences of order 4; each parameter is changed by a share of its size."""
    chosen = Parameters(parameters)
    options = {"initial": lambda model: "undeformed", **options}

    def value(numbers):
        model = build(chosen.nested(numbers))
        steps = {"output_step" if "tolerance" in options else "step": step}
        given = options | {"initial": options["initial"](model)}
        motion, own = model.simulate(duration, **steps, **given), cost(model)
        return own.value(motion.time, [motion[sensor] for sensor in own.sensors])

    found = np.zeros(len(chosen))
    for k, number in enumerate(chosen.values):
        change = share * (abs(number) or 1.0) * np.eye(len(chosen))[k]
        ends = [value(chosen.values + part * change) for part in (-2, -1, 1, 2)]
        found[k] = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * change[k])
    return found
