"""Forces as numbers of a library: of joints and elements, in beams, rods and strings (docs/theory.md, 8)."""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody, QuadraticStrains
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.section_forces import places_along, resultant_rows
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.absolute import with_total
from phlexible.bodies.string_law import LinearLaw, LogarithmicLaw, StringLaw, StVenantKirchhoffLaw, TensionOnly
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.functions import Row
from phlexible.description.interactions.rod_element import KEPT
from phlexible.description.joints.relations import JointRelation, RelationRow
from phlexible.description.mechanism.wholes import RodInModel
from phlexible.description.placed_wholes import PlacedRod, PlacedWhole
from phlexible.description.ports import PlacedBody, Port
from phlexible.elements.maxwell import Maxwell
from phlexible.elements.sections import CircularSection, RectangularSection
from phlexible.errors import ModelError
from phlexible.libraries.measured_numbers import MeasuredNumbers
from phlexible.libraries.number_tape import NumberTape, TapeOperation, Term
from phlexible.measure.reactions import is_of
from phlexible.measure.section_forces import rod_of_run, sections, stations_of_parts, strain_places
from phlexible.measure.sensors import Reaction, ReactionMoment
from phlexible.state.functions import FunctionSet
from phlexible.state.vectors import CarriedVector
from phlexible.state.wiring import total_weight

NORMAL, MOMENT_Y, MOMENT_Z = 0, 4, 5


