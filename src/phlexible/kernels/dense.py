"""Small dense LU with partial pivoting and products of blocks that lie row by row in one array.

Blocks and vectors are given by their start in ``reals``, pivots by their start in ``ints``.
"""

from phlexible.kernels.compiled import compiled


@compiled
def factor(ints, reals, a, n, pivots):
    """LU of the (n, n) block a in place; False where it is singular or not finite."""
    for k in range(n):
        largest = 0.0
        row = k
        for i in range(k, n):
            value = abs(reals[a + i * n + k])
            if value > largest:
                largest = value
                row = i
        if not 0.0 < largest < 1e300:
            return False
        ints[pivots + k] = row
        if row != k:
            for j in range(n):
                x = reals[a + k * n + j]
                reals[a + k * n + j] = reals[a + row * n + j]
                reals[a + row * n + j] = x
        inverse = 1.0 / reals[a + k * n + k]
        for i in range(k + 1, n):
            x = reals[a + i * n + k] * inverse
            reals[a + i * n + k] = x
            if x != 0.0:
                for j in range(k + 1, n):
                    reals[a + i * n + j] -= x * reals[a + k * n + j]
    return True


@compiled
def solve(ints, reals, a, n, pivots, b, columns):
    """Solve with the factors of ``factor`` for the (n, columns) block b, in place."""
    for k in range(n):
        row = ints[pivots + k]
        if row != k:
            for j in range(columns):
                x = reals[b + k * columns + j]
                reals[b + k * columns + j] = reals[b + row * columns + j]
                reals[b + row * columns + j] = x
    for i in range(1, n):
        for k in range(i):
            x = reals[a + i * n + k]
            if x != 0.0:
                for j in range(columns):
                    reals[b + i * columns + j] -= x * reals[b + k * columns + j]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x = reals[a + i * n + k]
            if x != 0.0:
                for j in range(columns):
                    reals[b + i * columns + j] -= x * reals[b + k * columns + j]
        x = 1.0 / reals[a + i * n + i]
        for j in range(columns):
            reals[b + i * columns + j] *= x


@compiled
def solve_vector(ints, reals, a, n, pivots, b):
    """``solve`` for one right-hand side."""
    for k in range(n):
        row = ints[pivots + k]
        if row != k:
            x = reals[b + k]
            reals[b + k] = reals[b + row]
            reals[b + row] = x
    for i in range(1, n):
        x = 0.0
        for k in range(i):
            x += reals[a + i * n + k] * reals[b + k]
        reals[b + i] -= x
    for i in range(n - 1, -1, -1):
        x = 0.0
        for k in range(i + 1, n):
            x += reals[a + i * n + k] * reals[b + k]
        reals[b + i] = (reals[b + i] - x) / reals[a + i * n + i]


@compiled
def subtract_product(reals, a, rows, inner, b, columns, c):
    """c -= a b for blocks (rows, inner) and (inner, columns)."""
    for i in range(rows):
        for k in range(inner):
            x = reals[a + i * inner + k]
            if x != 0.0:
                for j in range(columns):
                    reals[c + i * columns + j] -= x * reals[b + k * columns + j]


@compiled
def multiply(reals, a, rows, columns, x, y):
    """y = a x for a (rows, columns) block."""
    for i in range(rows):
        s = 0.0
        for j in range(columns):
            s += reals[a + i * columns + j] * reals[x + j]
        reals[y + i] = s


@compiled
def form(reals, a, n, x, y):
    """x . a y for an (n, n) block."""
    s = 0.0
    for i in range(n):
        t = 0.0
        for j in range(n):
            t += reals[a + i * n + j] * reals[y + j]
        s += reals[x + i] * t
    return s


@compiled
def copy(reals, source, target, count):
    """target = source."""
    for i in range(count):
        reals[target + i] = reals[source + i]


@compiled
def fill(reals, target, count, value):
    """target = value."""
    for i in range(count):
        reals[target + i] = value
