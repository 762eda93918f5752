"""Random numbers inside loops: the same numbers in the same order, and the same state at the end."""

import numpy as np


def count_in_circle(seed, batches, n):
    """Pi by batches of points; stops when the estimate settles."""
    np.random.seed(seed)
    inside = total = 0
    estimate = 0.0
    for batch in range(batches):
        x, y = np.random.rand(n), np.random.rand(n)
        inside += int((x * x + y * y <= 1.0).sum())
        total += n
        old, estimate = estimate, 4.0 * inside / total
        if batch > 2 and abs(estimate - old) < 1e-3:
            break
    return estimate, total, np.random.rand()


def random_walk(seed, steps):
    """One draw per step; a wall turns the walker round."""
    rng = np.random.default_rng(seed)
    path = np.zeros(steps + 1)
    for t in range(steps):
        step = rng.normal()
        path[t + 1] = path[t] + step
        if path[t + 1] < -2.0:
            path[t + 1] = -2.0
    return path, rng.random()


def metropolis(seed, x, steps):
    """Accept or reject; the second draw happens only when it is needed."""
    rng = np.random.default_rng(seed)
    energy = (x**2).sum()
    accepted = 0
    trace = []
    for _ in range(steps):
        trial = x + 0.5 * rng.standard_normal(x.shape)
        fresh = (trial**2).sum()
        if fresh < energy or rng.random() < np.exp(energy - fresh):
            x, energy = trial, fresh
            accepted += 1
        trace.append(energy)
    return x, accepted, np.array(trace)


def bootstrap(seed, data, rounds):
    """Means of samples drawn with replacement."""
    rng = np.random.RandomState(seed)
    means = np.empty(rounds)
    for k in range(rounds):
        means[k] = data[rng.randint(0, len(data), len(data))].mean()
    means.sort()
    return means[int(0.05 * rounds)], means[int(0.95 * rounds)]


def shuffle(seed, deck):
    """Fisher and Yates: swaps of two elements of the caller's array."""
    np.random.seed(seed)
    for i in range(len(deck) - 1, 0, -1):
        j = np.random.randint(0, i + 1)
        deck[i], deck[j] = deck[j], deck[i]


def option(seed, price, strike, steps, paths):
    """Paths of a price with a barrier; those that cross are worth nothing."""
    rng = np.random.default_rng(seed)
    s = np.full(paths, price)
    alive = np.ones(paths, bool)
    for _ in range(steps):
        s *= np.exp(0.001 + 0.05 * rng.standard_normal(paths))
        alive &= s < 1.3 * price
        if not alive.any():
            return 0.0
    return np.where(alive, np.maximum(s - strike, 0), 0.0).mean()


def roulette(seed, weights, draws):
    """Picks by running sums, with an early `break` in the search."""
    rng = np.random.default_rng(seed)
    total = weights.sum()
    picks = np.zeros(len(weights), dtype=int)
    for _ in range(draws):
        left = rng.random() * total
        for i, w in enumerate(weights):
            left -= w
            if left <= 0:
                break
        picks[i] += 1
    return picks


def annealing(seed, order, distances, steps):
    """A round trip shortened by swaps that a temperature allows."""
    rng = np.random.default_rng(seed)
    n = len(order)

    def length():
        return distances[order, np.roll(order, -1)].sum()

    best = length()
    temperature = 1.0
    for _ in range(steps):
        i, j = rng.integers(0, n, 2)
        order[i], order[j] = order[j], order[i]
        fresh = length()
        if fresh < best or rng.random() < np.exp((best - fresh) / temperature):
            best = fresh
        else:
            order[i], order[j] = order[j], order[i]
        temperature *= 0.9
    return best


def seed_of(rng):
    return int(rng.integers(1000))


PROGRAMS = {
    count_in_circle: lambda rng, n: (seed_of(rng), 8, 4 * n),
    random_walk: lambda rng, n: (seed_of(rng), 2 * n),
    metropolis: lambda rng, n: (seed_of(rng), rng.normal(size=n), 15),
    bootstrap: lambda rng, n: (seed_of(rng), rng.random(n), 20),
    shuffle: lambda rng, n: (seed_of(rng), np.arange(n) * 3),
    option: lambda rng, n: (seed_of(rng), 10.0, 9.5, 8, n),
    roulette: lambda rng, n: (seed_of(rng), rng.random(n), 20),
    annealing: lambda rng, n: (seed_of(rng), np.arange(n), rng.random((n, n)), 20),
}
