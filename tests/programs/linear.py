"""Dense linear algebra by hand: triangular solves with ragged slices, factorizations, a tridiagonal solver."""

import numpy as np


def forward(L, b):
    """A lower triangle, with a dot that grows."""
    x = np.zeros_like(b)
    for i in range(L.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


def backward(U, b):
    """An upper triangle, in place, from the end."""
    n = U.shape[0]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - np.dot(U[i, i + 1 :], b[i + 1 :])) / U[i, i]


def by_columns(L, b):
    """The column form: what is solved is taken from the rest."""
    for j in range(len(b)):
        b[j] /= L[j, j]
        b[j + 1 :] -= b[j] * L[j + 1 :, j]
    return b


def lu(A):
    """Without pivots, in place, with outer products of ragged slices."""
    for k in range(A.shape[0] - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


def solve(A, b):
    """Gauss with row exchanges; `LinAlgError` on a zero pivot."""
    n = len(b)
    order = list(range(n))
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(A[k:, k])))
        if A[pivot, k] == 0:
            raise np.linalg.LinAlgError("singular matrix")
        if pivot != k:
            A[[k, pivot]] = A[[pivot, k]]
            b[k], b[pivot] = b[pivot], b[k]
            order[k], order[pivot] = order[pivot], order[k]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    x = np.empty(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - (A[i, i + 1 :] * x[i + 1 :]).sum()) / A[i, i]
    return x, order


def determinant(A):
    """By elimination on a copy, `return 0.0` from within."""
    A = A.copy()
    sign = 1
    for k in range(A.shape[0]):
        p = k
        while p < A.shape[0] and A[p, k] == 0:
            p += 1
        if p == A.shape[0]:
            return 0.0
        if p != k:
            A[k], A[p] = A[p].copy(), A[k].copy()
            sign = -sign
        A[k + 1 :] -= np.outer(A[k + 1 :, k] / A[k, k], A[k])
    return sign * float(np.prod(np.diag(A)))


def cholesky(A):
    """Row by row with squares and dots of growing length."""
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            L[i, j] = (A[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
        d = A[i, i] - (L[i, :i] ** 2).sum()
        if d <= 0:
            return None
        L[i, i] = np.sqrt(d)
    return L


def gram_schmidt(V):
    """Orthonormal columns; columns that depend on others are dropped."""
    basis = []
    for j in range(V.shape[1]):
        v = V[:, j].copy()
        for q in basis:
            v -= (q @ v) * q
        norm = np.sqrt(v @ v)
        if norm < 1e-9:
            continue
        basis.append(v / norm)
    return np.stack(basis, axis=1)


def householder(A):
    """QR with reflections of the lower right block."""
    m, n = A.shape
    Q = np.eye(m)
    for k in range(min(m - 1, n)):
        x = A[k:, k]
        v = x.copy()
        v[0] += np.sign(x[0]) * np.linalg.norm(x) if x[0] else np.linalg.norm(x)
        v /= np.linalg.norm(v)
        A[k:, k:] -= 2.0 * np.outer(v, v @ A[k:, k:])
        Q[:, k:] -= 2.0 * np.outer(Q[:, k:] @ v, v)
    return Q


def givens(H):
    """An upper Hessenberg matrix made triangular by rotations of two rows."""
    for i in range(H.shape[0] - 1):
        r = np.hypot(H[i, i], H[i + 1, i])
        if r == 0:
            continue
        c, s = H[i, i] / r, H[i + 1, i] / r
        H[i, i:], H[i + 1, i:] = c * H[i, i:] + s * H[i + 1, i:], c * H[i + 1, i:] - s * H[i, i:]
    return H


def thomas(a, b, c, d):
    """A tridiagonal system: a recurrence forwards, another backwards."""
    n = len(d)
    cp, dp = np.empty(n), np.empty(n)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.empty(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def jacobi_rotations(A, sweeps):
    """Eigenvalues of a symmetric matrix; pairs of rows and columns turn."""
    n = A.shape[0]
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) < 1e-12:
                    continue
                theta = 0.5 * np.arctan2(2 * A[p, q], A[q, q] - A[p, p])
                c, s = np.cos(theta), np.sin(theta)
                row_p, row_q = A[p].copy(), A[q].copy()
                A[p], A[q] = c * row_p - s * row_q, s * row_p + c * row_q
                col_p, col_q = A[:, p].copy(), A[:, q].copy()
                A[:, p], A[:, q] = c * col_p - s * col_q, s * col_p + c * col_q
    return np.sort(np.diag(A))


def well(rng, n):
    return rng.random((n, n)) + n * np.eye(n)


def half_singular(rng, n):
    A = rng.integers(-2, 3, (n, n)).astype(float)
    if rng.random() < 0.5:
        A[-1] = A[0]
    return A


def dependent(rng, n):
    V = rng.normal(size=(n, n // 2))
    V[:, 2] = V[:, 0] + V[:, 1]
    return V


def spd(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + np.eye(n)


PROGRAMS = {
    forward: lambda rng, n: (np.tril(well(rng, n)), rng.random(n)),
    backward: lambda rng, n: (np.triu(well(rng, n)), rng.random(n)),
    by_columns: lambda rng, n: (np.tril(well(rng, n)), rng.random(n)),
    lu: lambda rng, n: (well(rng, n),),
    solve: lambda rng, n: (well(rng, n)[::-1].copy(), rng.random(n)),
    determinant: lambda rng, n: (half_singular(rng, 6 + n % 2),),
    cholesky: lambda rng, n: (spd(rng, n),),
    gram_schmidt: lambda rng, n: (dependent(rng, n),),
    householder: lambda rng, n: (rng.normal(size=(n, n - 3)),),
    givens: lambda rng, n: (np.triu(rng.normal(size=(n, n)), -1),),
    thomas: lambda rng, n: (rng.random(n), 3 + rng.random(n), rng.random(n), rng.random(n)),
    jacobi_rotations: lambda rng, n: (spd(rng, 5 + n % 3), 3),
}
RTOL = {name: 1e-9 for name in PROGRAMS}
