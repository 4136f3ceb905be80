"""Stiffness and mass of a shell per area of its mid-surface, from a material or from layers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    Array,
    Finite,
    Positive,
    RelaxationTime,
    convert_fields,
    finite,
    positive,
    set_fields,
    unit_vector,
    warn_of_degrees,
)
from phlexible.bodies.material import Material, warn_of_units
from phlexible.display import short_repr
from phlexible.errors import ParameterError

SHEAR_FACTOR = 5 / 6
SYMMETRIC = 1e-12
"""Share of the stiffness below which the coupling of stretching and bending is round-off."""


@dataclass(frozen=True, eq=False)
class ShellSection:
    """Stiffness and mass of a shell per area of its reference surface: what is integrated over its thickness.

    Attributes:
        thickness: [m].
        stiffness: the matrix (A, B; B, D) that gives the forces N_11, N_22, N_12 [N/m] and moments M_11, M_22, M_12
            [N] from the strains e_11, e_22, 2 e_12 and curvatures k_11, k_22, 2 k_12, shape (6, 6).
        shear: transverse shear stiffness of the forces Q_1, Q_2, shape (2, 2) [N/m].
        across: stiffness against a change of the thickness [N/m].
        mass: int rho dz [kg/m2].
        lever: distance of the centre of mass from the reference surface, along the director [m].
        gyration: radius of gyration of the thickness about the reference surface [m].
        heights: above the reference surface at which stresses are reported: top, middle and bottom of a single
            layer, top and bottom of each of several ones, from the top down, shape (h,) [m].
        laws: matrices there from strains to stresses, shape (h, 3, 3) [Pa].
    """

    thickness: float
    stiffness: Array
    shear: Array
    across: float
    mass: float
    lever: float
    gyration: float
    heights: Array
    laws: Array


@dataclass(frozen=True)
class OrthotropicMaterial:
    """A linear elastic material of a layer with fibres along one direction in the plane of the layer.

    Attributes:
        youngs_modulus: E_1 along the fibres [Pa].
        transverse_modulus: E_2 across the fibres in the plane of the layer [Pa].
        shear_modulus: G_12 in the plane of the layer, and G_13 between fibres and thickness [Pa].
        poissons_ratio: nu_12, contraction across the fibres over extension along them [-].
        density: rho [kg/m3].
        transverse_shear_modulus: G_23 across the fibres [Pa]; None: as ``shear_modulus``.
        viscosity: Kelvin-Voigt time tau [s], the same in all directions.

    Raises:
        ParameterError: a number is not finite or outside its range.

    Example:
        >>> carbon = ph.OrthotropicMaterial(140e9, 10e9, 5e9, 0.3, 1600.0)
        >>> carbon.plane_stress[:2, :2].round(-8) / 1e9
        array([[140.9,   3. ],
               [  3. ,  10.1]])
    """

    youngs_modulus: Positive
    transverse_modulus: Positive
    shear_modulus: Positive
    poissons_ratio: Finite
    density: Positive
    transverse_shear_modulus: Positive | None = None
    viscosity: RelaxationTime = field(default=0.0, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        convert_fields(self)
        if not self.poissons_ratio**2 < self.youngs_modulus / self.transverse_modulus:
            raise ParameterError(
                "poissons_ratio must be smaller than the root of youngs_modulus / transverse_modulus, "
                f"{np.sqrt(self.youngs_modulus / self.transverse_modulus):g}, got {self.poissons_ratio!r}"
            )
        warn_of_units(self.youngs_modulus, self.density)

    @property
    def plane_stress(self) -> Array:
        """Stiffness matrix of this orthotropic layer in plane stress, in axes along and across the fibres, shape
        (3, 3) [Pa]. It maps strains e_11, e_22, 2 e_12 to stresses s_11, s_22, s_12."""
        one, two, nu = self.youngs_modulus, self.transverse_modulus, self.poissons_ratio
        compliance = np.array([[1 / one, -nu / one, 0], [-nu / one, 1 / two, 0], [0, 0, 1 / self.shear_modulus]])
        return np.asarray(np.linalg.inv(compliance))


@dataclass(frozen=True)
class Laminate:
    """Layers of materials with fibres in several directions, from which a ``Shell`` is made.

    Stretching and bending are coupled where the layers are not symmetric about the middle of the thickness.

    Attributes:
        layers: from the bottom to the top, where the directors of the shell point to: a material (``Material`` or
            ``OrthotropicMaterial``), its thickness [m] and the angle of its fibres [rad] from ``axis``, about the
            directors.
        axis: direction from which angles count, projected on the shell, in its axes, shape (3,); None: along u of
            the surface, of a plate or cylinder along x.
        shear_factor: factor of the transverse shear stiffness [-].

    Raises:
        ParameterError: no layers, or one of another form.

    Example:
        >>> carbon = ph.OrthotropicMaterial(140e9, 10e9, 5e9, 0.3, 1600.0)
        >>> cross_ply = ph.Laminate([(carbon, 1e-3, 0.0), (carbon, 1e-3, np.pi / 2)])
        >>> strip = ph.Shell.plate(1.0, 0.1, cross_ply.thickness, cross_ply, elements=(8, 1))
        >>> round(strip.mass, 9)
        0.32
        >>> (cross_ply.stiffness[0, [0, 3]] / [1e6, 1e3]).round(2)  # stretching, and its coupling with bending
        array([150.97, -65.42])
    """

    layers: Sequence[tuple[Material | OrthotropicMaterial, float, float]]
    axis: ArrayLike | None = field(default=None, kw_only=True)
    shear_factor: Positive = field(default=SHEAR_FACTOR, kw_only=True)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        convert_fields(self)
        found = []
        for k, layer in enumerate(self.layers if isinstance(self.layers, list | tuple) else ()):
            if not (isinstance(layer, list | tuple) and len(layer) == 3):
                raise ParameterError(f"layers[{k}] must be (material, thickness, angle), got {layer!r}")
            material, name = layer[0], f"layers[{k}]"
            if not isinstance(material, Material | OrthotropicMaterial):
                raise ParameterError(f"{name} must begin with a Material or OrthotropicMaterial, got {material!r}")
            if getattr(material, "relaxation", None):
                raise ParameterError("material of a Shell has no relaxation; leave it out, or take viscosity=")
            thickness, angle = positive(f"thickness of {name}", layer[1]), finite(f"angle of {name}", layer[2])
            warn_of_degrees(f"angle of {name}", angle)
            found.append((material, thickness, angle))
        if not found:
            raise ParameterError(f"layers must be a list of (material, thickness, angle), got {self.layers!r}")
        if len({material.viscosity for material, _, _ in found}) > 1:
            raise ParameterError(
                "layers must have the same viscosity: the damping of a Shell is a share of its stiffness"
            )
        axis = None if self.axis is None else tuple(unit_vector("axis", self.axis).tolist())
        set_fields(self, layers=tuple(found), axis=axis)

    @property
    def thickness(self) -> float:
        """Thickness of this laminate [m], the sum over its layers."""
        return sum(thickness for _, thickness, _ in self.layers)

    @property
    def viscosity(self) -> float:
        """Kelvin-Voigt time of this laminate [s]: the value of its first layer, since all layers have the same
        value."""
        return self.layers[0][0].viscosity

    @property
    def stiffness(self) -> Array:
        """Stiffness matrix (A, B; B, D) of this laminate about the middle of its thickness, along and across
        ``axis``, shape (6, 6). It maps strains e_11, e_22, 2 e_12 and curvatures k_11, k_22, 2 k_12 to forces N_11,
        N_22, N_12 [N/m] and moments M_11, M_22, M_12 [N]."""
        return self.section(0.0).stiffness

    def section(self, offset: float) -> ShellSection:
        """Return stiffness, shear stiffness and mass per area of a shell of these layers, with the heights at
        which stress is reported. Plane-stress stiffnesses of the layers, rotated by their angles, are integrated
        over the thickness. Its middle is at ``offset`` [m] from the reference surface, along the director. Stress
        is reported at top and bottom of each layer (one layer: also its middle), from the top. Round-off entries
        become zero."""
        t = np.array([thickness for _, thickness, _ in self.layers])
        kinds = [_orthotropic(material) for material, _, _ in self.layers]
        z = offset + (np.cumsum(t) - t / 2 - t.sum() / 2)
        turns = [_strain_rotation(angle) for _, _, angle in self.layers]
        laws = np.array([turn.T @ kind.plane_stress @ turn for turn, kind in zip(turns, kinds, strict=True)])
        moments = np.array([[t, t * z], [t * z, t * z**2 + t**3 / 12]])
        stiffness = np.einsum("abk,kij->aibj", moments, laws).reshape(6, 6)
        scale = np.sqrt(np.diag(stiffness))
        stiffness[np.abs(stiffness) < SYMMETRIC * np.outer(scale, scale)] = 0.0
        masses = np.array([kind.density for kind in kinds]) * t
        shear = sum(_shear(kind, angle) * h for kind, (_, h, angle) in zip(kinds, self.layers, strict=True))
        shares = np.array([0.5, 0.0, -0.5] if len(t) == 1 else [0.5, -0.5])
        return ShellSection(
            thickness=float(t.sum()),
            stiffness=stiffness,
            shear=self.shear_factor * np.asarray(shear),
            across=float(sum(kind.transverse_modulus * h for kind, h in zip(kinds, t, strict=True))),
            mass=float(masses.sum()),
            lever=float(masses @ z / masses.sum()),
            gyration=float(np.sqrt(masses @ (z**2 + t**2 / 12) / masses.sum())),
            heights=(z[:, None] + np.outer(t, shares))[::-1].ravel(),
            laws=np.repeat(laws[::-1], len(shares), axis=0),
        )


def _orthotropic(material: Material | OrthotropicMaterial) -> OrthotropicMaterial:
    """Return a ``material`` as an orthotropic material: the material itself if it is orthotropic, else a new one
    with equal moduli in both directions and the same density."""
    if isinstance(material, OrthotropicMaterial):
        return material
    E, G = material.youngs_modulus, material.shear_modulus
    return OrthotropicMaterial(E, E, G, material.poissons_ratio, material.density)


def _strain_rotation(angle: float) -> Array:
    """Return the matrix (3, 3) that transforms strains e_11, e_22, 2 e_12 to axes rotated by an ``angle`` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2 * c * s, 2 * c * s, c * c - s * s]])


def _shear(material: OrthotropicMaterial, angle: float) -> Array:
    """Return the transverse shear moduli of an orthotropic layer in laminate axes, shape (2, 2) [Pa]. Its fibres
    are at an ``angle`` [rad] from the first axis. Along the fibres it is the shear modulus, across the fibres the
    transverse shear modulus, if given."""
    fibre = np.array([np.cos(angle), np.sin(angle)])
    along, across = material.shear_modulus, material.transverse_shear_modulus or material.shear_modulus
    return np.asarray(across * np.eye(2) + (along - across) * np.outer(fibre, fibre))
