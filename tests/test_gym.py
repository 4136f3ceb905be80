"""Models as environments: Gymnasium's checker, the digits of a run, a flexible pole that a controller balances."""

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import phlexible as ph
from phlexible.gym import Env, VectorEnv
from refusals import refused

MASS, TIP, LENGTH = 0.02 * 3e-3 * 2700.0, 0.1, 1.0


def observe(model):
    rail, hinge = model.joints[:2]
    return [*(ph.JointPosition(rail), ph.JointRate(rail)), *(ph.JointPosition(hinge), ph.JointRate(hinge))]


def leaning(random):
    return ph.gallery.flexible_pole(angle=random.uniform(-0.05, 0.05))


SHORT = {"step": 1e-3, "interval": 0.02, "actions": {"push": (-20.0, 20.0)}, "observe": observe, "duration": 0.2}


def pole(**how):
    """The angle of the hinge is counted from where it starts, which is told by its first observation."""
    given = {"reward": lambda seen, push: float(1.0 - 0.001 * push @ push), "bounds": (-100.0, 100.0)}
    return Env(**{"build": leaning, **SHORT, **given, **how})


@pytest.mark.filterwarnings("ignore:.*The environment.*")
def test_the_checker_of_gymnasium_passes():
    check_env(pole(render_mode="rgb_array"), skip_render_check=False)


def test_an_episode_has_the_digits_of_a_live_run_and_an_end():
    env = pole(is_over=lambda seen: abs(seen[0]) > 0.05)
    first, _ = env.reset(seed=3)
    model = ph.gallery.flexible_pole(angle=np.random.default_rng(3).uniform(-0.05, 0.05))
    live = model.start(1e-3)
    live.inputs["push"] = 10.0
    for k in range(10):
        seen, reward, is_over, is_late, info = env.step(np.array([0.5]))
        live.run(0.02)
        assert np.array_equal(seen, [float(live.read(sensor)) for sensor in observe(model)])
        assert reward == pytest.approx(0.9) and info["time"] == pytest.approx(0.02 * (k + 1))
        if is_over:
            break
    assert seen[0] > 0.05 and k < 9 and not is_late
    assert np.array_equal(env.reset(seed=3)[0], first)
    for _ in range(10):
        _, _, is_over, is_late, _ = env.step(np.array([0.0]))
    assert is_late and not is_over


def test_a_stiff_pole_falls_as_the_rigid_one():
    """cosh(k t) of the upright pole: moments of a uniform rod and a tip mass about the hinge."""
    model = ph.gallery.flexible_pole(angle=1e-4, youngs_modulus=7e16)
    moving, first, second = MASS + TIP, MASS / 2 + TIP, MASS / 3 + TIP
    expected = np.sqrt(9.81 * first * (moving + 1.0) / ((moving + 1.0) * second - first**2))
    fallen = {}
    for name, each in (("stiff", model), ("limp", ph.gallery.flexible_pole(angle=1e-4))):
        motion = each.simulate(0.5, 1e-3, initial="quasi_static", progress=False)
        fallen[name] = -motion.angle(each.joints[1])[-1] / 1e-4
    assert fallen["stiff"] == pytest.approx(np.cosh(expected * 0.5) - 1, rel=1e-4)
    assert fallen["limp"] > 1.01 * fallen["stiff"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"actions": {"pull": (-1.0, 1.0)}}, "no input is named 'pull'"),
        ({"actions": {"push": (1.0, -1.0)}}, "lowest < highest"),
        ({"bounds": (1.0, -1.0)}, "least <= greatest"),
        ({"bounds": (0.0, float("nan"))}, "least <= greatest"),
        ({"bounds": ((0.0, 1.0), 2.0)}, r"shape \(4,\)"),
        ({"bounds": None}, "must be .least, greatest."),
        ({"interval": 1.5e-3}, "multiple of step"),
        ({"observe": lambda model: ["angle"]}, "takes sensors"),
        ({"observe": lambda model: [ph.JointAcceleration(model.joints[0])]}, "accelerations are differences"),
        ({"render_mode": "human"}, "render_mode"),
    ],
)
def test_what_does_not_fit_is_refused(how, words):
    refused(ph.ParameterError, words, lambda: pole(**how))


def test_environments_in_rows_have_the_digits_of_single_ones_and_begin_again():
    n, single = 3, pole(is_over=lambda seen: abs(seen[0]) > 0.01)
    reward = lambda seen, push: 1.0 - 0.001 * (push * push).sum(axis=1)  # noqa: E731
    env = VectorEnv(leaning, n, reward=reward, is_over=lambda seen: abs(seen[:, 0]) > 0.01, **SHORT)
    first, _ = env.reset(seed=5)
    assert env.action_space.shape == (n, 1) and env.observation_space.shape == first.shape
    actions = np.array([[0.5], [-0.5], [0.0]])
    rows = [env.step(actions) for _ in range(12)]
    for k in range(n):
        seen, _ = single.reset(seed=5 + k)
        assert np.array_equal(seen, first[k])
        for row in rows:
            seen, reward, is_over, is_late, _ = single.step(actions[k])
            assert np.array_equal(seen, row[0][k]) and (is_over, is_late) == (row[2][k], row[3][k])
            assert reward == pytest.approx(row[1][k], rel=1e-15)
            if is_over or is_late:
                break
        assert is_over == (k < 2) and is_late == (k == 2)


def test_an_environment_begins_its_next_episode_in_the_step_after_its_end():
    given = SHORT | {"interval": 0.05, "duration": 0.1}
    env = VectorEnv(ph.gallery.flexible_pole(angle=0.02), 2, reward=lambda seen, push: np.ones(2), **given)
    still = np.zeros((2, 1))
    refused(ResetNeeded, "reset", lambda: env.step(still))
    start, _ = env.reset()
    env.step(still)
    *_, is_late, _ = env.step(still)
    seen, rewards, _, is_new, info = env.step(still)
    assert is_late.all() and not is_new.any() and not rewards.any()
    assert np.array_equal(seen, start) and not info["time"].any()
    refused(ph.ParameterError, r"shape \(2, 1\)", lambda: env.step(np.zeros(2)))
    refused(ph.ParameterError, "seed must be", lambda: env.reset(seed=[1]))
