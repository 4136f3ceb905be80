"""Units as texts, such as "N m/rad": their powers of SI base units."""

import re

BASES = ("kg", "m", "s", "rad")
FORCE = {"kg": 1, "m": 1, "s": -2}
DERIVED = {
    **{base: {base: 1} for base in BASES},
    "N": FORCE,
    "J": FORCE | {"m": 2},
    "Pa": FORCE | {"m": -1},
    "W": FORCE | {"m": 2, "s": -3},
    "Hz": {"s": -1},
    "1": {},
}
FACTOR = re.compile(r"([A-Za-z]+|1)(?:\^?([\d.]+))?$")


def base_powers(unit: str) -> dict[str, float] | None:
    """Return the nonzero powers of kg, m, s and rad in a ``unit``, as a dictionary. For "N m/rad" they are 1, 2,
    -2 and -1. Factors are separated by spaces, each with an optional exponent as in "m2" or "m^0.5"; all factors
    after a "/" count negative. Return None for an empty unit or an unknown factor."""
    powers = dict.fromkeys(BASES, 0.0)
    for index, part in enumerate(unit.split("/")):
        for factor in part.split():
            match = FACTOR.match(factor)
            if match is None or match[1] not in DERIVED:
                return None
            for base, power in DERIVED[match[1]].items():
                powers[base] += (-1 if index else 1) * float(match[2] or 1) * power
    return {base: power for base, power in powers.items() if power} if unit.split() else None
