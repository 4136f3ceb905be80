"""The raw numbers of a run, by the name under which results are used; they belong to the model's layer."""

from phlexible.model.recording import Recording as Recording
