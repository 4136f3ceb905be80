"""A case of every sensor, on one model."""

import phlexible as ph

SENSOR_CASES = {
    ph.Displacement: lambda m: ph.Displacement(m["beam"].end, (1, 2, 0)),
    ph.Velocity: lambda m: ph.Velocity(m["beam"].end, (0, 1, 1)),
    ph.Acceleration: lambda m: ph.Acceleration(m["beam"].end, (0, 0, 1)),
    ph.Angle: lambda m: ph.Angle(m["beam"].end, (0, 1, 0)),
    ph.AngularVelocity: lambda m: ph.AngularVelocity(m["beam"].end, (0, 1, 0)),
    ph.AngularAcceleration: lambda m: ph.AngularAcceleration(m["beam"].end, (0, 1, 0)),
    ph.Position: lambda m: ph.Position(m["beam"].end),
    ph.ElasticDisplacement: lambda m: ph.ElasticDisplacement(m["beam"].end),
    ph.Rotation: lambda m: ph.Rotation(m["beam"]),
    ph.Quaternion: lambda m: ph.Quaternion(m["beam"].end),
    ph.JointPosition: lambda m: ph.JointPosition(m.joints[0]),
    ph.JointRate: lambda m: ph.JointRate(m.joints[0], 0),
    ph.JointAcceleration: lambda m: ph.JointAcceleration(m.joints[0]),
    ph.Reaction: lambda m: ph.Reaction(m.joints[0], "body"),
    ph.ReactionMoment: lambda m: ph.ReactionMoment(m.joints[0]),
    ph.ElementForce: lambda m: ph.ElementForce(m.elements[0]),
    ph.SectionForce: lambda m: ph.SectionForce(m["beam"], 0.3),
    ph.Stress: lambda m: ph.Stress(m["beam"], 0.3),
    ph.Tension: lambda m: ph.Tension(m["rope"]),
    ph.EnergyOf: lambda m: ph.EnergyOf("kinetic"),
}
"""model -> sensor, by class."""


def measured_model() -> ph.Model:
    """A beam on a hinge with a spring and a load across, and a string that is held at both ends."""
    model = ph.Model(gravity=(0.0, 0.0, -9.81))
    steel = ph.Material(2e11, 7800.0)
    beam = model.add(ph.Beam(1.0, ph.CircularSection(0.01), steel, elements=2), "beam")
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start, axis=(0, 1, 0)))
    model.apply(hinge.spring(30.0))
    model.apply(ph.Force(beam.end, (0.0, 2.0, 0.0)))
    ends = (0.0, 1.0, 0.0), (0.6, 1.0, 0.0)
    rope = model.add(ph.String(0.5, 0.1, 4, ph.LogarithmicLaw(50.0)), "rope", shape=ends)
    for place, end in zip(ends, (rope.start, rope.end), strict=True):
        model.connect(ph.Spherical(model.ground.at(place), end))
    return model
