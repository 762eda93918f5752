"""Iterations that stop when they are good enough, or give up."""

import numpy as np


def jacobi(A, b, tolerance):
    """`while err > tol`, with the diagonal apart."""
    x = np.zeros_like(b)
    diagonal = np.diag(A)
    rest = A - np.diagflat(diagonal)
    err, count = 1.0, 0
    while err > tolerance:
        fresh = (b - rest @ x) / diagonal
        err = np.linalg.norm(fresh - x)
        x = fresh
        count += 1
    return x, count


def gauss_seidel(A, b, x, limit, tolerance=1e-8):
    """Ragged dots in place, `break` when nothing moves, `else` when the limit is met."""
    n = len(b)
    for sweep in range(limit):
        change = 0.0
        for i in range(n):
            new = (b[i] - A[i, :i] @ x[:i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
            change = max(change, abs(new - x[i]))
            x[i] = new
        if change < tolerance:
            break
    else:
        return "no convergence", limit
    return "converged", sweep


def conjugate_gradient(A, b, tolerance):
    """Scalars and vectors that all depend on the step before."""
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for k in range(len(b) + 5):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        fresh = r @ r
        if np.sqrt(fresh) < tolerance:
            return x, k + 1
        p = r + (fresh / rs) * p
        rs = fresh
    raise RuntimeError("conjugate gradients did not converge")


def power_iteration(A, v, limit, tolerance=1e-6):
    """The largest eigenvalue; the loop's variable is used after it."""
    value = 0.0
    for k in range(limit):
        w = A @ v
        old, value = value, v @ w
        v = w / np.linalg.norm(w)
        if abs(value - old) < tolerance * abs(value):
            break
    return value, v, k


def newton(x, limit=50):
    """All elements at once; each stops when its own step is small."""
    active = np.ones(x.shape, bool)
    for k in range(limit):
        f, slope = x**3 - 2 * x - 5, 3 * x**2 - 2
        step = np.where(active, f / slope, 0.0)
        x = x - step
        active = np.abs(step) > 1e-9
        if not active.any():
            return x, k
    return x, -1


def newton_scalar(c, guess):
    """A root of one number by Python's floats, element by element of a list."""
    roots = []
    for value in c:
        x, n = guess, 0
        while abs(x * x - value) > 1e-10 and n < 60:
            x = 0.5 * (x + value / x)
            n += 1
        roots.append(x)
    return np.array(roots)


def bisection(coefficients, low, high):
    """A sign change by halving; `ValueError` without one."""
    if np.polyval(coefficients, low) * np.polyval(coefficients, high) > 0:
        raise ValueError("no sign change")
    for _ in range(60):
        middle = 0.5 * (low + high)
        if np.polyval(coefficients, low) * np.polyval(coefficients, middle) <= 0:
            high = middle
        else:
            low = middle
        if high - low < 1e-6:
            break
    return low, high


def poisson(u, f, omega, limit):
    """Red-black over-relaxation in place; the residual every few sweeps."""
    residuals = []
    for sweep in range(limit):
        for start in (0, 1):
            for i in range(1, u.shape[0] - 1):
                s = slice(1 + (i + start) % 2, -1, 2)
                left, right = u[i, (i + start) % 2 : -2 : 2], u[i, 2 + (i + start) % 2 :: 2]
                u[i, s] += omega * (0.25 * (u[i - 1, s] + u[i + 1, s] + left + right - f[i, s]) - u[i, s])
        if sweep % 3 == 2:
            inner = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
            residuals.append(np.abs(inner - f[1:-1, 1:-1]).max())
            if residuals[-1] < 1e-3:
                break
    return residuals


def page_rank(links, damping=0.85):
    """`while True` that leaves in the middle."""
    n = links.shape[0]
    out = links.sum(axis=1)
    out[out == 0] = 1
    rank = np.full(n, 1.0 / n)
    rounds = 0
    while True:
        fresh = (1 - damping) / n + damping * (links.T @ (rank / out))
        rounds += 1
        if np.abs(fresh - rank).sum() < 1e-8 or rounds >= 100:
            break
        rank = fresh
    return fresh, rounds


def descend(x, target, rate=0.4):
    """Gradient steps with a line search: a loop within the loop, both left early."""

    def loss(y):
        return ((y - target) ** 2).sum() + 0.1 * (y**4).sum()

    value = loss(x)
    for step in range(30):
        gradient = 2 * (x - target) + 0.4 * x**3
        t = rate
        while t > 1e-6:
            trial = x - t * gradient
            if loss(trial) < value - 1e-4 * t * (gradient**2).sum():
                break
            t *= 0.5
        else:
            return x, step, "stuck"
        x, value = trial, loss(trial)
        if (gradient**2).sum() < 1e-8:
            return x, step, "flat"
    return x, 30, "limit"


def nan_stops(x):
    """A condition that is false once it is NaN."""
    k = 0
    while x.sum() < 1e300:
        x *= 1e60
        x[0] -= x[-1]
        k += 1
    return k


def dominant(rng, n):
    return rng.random((n, n)) + n * np.eye(n)


def symmetric(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + n * np.eye(n)


PROGRAMS = {
    jacobi: lambda rng, n: (dominant(rng, n) + n * np.eye(n), rng.random(n), 1e-6),
    gauss_seidel: lambda rng, n: (dominant(rng, n), rng.random(n), np.zeros(n), 30),
    conjugate_gradient: lambda rng, n: (symmetric(rng, n), rng.random(n), 1e-6),
    power_iteration: lambda rng, n: (symmetric(rng, n), np.ones(n) / np.sqrt(n), 100),
    newton: lambda rng, n: (2 + rng.random(n),),
    newton_scalar: lambda rng, n: (1 + 9 * rng.random(n), 1.0),
    bisection: lambda rng, n: (np.array([1.0, 0, -2, -float(rng.integers(1, 9))]), -1.0, float(rng.integers(2, 5))),
    poisson: lambda rng, n: (np.zeros((n, n)), rng.random((n, n)), 1.5, 12),
    page_rank: lambda rng, n: ((rng.random((n, n)) < 0.2).astype(float),),
    descend: lambda rng, n: (rng.normal(size=n), rng.normal(size=n)),
    nan_stops: lambda rng, n: (rng.random(n) + 1,),
}
RTOL = {conjugate_gradient: 1e-9, power_iteration: 1e-9, descend: 1e-9}
