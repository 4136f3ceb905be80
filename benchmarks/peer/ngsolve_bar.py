"""Matrices of a bar by NGSolve, for a Python that has it: ``python ngsolve_bar.py FILE``."""

import sys

import numpy as np
from ngsolve import BilinearForm, Grad, Id, InnerProduct, Sym, Trace, VectorH1, dx
from ngsolve.meshes import MakeStructured3DMesh
from scipy import sparse

LENGTH, WIDTH, HEIGHT = 0.5, 0.02, 0.03
YOUNGS_MODULUS, POISSON, DENSITY = 1e9, 0.3, 2700.0


def main():
    """Hexahedra of first order, 24 x 4 x 4: unknowns node after node."""
    mesh = MakeStructured3DMesh(
        hexes=True,
        nx=24,
        ny=4,
        nz=4,
        mapping=lambda x, y, z: (LENGTH * x, WIDTH * (y - 0.5), HEIGHT * (z - 0.5)),
    )
    space = VectorH1(mesh, order=1)
    u, v = space.TnT()
    shear = YOUNGS_MODULUS / (2 * (1 + POISSON))
    first = 2 * shear * POISSON / (1 - 2 * POISSON)

    def stress(strain):
        return 2 * shear * strain + first * Trace(strain) * Id(3)

    forms = {
        "stiffness": BilinearForm(InnerProduct(stress(Sym(Grad(u))), Sym(Grad(v))) * dx).Assemble(),
        "mass": BilinearForm(DENSITY * InnerProduct(u, v) * dx).Assemble(),
    }
    places = np.array([point.point for point in mesh.vertices])
    order = np.arange(3 * len(places)).reshape(3, -1).T.ravel()  # NGSolve numbers component after component
    parts = {}
    for name, form in forms.items():
        rows, columns, values = form.mat.COO()
        matrix = sparse.coo_array((np.array(values), (np.array(rows), np.array(columns)))).tocsr()
        matrix = matrix[order][:, order].tocsr()
        parts |= {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")}
    np.savez(sys.argv[1], nodes=places, **parts)


if __name__ == "__main__":
    main()
