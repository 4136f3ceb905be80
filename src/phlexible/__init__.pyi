"""The public names, each in one place: loaded when asked for, and read by type checkers."""

from . import errors as errors, gallery as gallery, gym as gym, jax as jax, torch as torch
from .bodies.beam.beam import Beam as Beam
from .bodies.beam.mesh import LumpedMass as LumpedMass
from .bodies.flexible.flexible_body import FlexibleBody as FlexibleBody
from .bodies.flexible.matrix_files import read_matrices as read_matrices
from .bodies.flexible.plate import Plate as Plate
from .bodies.material import Material as Material
from .bodies.rigid_body import PointMass as PointMass, RigidBody as RigidBody
from .bodies.rod import Rod as Rod
from .bodies.shell.section import Laminate as Laminate, OrthotropicMaterial as OrthotropicMaterial
from .bodies.shell.shell import Shell as Shell
from .bodies.soft_body import SoftBody as SoftBody
from .bodies.soft_law import (
    InvariantLaw as InvariantLaw,
    NeoHookean as NeoHookean,
    SoftLaw as SoftLaw,
    StVenantKirchhoff as StVenantKirchhoff,
)
from .bodies.string import String as String
from .bodies.string_law import (
    Law as Law,
    LinearLaw as LinearLaw,
    LogarithmicLaw as LogarithmicLaw,
    StVenantKirchhoffLaw as StVenantKirchhoffLaw,
)
from .derivatives.costs import Cost as Cost
from .derivatives.gradient import Objective as Objective, gradient as gradient
from .derivatives.linear_models import (
    ModeDerivatives as ModeDerivatives,
    ResponseDerivatives as ResponseDerivatives,
    mode_derivatives as mode_derivatives,
    response_derivatives as response_derivatives,
)
from .derivatives.sensitivity import Sensitivity as Sensitivity
from .description.interactions.contact import Contact as Contact
from .description.interactions.contact_members import hertz_stiffness as hertz_stiffness
from .description.interactions.feedback import Feedback as Feedback
from .description.interactions.force_elements import (
    Bushing as Bushing,
    Potential as Potential,
    SpringDamper as SpringDamper,
)
from .description.interactions.loads import (
    DistributedForce as DistributedForce,
    Force as Force,
    Pressure as Pressure,
    Torque as Torque,
)
from .description.interactions.surfaces import (
    Capsule as Capsule,
    MeshSurface as MeshSurface,
    Plane as Plane,
    Surface as Surface,
)
from .description.interactions.tendon import Tendon as Tendon
from .description.joints.joints import (
    Cylindrical as Cylindrical,
    Distance as Distance,
    Fixed as Fixed,
    Planar as Planar,
    Prismatic as Prismatic,
    Revolute as Revolute,
    Slider as Slider,
    Spherical as Spherical,
    Universal as Universal,
)
from .description.joints.relations import (
    Belt as Belt,
    Gear as Gear,
    Rack as Rack,
    Relation as Relation,
    Screw as Screw,
)
from .description.joints.rolling import Rolling as Rolling
from .description.joints.sliding import Sliding as Sliding
from .description.time_functions import Signal as Signal
from .elements.maxwell import Maxwell as Maxwell
from .elements.sections import (
    CircularSection as CircularSection,
    GeneralSection as GeneralSection,
    RectangularSection as RectangularSection,
    Section as Section,
    VaryingSection as VaryingSection,
)
from .errors import (
    AttachmentError as AttachmentError,
    ConvergenceError as ConvergenceError,
    DampingWarning as DampingWarning,
    DeviceError as DeviceError,
    DirectionWarning as DirectionWarning,
    EquilibriumError as EquilibriumError,
    FunctionError as FunctionError,
    JointGapError as JointGapError,
    LargeDeflectionWarning as LargeDeflectionWarning,
    LargeStrainWarning as LargeStrainWarning,
    LeftOutWarning as LeftOutWarning,
    MeshWarning as MeshWarning,
    MissingExtraError as MissingExtraError,
    ModelError as ModelError,
    ParameterError as ParameterError,
    PhlexibleError as PhlexibleError,
    PoleError as PoleError,
    ReductionWarning as ReductionWarning,
    RedundancyError as RedundancyError,
    RedundancyWarning as RedundancyWarning,
    ResultFileError as ResultFileError,
    SingularMassError as SingularMassError,
    SingularMatrixError as SingularMatrixError,
    SlackStringWarning as SlackStringWarning,
    StepWarning as StepWarning,
    StiffeningWarning as StiffeningWarning,
    StructureError as StructureError,
    UnitWarning as UnitWarning,
    UnstableEquilibriumWarning as UnstableEquilibriumWarning,
    UnusedPartWarning as UnusedPartWarning,
    VelocityError as VelocityError,
)
from .libraries.library import Library as Library, load_library as load_library
from .linear.frequency_response import inverse_input as inverse_input
from .linear.signals import JointForce as JointForce
from .measure.energy import EnergyOf as EnergyOf
from .measure.sensors import (
    Acceleration as Acceleration,
    Angle as Angle,
    AngularAcceleration as AngularAcceleration,
    AngularVelocity as AngularVelocity,
    Displacement as Displacement,
    ElasticDisplacement as ElasticDisplacement,
    ElementForce as ElementForce,
    JointAcceleration as JointAcceleration,
    JointPosition as JointPosition,
    JointRate as JointRate,
    Position as Position,
    Quaternion as Quaternion,
    Reaction as Reaction,
    ReactionMoment as ReactionMoment,
    Rotation as Rotation,
    SectionForce as SectionForce,
    Stress as Stress,
    Tension as Tension,
    Velocity as Velocity,
)
from .measure.state_force import StateForce as StateForce
from .measure.when import When as When
from .model import Model as Model
from .papers.floating_forms import linearized as linearized, with_momenta as with_momenta
from .papers.integrate import Trajectory as Trajectory, consistent_state as consistent_state, integrate as integrate
from .papers.mechanism_model import MechanismModel as MechanismModel
from .pictures.modes import mode_sweep as mode_sweep
from .port_hamiltonian.interconnection import (
    gyrator as gyrator,
    inverted as inverted,
    transformer as transformer,
    with_prefix as with_prefix,
)
from .port_hamiltonian.linear import LinearPHDAE as LinearPHDAE
from .port_hamiltonian.model import PortHamiltonianModel as PortHamiltonianModel
from .port_hamiltonian.structure_check import check_structure as check_structure
from .results.linear_model import LinearModel as LinearModel
from .results.motion import Motion as Motion
from .shapes.solids import (
    Box as Box,
    Cylinder as Cylinder,
    Sphere as Sphere,
    Torus as Torus,
    TriangleMesh as TriangleMesh,
)
from .tools.batch import Batch as Batch, BatchRuns as BatchRuns, LiveBatch as LiveBatch, batch as batch
from .tools.build import build as build
from .tools.identification import (
    Fit as Fit,
    identify as identify,
)
from .tools.inverse_dynamics import InverseDynamics as InverseDynamics, inverse_dynamics as inverse_dynamics
from .tools.optimal_inputs import OptimalInputs as OptimalInputs, optimal_inputs as optimal_inputs
from .tools.passive_control import (
    damping_injection as damping_injection,
    energy_shaping as energy_shaping,
    passive_observer as passive_observer,
    shared_energy_shaping as shared_energy_shaping,
)
from .tools.recordings import (
    RecordedModes as RecordedModes,
    RecordedResponse as RecordedResponse,
    Recording as Recording,
)
from .tools.study import Study as Study, samples as samples, study as study
from .tools.urdf import from_urdf as from_urdf
from .version import __version__ as __version__
