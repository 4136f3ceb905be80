"""Elastic stiffness as L L^T: strain rates are L^T v and stresses s = L^T q with energy |s|^2 / 2.

Of a beam with von Karman strain the axial columns are the rows of the mean strains times the root of
their stiffness; of everything else the columns are scaled eigenvectors of the stiffness.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import FloatingBody
from phlexible.system.system import System

ZERO = 1e-13


def stress_factor(system: System) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """L, shape (sum of velocity counts, stresses), and names of the stresses [J^0.5]."""
    blocks, names = [], []
    for placed in system.bodies:
        assert isinstance(placed.data, FloatingBody), "the stress form refuses strings"
        factor = body_stress_factor(placed.data)
        blocks.append(np.vstack([np.zeros((placed.data.rigid_count, factor.shape[1])), factor]))
        names += [f"{placed.name} stress {k}" for k in range(factor.shape[1])]
    return sparse.csr_array(sparse.block_diag(blocks, "csr")), tuple(names)


def body_stress_factor(body: FloatingBody) -> Array:
    """L of one undeformed body, shape (n, stresses), L L^T = d2V/deta2 at eta = 0."""
    strain = body.strain
    axial = strain.rows.T * np.sqrt(strain.weights)
    values, vectors = np.linalg.eigh(strain.stiffness)
    kept = values > ZERO * values.max(initial=0.0)
    return np.hstack([axial, vectors[:, kept] * np.sqrt(values[kept])])