class ForceNumbers:
    """Makes the numbers of one output.

    Args:
        name: of the output, for messages.
        measured: where numbers lie.
        tape: receives those that are found from them.
    """

    def __init__(self, name: str, measured: MeasuredNumbers, tape: NumberTape) -> None:
        self._name, self._measured, self._tape = name, measured, tape
        self._run, self._system = measured.run, measured.assembly.system

    def of_element(self, element: ForceElement | Drive | JointRelation) -> list[int]:
        """Along the coordinates of an element.

        Raises:
            ModelError: it has none in this model.
        """
        system = self._system
        if isinstance(element, Drive | JointRelation):
            parts = (*system.mechanism.drives, *system.mechanism.relations)
            numbers = [k for k, part in enumerate(parts, start=len(system.mechanism.joints)) if part is element]
            places = [self._measured.state("multiplier", int(system.layout.multiplier[k])) for k in numbers]
        else:
            own = [k for k, each in enumerate(system.forces) if each.element is element]
            places = [self._measured.state("force", k) for k in own]
        if not places:
            raise ModelError(f"{element!r} has no force along a coordinate in this model")
        return [self._tape.sum([(1.0, (place,))]) for place in places]

    def reaction(self, sensor: Reaction) -> list[int]:
        """Force or moment of a joint, with its drives, on its second attachment: sums of lambda dg/dx."""
        here = self._run.mechanism.joints[self._run.joint_index(sensor.joint)]
        is_moment = isinstance(sensor, ReactionMoment)
        terms: list[list[Term]] = [[], [], []]
        for number, part in enumerate(self._system.constraints):
            if part is not here and not (isinstance(part, Drive) and part.joint is here):
                continue
            begin, end = self._system.layout.multiplier[number : number + 2].tolist()
            rows = [self._system.owners[k].row for k in range(begin, end)]
            if any(isinstance(row, RelationRow) for row in rows):
                raise ModelError(
                    f"output {self._name!r}: {part} relates coordinates, whose reaction compiled models do not find"
                    f"; take ElementForce({part})"
                )
            functions = self._system.functions(rows)
            assert isinstance(functions, FunctionSet), "of plain rows"
            places = [own for own, _ in self._measured.vectors(self._name, functions.set.vectors)]
            mine = self._numbers_of_second(rows, functions.set.vectors, here.second)
            for r, row_terms in enumerate(functions.functions):
                multiplier = self._measured.state("multiplier", begin + r)
                for coefficient, first, second, timed in row_terms:
                    factors = (multiplier,) if timed is None else (multiplier, self._measured.path(timed))
                    for chord, other in ((first, second), (second, first)):
                        across = None
                        for weight, k in functions.chords[chord]:
                            if k not in mine or functions.set.vectors[k].is_point == is_moment:
                                continue
                            across = across or self._chord(functions.chords[other], places)
                            pull = coefficient * weight
                            for i in range(3):
                                if is_moment:
                                    crossed = self._tape.cross(pull, places[k], across)[i]
                                    terms[i] += [(w, (*own, *factors)) for w, own in crossed]
                                else:
                                    terms[i].append((pull, (across[i], *factors)))
        return [self._tape.sum(each) for each in terms]

    def _numbers_of_second(self, rows: Sequence[Row], vectors: Sequence[CarriedVector], port: Port) -> set[int]:
        numbers = {vector.key: k for k, vector in enumerate(vectors)}
        own = (v for row in rows for term in row.terms for v in term.vectors() if is_of(v, port))
        return {numbers[carried.key] for vector in own for _, carried in self._system.resolver.parts(vector)}

    def _chord(self, parts: Sequence[tuple[float, int]], places: Sequence[Sequence[int]]) -> list[int]:
        return self._tape.chord([(weight, places[k]) for weight, k in parts], total_weight(parts))

    # Beams and rods.

    def in_section(self, target: PlacedBody | PlacedWhole, x: float) -> list[int]:
        """(N, Q_y, Q_z, M_x, M_y, M_z) at a place.

        Raises:
            ModelError: no beam or rod.
        """
        if isinstance(target, PlacedRod):
            return self._in_rod(target, x)
        ((index, _, _, at),) = stations_of_parts(self._run, target, [x])
        placed = self._system.bodies[index]
        assert isinstance(placed.held, Beam) and isinstance(placed.data, FloatingBody), "as it is checked there"
        rows, viscosity = resultant_rows(placed.held, placed.data, float(at[0])), placed.data.viscosity
        first = -1 - self._measured.state("eta", int(self._system.layout.eta[index]))
        moved = [self._weighted(row, first, is_state=True) for row in rows.slopes]
        terms: list[list[Term]] = [self._terms(row, first, is_state=True) for row in rows.linear]
        for k, slope in enumerate(moved):
            for i in range(6):
                terms[i].append((float(rows.squares[i, k]) / 2, (slope, slope)))
        if viscosity:
            begin = int(self._system.layout.velocity[index + 1]) - rows.linear.shape[1]
            begin = self._measured.velocity(self._name, begin)
            rates = [self._weighted(row, begin) for row in rows.slopes]
            for i in range(6):
                terms[i] += self._terms(viscosity * rows.linear[i], begin)
                terms[i] += [
                    (viscosity * float(square), (slope, rate))
                    for square, slope, rate in zip(rows.squares[i], moved, rates, strict=True)
                ]
        if placed.data.relaxation:
            begin = sum(body.inner_count for body in self._system.frames[:index])
            for number, (share, _) in enumerate(placed.data.relaxation.pairs):
                first = -1 - self._measured.state("inner_strain", begin + number * rows.creep.shape[1])
                for i in range(6):
                    terms[i] += self._terms(share * rows.creep[i], first, is_state=True)
        return [self._tape.sum([term for term in each if term[0]]) for each in terms]

    def _branches(self, first: int, law: Maxwell | None) -> list[tuple[float, int]]:
        """Stiffness and place of the strain of each branch of a law, from a number of all branches on."""
        pairs = enumerate(law.pairs if law else (), start=first)
        return [(float(k), self._measured.state("branch_strain", number)) for number, (k, _) in pairs]

    def _first_branches(self) -> list[int]:
        """Numbers of the first branches of all forces of elements, and of the first one after them."""
        counts = [len(each.force.relaxation.pairs) if each.force.relaxation else 0 for each in self._system.forces]
        return list(accumulate(counts, initial=0))

    def _terms(self, row: Array, first: int, is_state: bool = False) -> list[Term]:
        """Of numbers that stand one after the other, of the state or of the velocities."""
        places = first + np.flatnonzero(row)
        chosen = zip(places.tolist(), row[places - first].tolist(), strict=True)
        return [(weight, (-1 - place if is_state else place,)) for place, weight in chosen]

    def _weighted(self, row: Array, first: int, is_state: bool = False) -> int:
        return self._tape.sum(self._terms(row, first, is_state))

    def _in_rod(self, target: PlacedRod, x: float) -> list[int]:
        """Linear between the two quadrature points beside a place."""
        rod, dimension = rod_of_run(self._run, target), self._system.dimension
        places, (at,) = strain_places(rod), places_along(target.length, [x]).tolist()
        left = int(np.clip(np.searchsorted(places, at) - 1, 0, max(len(places) - 2, 0)))
        points = [left] if len(places) == 1 else [left, left + 1]
        share = 0.0 if len(places) == 1 else (at - places[left]) / (places[left + 1] - places[left])
        rows = [point for each in rod.elements for point in each.functions(dimension)]
        natural = np.concatenate([each.natural for each in rod.elements])
        stiffness = np.concatenate([each.stiffness for each in rod.elements])
        kept, terms, constants = list(KEPT[dimension]), [list[Term]() for _ in range(6)], np.zeros(6)
        for point, weight in zip(points, (1 - share, share), strict=False):
            strains = self._functions(rows[point], rod.handle.body.viscosity)
            for i, kind in enumerate(kept):
                for j, own in enumerate(strains):
                    k = weight * float(stiffness[point][kind, kept[j]])
                    if k:
                        shifted = self._tape.sum([(1.0, (own,))], -float(natural[point, kept[j]]))
                        terms[kept[i]].append((k, (shifted,)))
            if rod.handle.body.relaxation:
                for i, found in enumerate(self._creep_of_rod(rod, point)):
                    terms[kept[i]] += [(weight * k, own) for k, own in found]
        return [self._tape.sum(each, constant) for each, constant in zip(terms, constants, strict=True)]

    def _creep_of_rod(self, rod: RodInModel, point: int) -> list[list[Term]]:
        """What branches add to the forces at a quadrature point, in the order of its strains."""
        dimension, firsts, own = self._system.dimension, self._first_branches(), {id(x) for x in rod.elements}
        places = [k for k, each in enumerate(self._system.forces) if id(each.element) in own]
        shares = [share for each in rod.elements for share in each.shares(dimension)][point]
        measure = float(np.concatenate([each.shape.measures for each in rod.elements])[point])
        found: list[list[Term]] = [[] for _ in shares]
        for j, number in enumerate(places[point * len(shares) :][: len(shares)]):
            for k, strain in self._branches(firsts[number], self._system.forces[number].force.relaxation):
                for i, row in enumerate(shares):
                    if row[j]:
                        found[i].append((float(row[j]) * k / measure, (strain,)))
        return found

    def _functions(self, rows: Sequence[Row], viscosity: float) -> list[int]:
        """w of rows, and with a viscosity D the values w + D dw/dt."""
        functions = self._system.functions(list(rows))
        assert isinstance(functions, FunctionSet), "of plain rows"
        if viscosity:
            self._measured.need_rates(self._name)
        vectors = self._measured.vectors(self._name, functions.set.vectors)
        places, rates = [own for own, _ in vectors], [own for _, own in vectors]
        found = []
        for terms, constant in zip(functions.functions, functions.constants.tolist(), strict=True):
            pairs: list[Term] = []
            for coefficient, a, b, timed in terms:
                assert timed is None, "strains know no time"
                first, second = (self._chord(functions.chords[y], places) for y in (a, b))
                pairs += [(coefficient, (first[i], second[i])) for i in range(3)]
                if viscosity:
                    moved = [self._chord(functions.chords[y], rates) for y in (a, b)]
                    pairs += [(viscosity * coefficient, (moved[0][i], second[i])) for i in range(3)]
                    pairs += [(viscosity * coefficient, (first[i], moved[1][i])) for i in range(3)]
            found.append(self._tape.sum(pairs, -constant))
        return found

    def stress(self, target: PlacedBody | PlacedWhole, x: float) -> int:
        """Normal stress of greatest size over the section: N/A, and that of bending with the sign of N/A.

        Raises:
            ModelError: as of ``in_section``, and a section without outline.
        """
        forces = self.in_section(target, x)
        (section,) = sections(self._run, target, np.array([x]))
        moments = [forces[MOMENT_Y], forces[MOMENT_Z]]
        match section:
            case CircularSection(diameter=diameter):
                lever = diameter / 2 / section.second_moment_y
                size = self._tape.of(TapeOperation.ROOT, self._tape.sum((1.0, (m, m)) for m in moments))
                bending = self._tape.sum([(lever, (size,))])
            case RectangularSection(width=width, height=height):
                sizes = [self._tape.of(TapeOperation.ROOT, self._tape.sum([(1.0, (m, m))])) for m in moments]
                levers = height / 2 / section.second_moment_y, width / 2 / section.second_moment_z
                bending = self._tape.sum((lever, (size,)) for lever, size in zip(levers, sizes, strict=True))
            case _:
                raise ModelError(
                    f"output {self._name!r}: the section at {x:g} m has no outline for a stress; take SectionForce"
                )
        mean = self._tape.sum([(1 / section.area, (forces[NORMAL],))])
        return self._tape.sum([(1.0, (mean,)), (1.0, (self._tape.of(TapeOperation.SIDE, bending, mean),))])

    # Strings.

    def tension(self, string: PlacedBody) -> list[int]:
        """N = S sqrt(C) at the quadrature points.

        Raises:
            ModelError: a string whose law users wrote, or of another model.
        """
        index = self._run.body_index(string, "string")
        data = self._system.bodies[index].data
        assert isinstance(data, AbsoluteBody), "strings alone have tensions"
        begin = self._first_branches()[-1]
        before = [
            each for body in self._system.nodal[: index - self._system.layout.frames] for each in body.strains
        ]
        begin += sum(len(each.relaxation.pairs) * len(each.weights) for each in before if each.relaxation)
        found = []
        for group in data.strains:
            count = len(group.relaxation.pairs) if group.relaxation else 0
            found += [
                self._tension(index, data, group, g, self._branches(begin + count * g, group.relaxation))
                for g in range(len(group.weights))
            ]
            begin += count * len(group.weights)
        return found

    def _tension(
        self, index: int, data: AbsoluteBody, group: QuadraticStrains, g: int, branches: list[tuple[float, int]]
    ) -> int:
        """Of one strain C = u . v of differences of nodes to the first one, with branches and the viscous part."""
        carrier = int(self._system.layout.carrier[index])
        nodes = [
            [self._measured.state("position", 3 * (carrier + int(k)) + i) for i in range(data.dimension)]
            for k in group.nodes[g]
        ]

        def vectors(own: list[list[int]]) -> list[list[int]]:
            return [
                self._tape.chord([*zip(rows[g].tolist(), own, strict=True)], float(with_total(rows)[g, -1]))
                for rows in (group.first, group.second)
            ]

        u, v = vectors(nodes)
        C = self._tape.sum((1.0, pair) for pair in zip(u, v, strict=True))
        pull = self._pull(C, group.law, branches)
        if not group.viscosity:
            return pull
        d, begin = data.dimension, int(self._system.layout.velocity[index])
        du, dv = vectors(
            [
                [self._measured.velocity(self._name, begin + d * int(k) + i) for i in range(d)]
                for k in group.nodes[g]
            ]
        )
        rate = self._tape.sum((1.0, pair) for pair in (*zip(du, v, strict=True), *zip(u, dv, strict=True)))
        viscous = group.viscosity * float(group.law.modulus) / 2, (self._tape.of(TapeOperation.ROOT, C), rate)
        if not isinstance(group.law, TensionOnly):
            return self._tape.sum([(1.0, (pull,)), viscous])
        strain, one = self._tape.sum([(1.0, (C,))], -1.0), self._tape.sum([], 1.0)
        is_taut = self._tape.sum([(0.5, (self._tape.of(TapeOperation.SIDE, one, strain),))], 0.5)
        return self._positive(self._tape.sum([(1.0, (pull,)), (viscous[0], (*viscous[1], is_taut))]))

    def _positive(self, x: int) -> int:
        """max(x, 0)."""
        return self._tape.sum([(0.5, (x,)), (0.5, (self._tape.of(TapeOperation.SIDE, x, x),))])

    def _pull(self, C: int, law: StringLaw, branches: list[tuple[float, int]]) -> int:
        """The tension of a law at C."""
        if isinstance(law, TensionOnly):
            return self._positive(self._pull(C, law.law, branches))
        stretch = self._tape.of(TapeOperation.ROOT, C)
        if not isinstance(law, LinearLaw | LogarithmicLaw | StVenantKirchhoffLaw):
            raise ModelError(
                f"output {self._name!r}: compiled models measure no forces of laws that users wrote; take positions"
                " of nodes, and the law of these"
            )
        EA = float(law.modulus)
        creep: list[Term] = [(k / 2, (strain, stretch)) for k, strain in branches]
        if isinstance(law, LinearLaw):
            return self._tape.sum([(EA, (stretch,)), *creep], -EA)
        strain = self._tape.sum([(1.0, (C,))], -1.0)
        if isinstance(law, LogarithmicLaw):
            return self._tape.sum([(EA / 2, (strain, self._tape.of(TapeOperation.INVERSE, stretch))), *creep])
        return self._tape.sum([(EA / 2, (strain, stretch)), *creep])  # of St. Venant and Kirchhoff
