"""What sensors measured as tables: data frames and text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phlexible.errors import ResultFileError
from phlexible.observables.reader import Reader
from phlexible.results.extras import optional
from phlexible.sensors.sensor import Sensor, columns, sensors

if TYPE_CHECKING:
    import pandas

TIME = "time [s]"


def to_dataframe(reader: Reader, given: Sequence[Sensor]) -> "pandas.DataFrame":
    """A column a component, by name and unit; the index is time."""
    frames = optional("pandas", "xarray")
    found: pandas.DataFrame = frames.DataFrame(columns(sensors("sensors", given), reader))
    found.index = frames.Index(reader.time, name=TIME)
    return found


def to_csv(reader: Reader, path: str, given: Sequence[Sensor]) -> None:
    """The same as comma-separated text; names that hold commas stand in quotation marks.

    Raises:
        ResultFileError: the file cannot be written.
    """
    found = columns(sensors("sensors", given), reader)
    heads = ",".join(f'"{name}"' if "," in name else name for name in (TIME, *found))
    try:
        np.savetxt(path, np.column_stack([reader.time, *found.values()]), "%.17g", ",", header=heads, comments="")
    except OSError as error:
        raise ResultFileError(f"{path} cannot be written: {error.strerror or error}") from error
