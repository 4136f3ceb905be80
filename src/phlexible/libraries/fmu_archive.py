"""FMUs of compiled models: description in XML, table of variables in C, archive."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from phlexible.algebra.units import base_powers
from phlexible.display import distinct, identifier
from phlexible.libraries.c_text import records
from phlexible.libraries.data import ModelData
from phlexible.libraries.linking import write_archive
from phlexible.measure.sensors import XYZ
from phlexible.version import __version__

FOLDERS = {
    3: {
        "linux-x86_64": "x86_64-linux",
        "linux-aarch64": "aarch64-linux",
        "windows-x86_64": "x86_64-windows",
        "macos-arm64": "aarch64-darwin",
        "macos-x86_64": "x86_64-darwin",
    },
    2: {"linux-x86_64": "linux64", "windows-x86_64": "win64", "macos-x86_64": "darwin64"},
}
"""Folders of binaries, by the version of FMI and the platform."""


@dataclass(frozen=True)
class FmuVariable:
    """Scalar variable of an FMU; its value reference is its index among all variables.

    Attributes:
        name: with letters, digits, _ and the dot of a component of an input.
        kind: "TIME", "INPUT", "OUTPUT" or "PARAMETER".
        number: of the input, output or parameter.
        component: of it.
        unit: SI.
        description: in words.
        start: of an input or parameter.
        follows: inputs change it at once: an acceleration.
        ends: of the range of a parameter.
        is_tunable: a parameter that may change between steps.
    """

    name: str
    kind: str
    number: int
    component: int
    unit: str
    description: str
    start: float = 0.0
    follows: bool = False
    ends: tuple[float, float] | None = None
    is_tunable: bool = False


@dataclass(frozen=True, eq=False)
class FmuFiles:
    """Description and header of an FMU, without its binaries.

    Args:
        data: of the model.
        version: of FMI, 2 or 3.
        duration: usual end [s]; None: not said.
    """

    data: ModelData
    version: int
    duration: float | None = None

    @property
    def variables(self) -> tuple[FmuVariable, ...]:
        """Return the scalar variables of an FMU in the order time, inputs, outputs, parameters, each with a unique
        name, unit and description. Vectors become one variable for each component. Inputs and parameters have
        start values, parameters also their ranges."""
        taken, found = {"time"}, [FmuVariable("time", "TIME", 0, 0, "s", "time")]

        def named(name: str) -> str:
            own = distinct(identifier(name), taken, "_")
            taken.add(own)
            return own

        for number, given in enumerate(self.data.inputs):
            name, several = named(given.name), len(given.start) > 1
            for k, start in enumerate(given.start.tolist()):
                word = f"{name}.{XYZ[k]}" if several else name
                found.append(FmuVariable(word, "INPUT", number, k, given.unit, given.name, start))
        for number, output in enumerate(self.data.outputs.outputs):
            name, count = named(output.name), output.size
            parts = [identifier(each) for each in output.components] or [str(k + 1) for k in range(count)]
            for k in range(count):
                word = name if count == 1 else f"{name}_{parts[k]}"
                found.append(
                    FmuVariable(
                        word, "OUTPUT", number, k, output.unit, output.description, follows=output.is_acceleration
                    )
                )
        own = self.data.parameters
        for number, each in enumerate(() if own is None else own.ranges):
            words = f"{each.name}, from {each.low:g} to {each.high:g}" + f" {each.unit}" * bool(each.unit)
            found.append(
                FmuVariable(
                    named(each.name),
                    "PARAMETER",
                    number,
                    0,
                    each.unit,
                    words,
                    each.usual,
                    ends=(each.low, each.high),
                    is_tunable=own is not None and own.tunable[number],
                )
            )
        return tuple(found)

    @property
    def token(self) -> str:
        """Return the instantiation token (GUID) of an FMU as text: a digest of its C header and the FMI version,
        so that it is equal for equal models."""
        digest = hashlib.sha256((self.data.header() + str(self.version)).encode()).hexdigest()
        return f"{{{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}}}"

    @property
    def header(self) -> str:
        """Return the text of the C header ``fmu_data.h`` with the table of an FMU's variables. Each row has kind
        (time, input, output, parameter), number, component, and whether it is an acceleration, which depends on
        inputs. The token that identifies the FMU is defined too."""
        rows = [(f"PH_{each.kind}", each.number, each.component, int(each.follows)) for each in self.variables]
        lines = [
            f"#define PH_TOKEN {json.dumps(self.token)}",
            "enum { PH_TIME, PH_INPUT, PH_OUTPUT, PH_PARAMETER };",
            *records("ph_variable", "int kind, number, component, follows;", {"ph_variables": rows}),
            f"#define PH_VARIABLES {len(self.variables)}",
        ]
        return "".join(f"{line}\n" for line in lines)

    @property
    def description(self) -> bytes:
        """Return the content of ``modelDescription.xml`` of an FMU (version 2 or 3) as bytes in UTF-8. It lists
        capabilities of co-simulation, units, the default experiment, variables and the dependencies of outputs."""
        is_two, name = self.version == 2, identifier(self.data.name)
        root = Element("fmiModelDescription", fmiVersion=f"{self.version}.0", modelName=self.data.name)
        root.set("guid" if is_two else "instantiationToken", self.token)
        root.set("generationTool", f"phlexible {__version__}")
        root.set("variableNamingConvention", "flat")
        if is_two:
            root.set("numberOfEventIndicators", "0")
        known = {"modelIdentifier": name, "canHandleVariableCommunicationStepSize": "true"}
        state = "FMUstate" if is_two else "FMUState"
        known |= {f"canGetAndSet{state}": "true", f"canSerialize{state}": "true"}
        known["providesDirectionalDerivative" + "s" * (not is_two)] = "true"
        if not is_two:
            known["fixedInternalStepSize"] = repr(self.data.step)
        SubElement(root, "CoSimulation", known)
        units = SubElement(root, "UnitDefinitions")
        for unit in dict.fromkeys(each.unit for each in self.variables):
            if (found := base_powers(unit)) is None:
                continue
            powers = {base: f"{power:g}" for base, power in found.items()}
            SubElement(SubElement(units, "Unit", name=unit), "BaseUnit", powers)
        usual = {"startTime": repr(self.data.origin), "stepSize": repr(self.data.step)}
        if self.duration is not None:
            usual["stopTime"] = repr(self.data.origin + self.duration)
        SubElement(root, "DefaultExperiment", usual)
        self._write_variables(SubElement(root, "ModelVariables"))
        self._write_structure(SubElement(root, "ModelStructure"))
        indent(root)
        return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root)

    def _write_variables(self, parent: Element) -> None:
        causality = {"TIME": "independent", "INPUT": "input", "OUTPUT": "output", "PARAMETER": "parameter"}
        for reference, each in enumerate(self.variables):
            words = {"name": each.name, "valueReference": str(reference), "causality": causality[each.kind]}
            varies = "continuous" if each.ends is None else "tunable" if each.is_tunable else "fixed"
            words |= {"variability": varies, "description": each.description}
            numbers = {"unit": each.unit} if base_powers(each.unit) is not None else {}
            if each.ends is not None:
                numbers |= {"min": repr(each.ends[0]), "max": repr(each.ends[1])}
            if each.kind in ("INPUT", "PARAMETER"):
                numbers["start"] = repr(each.start)
            if self.version == 3:
                SubElement(parent, "Float64", words | numbers)
                continue
            if each.kind == "OUTPUT":
                words["initial"] = "calculated"
            SubElement(SubElement(parent, "ScalarVariable", words), "Real", numbers)

    def _write_structure(self, parent: Element) -> None:
        """Add the outputs of an FMU with their dependencies to ``parent``, the XML element of its model structure.
        Outputs depend on no input, and in FMI 2 list the time if the model depends on it. For accelerations the
        list is omitted, which means that they depend on all inputs; it is also omitted for initial values of a
        model with parameters.
        """
        is_two, outputs = self.version == 2, [k for k, each in enumerate(self.variables) if each.kind == "OUTPUT"]
        own = "" if self.data.is_steady else str(int(is_two))  # of the time, the first variable
        for words in ("Outputs", "InitialUnknowns") if is_two else ("Output", "InitialUnknown"):
            within = SubElement(parent, words) if is_two and outputs else parent
            for k in outputs:
                found = SubElement(within, "Unknown", index=str(k + 1)) if is_two else SubElement(within, words)
                if not is_two:
                    found.set("valueReference", str(k))
                if words.startswith("Initial") and self.data.parameters is not None:
                    continue  # the start follows parameters
                if not self.variables[k].follows:
                    found.set("dependencies", own)


def write_fmu(files: FmuFiles, binaries: Sequence[tuple[str, str, bytes]], path: Path) -> None:
    """Write an FMU to the file ``path``: a zip archive of the XML model description and of compiled libraries for
    one or more platforms. ``binaries`` are platform folder, file suffix and content of each library; the libraries
    are named after the model's identifier.

    Args:
        files: its description.
        binaries: folder, suffix and content of each library.
        path: of the FMU.

    Raises:
        ResultFileError: it cannot be written.
    """
    name = identifier(files.data.name)
    libraries = {f"binaries/{folder}/{name}{suffix}": content for folder, suffix, content in binaries}
    write_archive({"modelDescription.xml": files.description, **libraries}, path)
