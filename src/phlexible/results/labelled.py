"""The raw numbers of a run as an xarray Dataset with names and units."""

from typing import TYPE_CHECKING

from phlexible.observables.run import RecordedRun
from phlexible.results.extras import optional
from phlexible.results.files.fields import FIELDS, labels

if TYPE_CHECKING:
    import xarray


def to_xarray(run: RecordedRun) -> "xarray.Dataset":
    """One variable for each array of the recording that has entries, with dimensions by name.

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
