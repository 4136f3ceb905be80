"""Models as environments of Gymnasium: ``phlexible.gym.Env`` (``pip install 'phlexible[gym]'``)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, called, check_callable, numbers, positive
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ConvergenceError, MissingExtraError, ModelError, ParameterError
from phlexible.extras import optional
from phlexible.measure.sensors import sensors
from phlexible.model import Model
from phlexible.results.live import LiveRun

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise MissingExtraError("gymnasium is needed here; install it with: pip install phlexible[gym]") from error

Build = Callable[[np.random.Generator], Model]
Observe = Callable[[Model], Sequence[Sensor]]
WHOLE = 1e-9


class Env(gymnasium.Env[Array, Array]):
    """A model that an agent steps: inputs of ``model.start`` are actions, sensors are observations.

    An action is an array of numbers between -1 and 1, one for each component of the inputs, which stand for their
    limits. It is held for an ``interval``; the energy that it supplies is exact. Angles of joints are observed
    between -pi and pi. An episode ends (terminated) where ``is_over`` says so or a step fails, and is cut
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
        self._steps = self._in_steps(interval)
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
        """A new episode; the observation at its begin and an empty dictionary."""
        super().reset(seed=seed)
        self.run = self._begin(self.np_random)
        return self._seen(), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One interval: observation, reward, terminated, truncated, {"time": t} or {"error": ...}.

        Raises:
            ParameterError: an action of another shape or with numbers that are not finite.
        """
        given = numbers("action", action)
        if given.shape != self._lowest.shape or not np.isfinite(given).all():
            raise ParameterError(f"action must be {len(self._lowest)} finite numbers, got {action!r}")
        values = self._lowest + (np.clip(given, -1.0, 1.0) + 1.0) / 2 * (self._highest - self._lowest)
        place = 0
        for name, count in self._names:
            self.run.inputs[name] = values[place : place + count]
            place += count
        info: dict[str, Any] = {}
        try:
            self.run.step(self._steps)
        except ConvergenceError as error:
            info["error"] = str(error)
        seen = self._seen()
        info["time"] = self.run.time
        is_over = "error" in info or (self._is_over is not None and bool(self._is_over(seen)))
        is_late = self.run.time >= self._begun + self._duration - WHOLE * self._step_size
        return seen, float(self._reward(seen, values)), is_over, is_late, info

    def render(self) -> Any:
        """The mechanism now as an array (height, width, 3) of bytes; None without a render mode."""
        if self.render_mode is None:
            return None
        figure = self.run.instant.plot_mechanism(times=1)
        canvas = optional("matplotlib.backends.backend_agg", "plot").FigureCanvasAgg(figure)
        canvas.draw()
        picture = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        optional("matplotlib.pyplot", "plot").close(figure)
        return picture

    def _begin(self, generator: np.random.Generator) -> LiveRun:
        at = "at the begin of an episode"
        model = self._build if isinstance(self._build, Model) else called(self._build, "build", generator, at=at)
        if not isinstance(model, Model):
            raise ModelError(f"build must return a Model, got {model!r}")
        seen = called(self._observe, "observe", model, at=at) if callable(self._observe) else self._observe
        self._sensors = sensors("observe", seen)
        run = model.start(self._step_size)
        self._begun = run.time
        return run

    def _seen(self) -> Array:
        parts = [np.atleast_1d(self.run.read(sensor)).ravel() for sensor in self._sensors]
        return np.concatenate([*parts, np.zeros(0)])

    def _in_steps(self, interval: float | None) -> int:
        if interval is None:
            return 1
        count = round(positive("interval", interval) / self._step_size)
        if count < 1 or abs(count * self._step_size - interval) > WHOLE * interval:
            raise ParameterError(f"interval must be a multiple of step = {self._step_size:g}, got {interval!r}")
        return count

    def _limits(self, actions: Mapping[str, tuple[Any, Any]]) -> tuple[list[tuple[str, int]], Array, Array]:
        """Names of inputs with their counts, and all limits."""
        if not isinstance(actions, Mapping) or not actions:
            raise ParameterError(f"actions must be limits by names of inputs, got {actions!r}")
        names, ends = [], ([], [])  # type: ignore[var-annotated]
        for name, limits in actions.items():
            size = len(self.run.inputs[name])
            if not isinstance(limits, tuple | list) or len(limits) != 2:
                raise ParameterError(f"actions of {name!r} must be (lowest, highest), got {limits!r}")
            for end, limit in zip(ends, limits, strict=True):
                found = numbers(f"limit of {name!r}", limit)
                if found.shape not in ((), (size,)) or not np.isfinite(found).all():
                    raise ParameterError(f"limits of {name!r} must be {size} finite numbers, got {limit!r}")
                end.append(np.broadcast_to(found, (size,)))
            names.append((name, size))
        low, high = (np.concatenate(end) for end in ends)
        if not (low < high).all():
            raise ParameterError(f"actions need lowest < highest, got {dict(actions)!r}")
        return names, low, high


def _bounds(given: Any, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Least and greatest observations, each of the shape of an observation; they may be infinite."""
    wanted = "bounds must be (least, greatest) of the observations"
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise ParameterError(f"{wanted}, got {given!r}")
    found = [numbers("bounds", each) for each in given]
    if any(each.shape not in ((), shape) for each in found):
        raise ParameterError(f"{wanted}, numbers or arrays of shape {shape}, got {given!r}")
    low, high = (np.array(np.broadcast_to(each, shape)) for each in found)
    if not (low <= high).all():
        raise ParameterError(f"{wanted} with least <= greatest, got {given!r}")
    return low, high
