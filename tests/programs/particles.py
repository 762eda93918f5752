"""Particles, springs and clusters: pairs, neighbours within a radius, groups that may be empty."""

import numpy as np


def gravity(pos, vel, mass, steps, dt=0.01, soft=0.1):
    """Leapfrog with forces by loops over pairs."""
    n = len(mass)
    for _ in range(steps):
        acc = np.zeros_like(pos)
        for i in range(n):
            for j in range(i + 1, n):
                d = pos[j] - pos[i]
                f = d / (d @ d + soft**2) ** 1.5
                acc[i] += mass[j] * f
                acc[j] -= mass[i] * f
        vel += dt * acc
        pos += dt * vel
    return 0.5 * float((mass * (vel**2).sum(axis=1)).sum())


def gravity_by_rows(pos, mass):
    """One row of differences per particle."""
    potential = np.zeros(len(mass))
    for i, (point, m) in enumerate(zip(pos, mass)):
        r = np.sqrt(((pos - point) ** 2).sum(axis=1))
        r[i] = np.inf
        potential[i] = -m * (mass / r).sum()
    return potential


def count_neighbours(pos, radius):
    """Particles nearer than a radius, with `continue` for oneself and for far ones."""
    n = pos.shape[0]
    counts = np.zeros(n, dtype=int)
    nearest = np.full(n, -1)
    for i in range(n):
        best = np.inf
        for j in range(n):
            if i == j:
                continue
            dx = pos[i, 0] - pos[j, 0]
            if abs(dx) > radius:
                continue
            d = np.sqrt(dx**2 + (pos[i, 1] - pos[j, 1]) ** 2)
            if d > radius:
                continue
            counts[i] += 1
            if d < best:
                best = d
                nearest[i] = j
    return counts, nearest


def flock(pos, vel, steps, radius=0.4):
    """Each bird steers to the mean of its neighbours, if it has any."""
    for _ in range(steps):
        fresh = vel.copy()
        for i in range(len(pos)):
            near = ((pos - pos[i]) ** 2).sum(axis=1) < radius**2
            near[i] = False
            if near.any():
                fresh[i] += 0.1 * (vel[near].mean(axis=0) - vel[i]) + 0.05 * (pos[near].mean(axis=0) - pos[i])
        speed = np.sqrt((fresh**2).sum(axis=1, keepdims=True))
        vel[:] = np.where(speed > 1, fresh / np.maximum(speed, 1e-9), fresh)
        pos += 0.1 * vel
        pos %= 1.0


def bouncing(pos, vel, steps, dt=0.1):
    """Walls turn velocities round, by masks; counts the hits."""
    hits = 0
    for _ in range(steps):
        pos += dt * vel
        low, high = pos < 0, pos > 1
        vel[low | high] *= -1
        pos[low] = -pos[low]
        pos[high] = 2 - pos[high]
        hits += np.count_nonzero(low) + np.count_nonzero(high)
    return hits


def spring_chain(x, v, steps, k=2.0, dt=0.05):
    """Both ends fixed; the energy of each step."""
    energy = []
    for _ in range(steps):
        stretch = np.diff(x, prepend=0.0, append=float(len(x) + 1)) - 1.0
        v += dt * k * (stretch[1:] - stretch[:-1])
        x += dt * v
        energy.append(0.5 * np.dot(v, v) + 0.5 * k * (stretch**2).sum())
    return np.array(energy)


def cells(pos, size):
    """A cell list: counts, offsets by a running sum, members in order."""
    where = np.minimum((pos * size).astype(int), size - 1)
    counts = np.zeros(size, dtype=int)
    for c in where:
        counts[c] += 1
    start = np.zeros(size + 1, dtype=int)
    for c in range(size):
        start[c + 1] = start[c] + counts[c]
    members = np.empty(len(pos), dtype=int)
    fill = start[:-1].copy()
    for i in range(len(pos)):
        c = where[i]
        members[fill[c]] = i
        fill[c] += 1
    return start, members


def k_means(points, centres, limit):
    """Lloyd's steps until no label changes; a cluster without points keeps its centre."""
    labels = np.full(len(points), -1)
    for step in range(limit):
        d = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        fresh = d.argmin(axis=1)
        if (fresh == labels).all():
            break
        labels = fresh
        for k in range(len(centres)):
            mine = points[labels == k]
            if len(mine) > 0:
                centres[k] = mine.mean(axis=0)
    else:
        step = limit
    return labels, step


def diffusion_limited(field, walkers):
    """Walkers step along given directions and stick beside what is stuck."""
    n = field.shape[0]
    stuck = 0
    for path in walkers:
        y, x = 0, n // 2
        for move in path:
            y = min(max(y + move[0], 1), n - 2)
            x = min(max(x + move[1], 1), n - 2)
            if field[y - 1, x] or field[y + 1, x] or field[y, x - 1] or field[y, x + 1]:
                field[y, x] = True
                stuck += 1
                break
    return stuck


def seeded_field(rng, n):
    field = np.zeros((n, n), bool)
    field[n - 1] = True
    return field


PROGRAMS = {
    gravity: lambda rng, n: (rng.normal(size=(n, 3)), np.zeros((n, 3)), 1 + rng.random(n), 2),
    gravity_by_rows: lambda rng, n: (rng.normal(size=(n, 3)), 1 + rng.random(n)),
    count_neighbours: lambda rng, n: (rng.random((n, 2)), 0.3),
    flock: lambda rng, n: (rng.random((n, 2)), rng.normal(size=(n, 2)), 2),
    bouncing: lambda rng, n: (rng.random((n, 2)), 2 * rng.normal(size=(n, 2)), 7),
    spring_chain: lambda rng, n: (np.arange(1.0, n + 1) + 0.1 * rng.normal(size=n), np.zeros(n), 9),
    cells: lambda rng, n: (rng.random(3 * n), n),
    k_means: lambda rng, n: (rng.random((3 * n, 2)), np.concatenate([rng.random((3, 2)), [[9.0, 9.0]]]), 6),
    diffusion_limited: lambda rng, n: (seeded_field(rng, n), rng.integers(-1, 3, (5, 20, 2))),
}
