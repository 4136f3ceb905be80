"""Models as environments of Gymnasium: ``phlexible.gym.Env``, ``VectorEnv`` (``pip install 'phlexible[gym]'``)."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from phlexible.algebra.arrays import (
    SAME_INTERVAL,
    Array,
    BoolArray,
    called,
    check_callable,
    positive,
    reals,
    whole,
    whole_steps,
)
from phlexible.description.interactions.sensor import Sensor
from phlexible.display import how_many
from phlexible.errors import ConvergenceError, MissingExtraError, ModelError, ParameterError
from phlexible.extras import optional
from phlexible.measure.sensors import checked_sensors
from phlexible.model import Model, is_as_started
from phlexible.results.live import LiveRun, SavedInstant
from phlexible.results.live_rows import LiveRows
from phlexible.tools.batch import device_for, lanes_for
from phlexible.tools.study import cores

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.error import ResetNeeded
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise MissingExtraError("gymnasium is needed here; install it with: pip install phlexible[gym]") from error

Build = Callable[[np.random.Generator], Model]
Observe = Callable[[Model], Sequence[Sensor]]
WHOLE = 1e-9
BEGIN = "at the begin of an episode"
AFTER = "after an interval"


class Env(gymnasium.Env[Array, Array]):
    """A model that an agent steps: inputs of ``model.start`` are actions, sensors are observations.

    An action is an array of numbers between -1 and 1, one for each component of the inputs, which stand for their
    limits. It is held for an ``interval``; the energy that it supplies is exact. Angles of joints are observed
    over the full turns that springs, dampers and other elements along them count; without one between -pi and pi,
    as by ``LiveRun.read``. An episode ends (terminated) where ``is_over`` says so or a step fails, and is cut
    (truncated) at the ``duration``.

    Args:
        build: a model; or a function of a ``numpy.random.Generator`` that makes one for each episode, such as one
            with a random start.
        step: of the simulation [s].
        actions: limits by the name of inputs of ``model.start``: (lowest, highest) of a force in a joint, of a load
            two arrays (3,).
        observe: sensors of a model; a list, or a function of the model that was built.
        reward: (observation, action) -> a number, after each interval, the action in units of the inputs.
        interval: for which an action is held [s], a multiple of the step; None: one step.
        duration: of an episode [s].
        is_over: observation -> whether the episode ends; None: never.
        bounds: least and greatest observations, arrays or numbers, for the observation space; None: infinite.
        render_mode: "rgb_array": ``render()`` draws the mechanism; None: no pictures.

    Attributes:
        run: the live run of this episode.

    Raises:
        ParameterError: limits, bounds or sensors that do not fit the model.
        MissingExtraError: gymnasium is not installed.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012  # as gymnasium wants it

    def __init__(
        self,
        build: Model | Build,
        *,
        step: float,
        actions: Mapping[str, tuple[Any, Any]],
        observe: Sequence[Sensor] | Observe,
        reward: Callable[[Array, Array], float],
        interval: float | None = None,
        duration: float = 10.0,
        is_over: Callable[[Array], bool] | None = None,
        bounds: tuple[Any, Any] = (-np.inf, np.inf),
        render_mode: str | None = None,
    ) -> None:
        if not isinstance(build, Model):
            check_callable("build", build, "generator")
        if callable(observe):
            check_callable("observe", observe, "model")
        elif not isinstance(build, Model):
            raise ParameterError("with a function build, observe must be one too: model -> [sensors]")
        check_callable("reward", reward, "observation", "action")
        if is_over is not None:
            check_callable("is_over", is_over, "observation")
        if not (render_mode is None or (isinstance(render_mode, str) and render_mode == "rgb_array")):
            raise ParameterError(f'render_mode must be "rgb_array" or None, got {render_mode!r}')
        self._build, self._observe, self._reward, self._is_over = build, observe, reward, is_over
        self._step_size, self._duration = positive("step", step), positive("duration", duration)
        self._steps = 1 if interval is None else whole_steps("interval", interval, self._step_size, SAME_INTERVAL)
        self.render_mode = render_mode
        self.run = self._begin(np.random.default_rng(0))
        self._names, self._lowest, self._highest = self._limits(actions)
        count = len(self._lowest)
        self.action_space = spaces.Box(-1.0, 1.0, (count,), np.float64)
        seen = self._seen()
        self.observation_space = spaces.Box(*_bounds(bounds, seen.shape), seen.shape, np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin a new episode of the environment. Return the observation at its start and an empty
        dictionary, as Gymnasium requires. ``seed`` is that of its random numbers, ``options`` are not used."""
        super().reset(seed=seed)
        self.run = self._begin(self.np_random)
        return self._seen(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Advance the simulation by one interval with an action (input values). Return observation, reward,
        terminated, truncated, and {"time": t} [s], as Gymnasium requires. The reward is the value of the user's
        function. Terminated is True if the user's ``is_over`` says so, or if a time step fails; the message is
        then added under "error". Truncated is True at the end of the duration.

        Raises:
            ParameterError: an action of another shape or with numbers that are not finite.
        """
        values = self._inputs_of(action, self._lowest.shape)
        info = self._move(values)
        seen = self._seen()
        is_over = "error" in info or (
            self._is_over is not None and bool(called(self._is_over, "is_over", seen, at=AFTER))
        )
        return seen, float(called(self._reward, "reward", seen, values, at=AFTER)), is_over, self._is_late, info

    def _inputs_of(self, action: Array, shape: tuple[int, ...]) -> Array:
        """Convert an ``action`` of the agent, numbers from -1 to 1, to values of the model's inputs in their
        units, of the same ``shape``. Numbers outside of this range are cut to it."""
        given = reals("action", action)
        if given.shape != shape or not np.isfinite(given).all():
            raise ParameterError(f"action must be finite numbers of shape {shape}, got {action!r}")
        return np.asarray(self._lowest + (np.clip(given, -1.0, 1.0) + 1.0) / 2 * (self._highest - self._lowest))

    def _move(self, values: Array) -> dict[str, Any]:
        """Set the input values, advance the simulation by the time steps of one interval, and return the
        dictionary {"time": t} with t in s. If a time step does not converge, the message is added under "error"
        and nothing is raised."""
        info = dict[str, Any]()
        self._set_inputs(values)
        try:
            self.run.step(self._steps)
        except ConvergenceError as error:
            info["error"] = str(error)
        info["time"] = self.run.time
        return info

    def _set_inputs(self, values: Array) -> None:
        """Set the inputs of the environment's run, which apply to the time steps that follow. ``values`` has
        the numbers of all inputs, one input after the other, in the order of the actions."""
        index = 0
        for name, count in self._names:
            self.run.inputs[name] = values[index : index + count]
            index += count

    @property
    def _is_late(self) -> bool:
        """Return whether the episode of the environment has reached its duration."""
        return self.run.time >= self._begun + self._duration - WHOLE * self._step_size

    def render(self) -> Any:
        """Return a picture of the mechanism now as an array of bytes, shape (height, width, 3); None without a
        render mode."""
        if self.render_mode is None:
            return None
        figure = self.run.instant.plot_mechanism(times=1)
        canvas = optional("matplotlib.backends.backend_agg", "plot").FigureCanvasAgg(figure)
        canvas.draw()
        picture = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        optional("matplotlib.pyplot", "plot").close(figure)
        return picture

    def _begin(self, generator: np.random.Generator) -> LiveRun:
        return self._start(self._built(generator))

    def _built(self, generator: np.random.Generator) -> Model:
        """Return the model of a new episode: the fixed model, or the result of the user's function for a random
        generator."""
        model = self._build if isinstance(self._build, Model) else called(self._build, "build", generator, at=BEGIN)
        if not isinstance(model, Model):
            raise ModelError(f"build must return a Model, got {model!r}")
        return model

    def _start(self, model: Model) -> LiveRun:
        """Start a live run of ``model`` at its initial state, with the step size of this environment, and
        return it. The sensors of observations are stored in ``self._sensors``, the begin of the run in
        ``self._begun``."""
        seen = called(self._observe, "observe", model, at=BEGIN) if callable(self._observe) else self._observe
        self._sensors = checked_sensors("observe", seen)
        run = model.start(self._step_size)
        self._begun = run.time
        return run

    def _seen(self) -> Array:
        parts = [np.atleast_1d(self.run.read(sensor)).ravel() for sensor in self._sensors]
        return np.concatenate([*parts, np.zeros(0)])

    def _limits(self, actions: Mapping[str, tuple[Any, Any]]) -> tuple[list[tuple[str, int]], Array, Array]:
        """Return the inputs that are actions as (name, size) pairs, and the lower and upper limits of all their
        components as two flat arrays. ``actions`` maps each input name to (lowest, highest), scalars or arrays of
        the input's size. ParameterError is raised for an empty mapping, limits of another size, non-finite limits
        or lowest >= highest."""
        if not isinstance(actions, Mapping) or not actions:
            raise ParameterError(f"actions must be limits by names of inputs, got {actions!r}")
        names, ends = [], ([], [])  # type: ignore[var-annotated]
        for name, limits in actions.items():
            size = len(self.run.inputs[name])
            if not isinstance(limits, tuple | list) or len(limits) != 2:
                raise ParameterError(f"actions of {name!r} must be (lowest, highest), got {limits!r}")
            for end, limit in zip(ends, limits, strict=True):
                found = reals(f"limit of {name!r}", limit)
                if found.shape not in ((), (size,)) or not np.isfinite(found).all():
                    raise ParameterError(
                        f"limits of {name!r} must be {how_many(size, 'finite number')}, got {limit!r}"
                    )
                end.append(np.broadcast_to(found, (size,)))
            names.append((name, size))
        low, high = (np.concatenate(end) for end in ends)
        if not (low < high).all():
            raise ParameterError(f"actions need lowest < highest, got {dict(actions)!r}")
        return names, low, high


class VectorEnv(gymnasium.vector.VectorEnv[Array, Array, Any]):
    """n environments that an agent steps together, each an ``Env`` of a mechanism of its own.

    ``reward`` and ``is_over`` take rows of all: observations (n, numbers) and actions (n, components) in units of
    the inputs, and give (n,). An environment whose episode ended begins a new one in the step after
    (``AutoresetMode.NEXT_STEP`` of Gymnasium: that action is not used, its reward is zero).

    Args:
        build, step, actions, observe, interval, duration, bounds: as of ``Env``.
        n: how many.
        reward: (observations, actions) -> (n,).
        is_over: observations -> (n,) truth values; None: never.
        threads: that share the steps; None: one for each core.
        lanes, specialize: as of ``Batch.simulate``.
        device: as of ``Batch.start``.

    Attributes:
        runs: live runs of these episodes.

    Raises:
        ParameterError: as ``Env``; rewards or ends of another shape; in ``step``, models that the device does not
            step.
        DeviceError: there is no such device.
    """

    metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        build: Model | Build,
        n: int,
        *,
        step: float,
        actions: Mapping[str, tuple[Any, Any]],
        observe: Sequence[Sensor] | Observe,
        reward: Callable[[Array, Array], Array],
        interval: float | None = None,
        duration: float = 10.0,
        is_over: Callable[[Array], Array] | None = None,
        bounds: tuple[Any, Any] = (-np.inf, np.inf),
        threads: int | None = 1,
        lanes: bool | None = None,
        specialize: bool = False,
        device: str | None = None,
    ) -> None:
        count, width = whole("n", n), lanes_for(whole("n", n), lanes, specialize)
        self._device, self._is_specialized = device_for(device, lanes, specialize), specialize
        if self._device is not None:
            width = count + 1
        workers = cores() if threads is None else whole("threads", threads)
        first = Env(
            build,
            step=step,
            actions=actions,
            observe=observe,
            reward=lambda seen, action: 0.0,
            interval=interval,
            duration=duration,
            bounds=bounds,
        )
        check_callable("reward", reward, "observations", "actions")
        if is_over is not None:
            check_callable("is_over", is_over, "observations")
        self._envs, self._reward, self._is_over = [first, *(copy(first) for _ in range(count - 1))], reward, is_over
        self._width, self._workers = width, workers
        self._rows_of_runs: LiveRows | None = None
        self._starts: dict[int, tuple[Model, SavedInstant]] = {}
        self.num_envs = count
        self.single_action_space, self.single_observation_space = first.action_space, first.observation_space
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)
        self._has_ended, self._begun = np.zeros(count, dtype=bool), np.zeros(count)

    @property
    def runs(self) -> list[LiveRun]:
        """Return the live runs of the present episodes. After a first access time steps take longer, since
        all runs are kept up to date."""
        return self._live.runs

    @property
    def _live(self) -> LiveRows:
        if self._rows_of_runs is None:
            raise ResetNeeded("episodes begin with reset(), call it before step() and runs")
        return self._rows_of_runs

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin new episodes in all environments. Return observations at their start, shape (n, numbers), and an
        empty dictionary. A whole number ``seed`` is the seed of the first environment's random numbers, increased
        by 1 for each next environment. A sequence has one seed for each, and None continues the random numbers.
        ``options`` are not used.

        Args:
            seed: of the first; the others have the numbers that follow. Or one for each.
            options: not used.

        Raises:
            ParameterError: another number of seeds.
        """
        n = self.num_envs
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + k for k in range(n)]
        else:
            seeds = list(seed)
        if len(seeds) != n:
            raise ParameterError(f"seed must be a whole number or {n} of them, got {seed!r}")
        self._has_ended[:] = False
        for env, own in zip(self._envs, seeds, strict=True):
            gymnasium.Env.reset(env, seed=own)
        if self._rows_of_runs is None:
            runs = [self._new_run(k, env._built(env.np_random)) for k, env in enumerate(self._envs)]
            groups = [range(begin, min(begin + self._width, n)) for begin in range(0, n, self._width)]
            self._rows_of_runs = LiveRows(
                runs, groups, self._width, self._workers, self._device, self._is_specialized
            )
            self._list_sensors()
        else:
            self._begin(range(n))
        return self._seen(), {}

    def step(self, actions: Array) -> tuple[Array, Array, BoolArray, BoolArray, dict[str, Any]]:
        """Advance all n environments by one interval with actions, shape (n, inputs). Return observations,
        rewards, terminated, truncated, and {"time": (n,)} [s]. An environment whose episode ended in the last call
        begins a new episode instead, with reward zero. If a time step fails, its episode is terminated, and the
        message is added under "error".

        The dictionary has "error" where steps failed.

        Raises:
            ParameterError: actions of another shape or with numbers that are not finite.
            gymnasium.error.ResetNeeded: before the first ``reset``.
        """
        n, first, live = self.num_envs, self._envs[0], self._live
        values = first._inputs_of(actions, (n, len(first._lowest)))
        begins, has_failed, info = self._has_ended.copy(), np.zeros(n, dtype=bool), dict[str, Any]()
        index = 0
        for name, count in first._names:
            live.set_input(name, values[:, index : index + count])
            index += count
        self._begin(np.flatnonzero(begins).tolist())
        for k, error in live.step(~begins, first._steps).items():
            has_failed[k] = True
            info.setdefault("error", np.full(n, None, dtype=object))[k] = str(error)
        seen = self._seen()
        info["time"] = live.time.copy()
        rewards = np.where(
            begins, 0.0, self._rows("reward", called(self._reward, "reward", seen, values, at=AFTER))
        )
        is_over, is_late = has_failed, live.time >= self._begun + first._duration - WHOLE * first._step_size
        if self._is_over is not None:
            is_over = is_over | (self._rows("is_over", called(self._is_over, "is_over", seen, at=AFTER)) != 0)
        is_over, is_late = is_over & ~begins, is_late & ~begins
        self._has_ended = is_over | is_late
        return seen, rewards, is_over, is_late, info

    def _begin(self, which: Sequence[int]) -> None:
        """Begin new episodes in the environments with the indices ``which``. Each environment calls its build
        function. If that returns the model of the last episode, unchanged, the run continues from its saved start.
        Otherwise a new run replaces it in ``self._live``, and the lists of sensors are made anew."""
        live, has_new = self._live, False
        for k in which:
            env = self._envs[k]
            model = env._built(env.np_random)
            known, saved = self._starts[k]
            if known is model and is_as_started(model, env.run):
                live.continue_run(k, saved)
            else:
                live.replace(k, self._new_run(k, model))
                has_new = True
        if has_new:
            self._list_sensors()

    def _new_run(self, k: int, model: Model) -> LiveRun:
        env = self._envs[k]
        env.run = env._start(model)
        self._starts[k], self._begun[k] = (model, env.run.save()), env.run.time
        return env.run

    def _list_sensors(self) -> None:
        """Store the sensors of all environments as one list for each position in an observation, so that they can
        be read together."""
        slots = range(len(self._envs[0]._sensors))
        self._sensors = [[env._sensors[slot] for env in self._envs] for slot in slots]

    def _seen(self) -> Array:
        """Return the observations of all environments, shape (n, numbers)."""
        n, live = self.num_envs, self._live
        columns = [live.read(slot, own).reshape(n, -1) for slot, own in enumerate(self._sensors)]
        return np.concatenate([*columns, np.zeros((n, 0))], axis=1)

    def _rows(self, name: str, values: Any) -> Any:
        result = np.asarray(values)
        if result.shape != (self.num_envs,) or result.dtype.kind not in "bif":
            raise ParameterError(f"{name} must return an array of shape ({self.num_envs},), got {values!r}")
        return result


def _bounds(bounds: Any, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return arrays of the least and greatest observations, both with the ``shape`` of an observation, from the
    user's ``bounds``. These are a pair of numbers or arrays of this shape; infinite entries are allowed.
    ParameterError is raised for anything else, and where least > greatest."""
    wanted = "bounds must be (least, greatest) of the observations"
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise ParameterError(f"{wanted}, got {bounds!r}")
    found = [reals("bounds", each) for each in bounds]
    if any(each.shape not in ((), shape) for each in found):
        raise ParameterError(f"{wanted}, numbers or arrays of shape {shape}, got {bounds!r}")
    low, high = (np.array(np.broadcast_to(each, shape)) for each in found)
    if not (low <= high).all():
        raise ParameterError(f"{wanted} with least <= greatest, got {bounds!r}")
    return low, high
