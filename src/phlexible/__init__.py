"""Flexible multibody dynamics in port-Hamiltonian form.

Bodies are immutable descriptions, a ``Model`` places and joins them, ``Model.simulate`` returns a
``Motion``. SI units, angles in radians. ``phlexible.gallery`` holds ready models.
"""

from phlexible import errors, gallery
from phlexible.bodies.beam import Beam
from phlexible.bodies.material import Material
from phlexible.bodies.point_mass import PointMass
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.string import String
from phlexible.bodies.string_law import LinearLaw, LogarithmicLaw, StVenantKirchhoffLaw
from phlexible.bodies.user_law import Law
from phlexible.elements.sections import CircularSection, RectangularSection, Section
from phlexible.errors import (
    AttachmentError,
    ConvergenceError,
    EquilibriumError,
    JointGapError,
    MissingExtraError,
    ModelError,
    ParameterError,
    PhlexibleError,
    PoleError,
    RedundancyError,
    ResultFileError,
    SingularMassError,
    SlackStringWarning,
    StructureError,
    VelocityError,
)
from phlexible.joints.cylindrical import Cylindrical
from phlexible.joints.distance import Distance
from phlexible.joints.fixed import Fixed
from phlexible.joints.loads import Force, Torque
from phlexible.joints.planar import Planar
from phlexible.joints.prismatic import Prismatic
from phlexible.joints.revolute import Revolute
from phlexible.joints.slider import Slider
from phlexible.joints.spherical import Spherical
from phlexible.joints.universal import Universal
from phlexible.linear_analysis.signals import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Displacement,
    Velocity,
)
from phlexible.port_hamiltonian.adapted import inverted, with_prefix
from phlexible.port_hamiltonian.interconnection import gyrator, transformer
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import PortHamiltonianModel
from phlexible.port_hamiltonian.structure_check import check_structure
from phlexible.results.motion import Motion
from phlexible.system import Model
from phlexible.version import __version__

__all__ = [
    "Acceleration",
    "Angle",
    "AngularAcceleration",
    "AngularVelocity",
    "AttachmentError",
    "Beam",
    "CircularSection",
    "ConvergenceError",
    "Cylindrical",
    "Displacement",
    "Distance",
    "EquilibriumError",
    "Fixed",
    "Force",
    "JointGapError",
    "Law",
    "LinearLaw",
    "LinearPHDAE",
    "LogarithmicLaw",
    "Material",
    "MissingExtraError",
    "Model",
    "ModelError",
    "Motion",
    "ParameterError",
    "PhlexibleError",
    "Planar",
    "PointMass",
    "PoleError",
    "PortHamiltonianModel",
    "Prismatic",
    "RectangularSection",
    "RedundancyError",
    "ResultFileError",
    "Revolute",
    "RigidBody",
    "Section",
    "SingularMassError",
    "SlackStringWarning",
    "Slider",
    "Spherical",
    "StVenantKirchhoffLaw",
    "String",
    "StructureError",
    "Torque",
    "Universal",
    "Velocity",
    "VelocityError",
    "__version__",
    "check_structure",
    "errors",
    "gallery",
    "gyrator",
    "inverted",
    "transformer",
    "with_prefix",
]
