"""What gradients cost: a thousand samples of an input, several numbers, against one run, each the best of three.

Times are those of the processor.

``python benchmarks/gradients.py``
"""

import time
from functools import partial

import numpy as np

import phlexible as ph

SAMPLES = 1000


def pushed_crane(p):
    model = ph.gallery.crane(force=1e-9, push_time=1e3, elements=10)
    push = p["push"]
    model.apply(ph.Force(model["trolley"].origin, lambda t: (push(t), 0.0 * t, 0.0 * t)))
    return model


def swing(model):
    position = ph.Position(model["load"].origin)
    velocity = ph.Velocity(model["load"].origin, (1, 0, 0))
    return ph.Cost.integral(position, lambda x: x[:, 0] ** 2) + ph.Cost.final(velocity, np.square)


def turned_satellite(p):
    model = ph.gallery.satellite(elements=6)
    wheel = p["push"]
    model.apply(ph.Torque(model["hub"].origin, lambda t: (0.0 * t, 0.0 * t, wheel(t))))
    return model


def pointing(model):
    return ph.Cost.integral(ph.Displacement(model["right panel"].end, (0, 1, 0)), lambda y: y**2)


def held_arm(p):
    model = ph.gallery.robot_arm(elements=2, sampled=False)
    push = p["push"]
    model.apply(ph.Force(model["hand"].origin, lambda t: (0.0 * t, push(t), 0.0 * t)))
    return model


def hand(model):
    return ph.Cost.integral(ph.Position(model["hand"].origin), lambda x: (x[:, 2] - 0.4) ** 2)


def crank_slider(p):
    return ph.gallery.crank_slider(**p, elements=8)


def middle(model):
    return ph.Displacement(model["coupler"].at(0.15), (0, 1, 0))


def bent(model):
    return ph.Cost.integral(middle(model), np.square)


def damped_chain(p):
    model = ph.gallery.chain(10)
    for joint, damping in zip(model.joints, p["damping"], strict=False):
        model.apply(joint.damper(damping))
    return model


def last(model):
    return ph.Position(model["link 10"].end)


def swung(model):
    return ph.Cost.integral(last(model), lambda x: x[:, 0] ** 2)


def crowd(p, dimension=2):
    """Three discs, or balls that roll and drill, on a floor; one runs into the others."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
    bodies = [
        model.add(
            ph.RigidBody((1 + 0.1 * k) * p["mass"], 0.004 if dimension == 2 else np.diag([0.004] * 3)),
            f"body {k}",
            position=(0.25 * k, 0.0999, 0),
            velocity=(0.1 if k else 1.5, 0, 0),
            angular_velocity=(0, 0, 0 if k else 3.0),
        )
        for k in range(3)
    ]
    law = {"stiffness": p["stiffness"], "damping": 1e2, "friction": p["friction"], "bristle": p["bristle"]}
    turns = {} if dimension == 2 else {"rolling": 2e-3, "drilling": 3e-3}
    model.apply(ph.Contact([*(body.origin for body in bodies), floor], radius=0.1, **law, **turns))
    return model


def hit(model):
    return ph.Position(model["body 1"].origin)


def far(model):
    return ph.Cost.final(hit(model), lambda x: x[:, 0])


SEVEN = {
    "crank_length": 0.15,
    "crank_speed": 150.0,
    "coupler_length": 0.3,
    "diameter": 6e-3,
    "youngs_modulus": 2e11,
    "density": 7870.0,
    "slider_mass": 0.033,
}
RUBBING = {"mass": 1.0, "stiffness": 2e4, "friction": 0.4, "bristle": 1e4}
NUMBERS = {
    "crank-slider": (crank_slider, bent, middle, SEVEN, 7, 0.1, 1e-4),
    "crank-slider, longer": (crank_slider, bent, middle, SEVEN, 7, 1.0, 1e-4),
    "chain of ten": (damped_chain, swung, last, {"damping": np.full(10, 1e-3)}, 10, 1.0, 1e-3),
    "crowd of discs": (crowd, far, hit, RUBBING, 4, 0.25, 2e-3),
    "crowd of balls": (partial(crowd, dimension=3), far, hit, RUBBING, 4, 0.25, 2e-3),
}
CASES = {
    "crane": (pushed_crane, swing, 10.0, 5e-3),
    "satellite": (turned_satellite, pointing, 20.0, 1e-2),
    "robot arm": (held_arm, hand, 2.0, 1e-3),
}


def simulated(build, parameters, duration, step):
    return build(parameters).simulate(duration, step, progress=False)


def best(function):
    times = []
    for _ in range(3):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return min(times)


def main():
    print(f"{'model':12}{'steps':>8}{'parameters':>12}{'run [s]':>10}{'gradient [s]':>14}{'runs':>7}")
    for name, (build, cost, duration, step) in CASES.items():
        times = np.linspace(0, duration, SAMPLES)
        parameters = {"push": ph.Signal(times, 10 * np.sin(2 * times))}
        run = best(partial(simulated, build, parameters, duration, step))
        gradient = best(partial(ph.gradient, build, cost, parameters, duration=duration, step=step))
        count = round(duration / step)
        print(f"{name:12}{count:8}{SAMPLES:12}{run:10.3f}{gradient:14.3f}{gradient / run:7.1f}")
    print(f"\n{'model':22}{'steps':>8}{'parameters':>12}{'run [s]':>10}{'gradient':>10}{'sensitivity':>13}  [runs]")
    for name, (build, cost, sensor, parameters, number, duration, step) in NUMBERS.items():
        motion = simulated(build, parameters, duration, step)
        run = best(partial(simulated, build, parameters, duration, step))
        gradient = best(partial(ph.gradient, build, cost, parameters, duration=duration, step=step))
        direct = best(partial(motion.sensitivity, build, parameters, sensor))
        count = round(duration / step)
        print(f"{name:22}{count:8}{number:12}{run:10.3f}{gradient / run:10.1f}{direct / run:13.1f}")


if __name__ == "__main__":
    main()
