"""Fields in time: reaction-diffusion, waves, transport; two arrays change places, or three in a ring."""

import numpy as np


def laplacian(z):
    return z[:-2, 1:-1] + z[2:, 1:-1] + z[1:-1, :-2] + z[1:-1, 2:] - 4 * z[1:-1, 1:-1]


def gray_scott(u, v, steps, feed=0.035, kill=0.06):
    """Two chemicals with mirrored borders."""
    inner_u, inner_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
    for _ in range(steps):
        lu, lv = laplacian(u), laplacian(v)
        uvv = inner_u * inner_v * inner_v
        inner_u += 0.14 * lu - uvv + feed * (1 - inner_u)
        inner_v += 0.06 * lv + uvv - (feed + kill) * inner_v
        for z in (u, v):
            z[0, :], z[-1, :] = z[1, :], z[-2, :]
            z[:, 0], z[:, -1] = z[:, 1], z[:, -2]
    return float(v.mean())


def fitzhugh(u, v, steps, dt=0.02, a=2.8e-4, b=5e-3, tau=0.1, k=-0.005):
    """The same shape of program with copies of the interior; reports now and then."""
    dx = 2.0 / u.shape[0]
    seen = []
    for i in range(steps):
        du = laplacian(u) / dx**2 * 0.01
        dv = laplacian(v) / dx**2 * 0.01
        uc = u[1:-1, 1:-1].copy()
        vc = v[1:-1, 1:-1].copy()
        u[1:-1, 1:-1] = uc + dt * (a * du + uc - uc**3 - vc + k)
        v[1:-1, 1:-1] = vc + dt * (b * dv + uc - vc) / tau
        for z in (u, v):
            z[0], z[-1] = z[1], z[-2]
            z[:, 0] = z[:, 1]
            z[:, -1] = z[:, -2]
        if i % 5 == 0:
            seen.append((i, u.min(), u.max()))
    return seen


def heat_until_steady(u, alpha, tolerance, limit):
    """Two arrays change places until the largest change is small."""
    un = u.copy()
    change = np.inf
    steps = 0
    while change > tolerance and steps < limit:
        un[1:-1, 1:-1] = u[1:-1, 1:-1] + alpha * laplacian(u)
        change = np.abs(un - u).max()
        u, un = un, u
        steps += 1
    return u, steps, change


def heat_with_reports(u, steps):
    """Prints while it runs."""
    for step in range(1, steps + 1):
        u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
        if step % 4 == 0:
            print(f"step {step:3d}: {u.sum():.6f} {u[len(u) // 2]:.6f}")
    print("done")


def wave_in_a_ring(u0, steps, c=0.5):
    """Three time levels as rows of one array, used in turn."""
    levels = np.zeros((3, u0.size))
    levels[0] = levels[1] = u0
    for t in range(2, steps):
        now, old, older = levels[t % 3], levels[(t - 1) % 3], levels[(t - 2) % 3]
        now[1:-1] = 2 * old[1:-1] - older[1:-1] + c**2 * (old[2:] - 2 * old[1:-1] + old[:-2])
        now[0] = now[-1] = 0.0
    return levels[(steps - 1) % 3]


def three_names(u, v, steps):
    """Three time levels as names that move on."""
    w = np.empty_like(u)
    for _ in range(steps):
        w[1:-1] = 2 * v[1:-1] - u[1:-1] + 0.2 * (v[2:] - 2 * v[1:-1] + v[:-2])
        w[0], w[-1] = v[0], v[-1]
        u, v, w = v, w, u
    return v


def upwind(q, velocity, steps):
    """The side that is read depends on the sign; the step on the fastest cell."""
    time = 0.0
    for _ in range(steps):
        dt = 0.5 / max(np.abs(velocity).max(), 1e-3)
        left = q - np.roll(q, 1)
        right = np.roll(q, -1) - q
        q = q - dt * velocity * np.where(velocity > 0, left, right)
        velocity = velocity * 0.99
        time += dt
    return q, time


def shock(u, dt, dx, steps):
    """Burgers' equation with a flux limiter and a check that returns early."""
    for n in range(steps):
        flux = 0.5 * u**2
        slope = np.minimum(np.abs(u[1:-1] - u[:-2]), np.abs(u[2:] - u[1:-1]))
        slope[(u[1:-1] - u[:-2]) * (u[2:] - u[1:-1]) <= 0] = 0.0
        u[1:-1] -= dt / dx * (flux[1:-1] - flux[:-2]) + 0.01 * slope
        if np.abs(u).max() > 1e3 or not np.isfinite(u).all():
            return "unstable", n
    return "stable", steps


def lorenz(state, steps, dt=0.01):
    """Few numbers, many steps: unpacking an array into scalars and back."""
    path = np.empty((steps, 3))
    for i in range(steps):
        x, y, z = state
        state = state + dt * np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])
        path[i] = state
    return path


def field(rng, *shape):
    return rng.random(shape)


PROGRAMS = {
    gray_scott: lambda rng, n: (0.5 + 0.5 * field(rng, n, n), 0.3 * field(rng, n, n), 8),
    fitzhugh: lambda rng, n: (field(rng, n, n), field(rng, n, n), 11),
    heat_until_steady: lambda rng, n: (field(rng, n, n), 0.2, 2e-2, 60),
    heat_with_reports: lambda rng, n: (field(rng, n), 9),
    wave_in_a_ring: lambda rng, n: (field(rng, n), n),
    three_names: lambda rng, n: (field(rng, n), field(rng, n), 7),
    upwind: lambda rng, n: (field(rng, n), rng.normal(size=n), 6),
    shock: lambda rng, n: (rng.normal(size=n), 0.02, 0.1, 12),
    lorenz: lambda rng, n: (rng.normal(size=3), n),
}
