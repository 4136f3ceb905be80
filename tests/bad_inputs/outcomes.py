"""One call, with one argument after the other replaced by each wrong value: what comes of it."""

import inspect
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import phlexible as ph
from bad_inputs.usual import USUAL, usual
from bad_inputs.wrong_values import simple_values, stage, wrong_values

OURS = tuple(kind for kind in vars(ph.errors).values() if isinstance(kind, type) and issubclass(kind, Warning))

NAMED = {"name": "named?"}  # of words: "no body is named 'x'"


@dataclass(frozen=True)
class Call:
    name: str  # for reports
    function: Callable[[Any], Callable[..., Any]]  # what is called, made of a stage
    good: Callable[[Any], dict[str, Any]]  # arguments that it takes, made of a stage
    takes: dict[str, frozenset[str]]  # by argument, labels of values that it accepts on purpose
    # anew after each call that took a value; the shared one where nothing changes it
    make_stage: Callable[[], Any] = stage
    # by argument, a pattern of what messages call it where users do not write its name
    words: dict[str, str] = field(default_factory=dict)
    # a pattern of the message by which it ends where all else is right, if the good arguments end it so: it
    # would go on to write or to serve something
    ends: str = "(?!)"
    is_whole: bool = False  # whether arguments that are not in ``takes`` are there, too, and accept the usual

    def accepted(self, here: Any) -> dict[str, frozenset[str]]:
        """Labels of accepted values by argument, of all arguments of the signature where the call is whole."""
        names = inspect.signature(self.function(here)).parameters if self.is_whole else ()
        return {name: USUAL[name] for name in names if name not in self.takes} | self.takes


def call_of(
    name: str,
    function: Callable[[Any], Callable[..., Any]],
    good: Callable[[Any], dict[str, Any]],
    names: str | None,
    takes: dict[str, frozenset[str]],
    *others: Any,
    **options: Any,
) -> Call:
    """A call of the arguments in ``names`` and ``takes``, or of all where ``names`` is None."""
    return Call(name, function, good, usual(names or "", **takes), *others, **options, is_whole=names is None)


def calling(
    function: Callable[..., Any],
    good: Callable[[Any], dict[str, Any]],
    names: str | None = None,
    /,
    make_stage: Callable[[], Any] = stage,
    **takes: frozenset[str],
) -> Call:
    """A function or class of the package under its own name; ``names`` and ``takes`` as for ``call_of``."""
    return call_of(function.__name__, lambda s: function, good, names, takes, make_stage)


# Refusals that name something else: what is wrong is there, or the argument is what another one lacks.
EXCUSED = {
    ("Belt", "joint_b", "joint"): "both are one joint, which is named",
    ("Gear", "joint_b", "joint"): "both are one joint, which is named",
    ("Screw", "slide", "None"): "then the joint must slide, too",
    ("DistributedForce of a table", "at", "None"): "then the value is no table",
    ("Env", "build", "foreign model"): "it has no such input, which is named",
    ("assemble", "fixed", "('1', '2', '3')"): "the name that no body has is quoted",
}


def is_named(call: Call, argument: str, label: str, value: Any, message: str) -> bool:
    """Whether a refusal says which argument it means; of a name or a file it may quote the text."""
    word = call.words.get(argument, f"{argument}|{argument.replace('_', ' ')}")
    quoted = rf"(?:^|[/'\"]){re.escape(value)}(?:['\"\s:]|$)" if isinstance(value, str) and value else "(?!)"
    patterns = rf"(?<![A-Za-z])(?:{word})(?![A-Za-z])", quoted
    return (call.name, argument, label) in EXCUSED or any(re.search(each, message) for each in patterns)


def outcome(call: Call, argument: str, label: str, here: Any = None) -> str:
    """Whether a value is refused, warned of or accepted; what else was raised, in words."""
    here = call.make_stage() if here is None else here
    value = simple_values()[label] if label in simple_values() else wrong_values(here)[label]
    return tried(call, argument, label, value, here)


def tried(call: Call, argument: str, label: str, value: Any, here: Any) -> str:
    function, arguments = call.function(here), {**call.good(here), argument: value}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function(**arguments)
        except ph.PhlexibleError as error:
            if re.search(call.ends, str(error)):
                return "accepted"
            named = is_named(call, argument, label, value, str(error))
            return "refused" if named else f"refused without naming the argument: {error!r}"
        except Exception as error:
            return f"raw {type(error).__name__}: {error}"
    foreign = [str(w.message) for w in caught if not issubclass(w.category, OURS)]
    if foreign:
        return f"foreign warning: {foreign[0]}"
    return "warned" if caught else "accepted"


def repeated(taken: frozenset[str]) -> set[str]:
    """Labels of accepted values that say no more than another one: 0.5 beside 1, all functions beside the first."""
    functions = [label for label in simple_values() if label in taken and label.startswith("f ->")]
    return set(functions[1:]) | {a for a, b in (("0.5", "1"), ("'1'", "'x'")) if {a, b} <= taken}


def surprises(call: Call) -> list[str]:
    """What neither refuses, nor warns, nor is listed as accepted; and what is listed and is not accepted."""
    found, here = [], call.make_stage()
    for argument, taken in call.accepted(here).items():
        for label in wrong_values(here).keys() - repeated(taken):
            result = outcome(call, argument, label, here)
            if result != "refused":  # what is refused leaves all as it was
                here = call.make_stage()
            expected = ("accepted", "warned") if label in taken else ("refused", "warned")
            if result not in expected:
                found.append(f"{call.name}({argument}={label}): {result}")
    return found
