"""Tables and labelled arrays of sensor readings and recorded numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import writing
from phlexible.extras import optional
from phlexible.measure.sensors import checked_sensors, reading_columns
from phlexible.results.files.fields import FIELDS, labels
from phlexible.state.recorded_run import RecordedRun

if TYPE_CHECKING:
    import pandas
    import xarray


# The raw numbers of a run as an xarray Dataset with names and units.


def to_xarray(run: RecordedRun) -> "xarray.Dataset":
    """Return the recorded arrays of a run as an xarray Dataset, a variable for each nonempty array, with dimensions
    by name and units.

    Without the others a table of it, ``to_xarray().to_dataframe()``, has rows.

    Raises:
        MissingExtraError: xarray is not installed.
    """
    xr = optional("xarray", "xarray")
    variables = {
        name: (
            field.dimensions,
            getattr(run.recording, name),
            {"units": field.units, "long_name": field.meaning},
        )
        for name, field in FIELDS.items()
        if getattr(run.recording, name).size
    }
    used = {dimension for dimensions, _, _ in variables.values() for dimension in dimensions}
    coordinates = {name: values for name, values in labels(run.system, run.recording).items() if name in used}
    dataset: xarray.Dataset = xr.Dataset(variables, coordinates, {"units": "SI"})
    return dataset


# What sensors measured as tables: data frames and text.

TIME = "time [s]"


def to_dataframe(run: RecordedRun, sensors: Sequence[Sensor]) -> "pandas.DataFrame":
    """Return a pandas table of the readings of the sensors ``sensors`` in a run, a column for each component
    by name and unit; the index is time [s]."""
    frames = optional("pandas", "xarray")
    found: pandas.DataFrame = frames.DataFrame(reading_columns(checked_sensors("sensors", sensors), run))
    found.index = frames.Index(run.time, name=TIME)
    return found


def to_csv(run: RecordedRun, path: str, sensors: Sequence[Sensor]) -> None:
    """Write time and the readings of the sensors ``sensors`` in a run to the file ``path`` of comma-separated
    text with a line of column names.

    Raises:
        ResultFileError: the file cannot be written.
    """
    found = reading_columns(checked_sensors("sensors", sensors), run)
    heads = ",".join(f'"{name}"' if "," in name else name for name in (TIME, *found))
    with writing(path):
        np.savetxt(path, np.column_stack([run.time, *found.values()]), "%.17g", ",", header=heads, comments="")
