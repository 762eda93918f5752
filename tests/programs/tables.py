"""Dynamic programming: tables filled cell by cell, by rows, by diagonals; paths read back from them."""

import numpy as np


def longest_common(a, b):
    """Length of the longest common subsequence, and one such, read back with `while`."""
    n, m = len(a), len(b)
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    common = []
    i, j = n, m
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            common.append(int(a[i - 1]))
            i -= 1
            j -= 1
        elif table[i - 1, j] >= table[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return table[n, m], common[::-1]


def edit_distance(a, b):
    """Two rows that change places, `min` of three."""
    previous = np.arange(len(b) + 1)
    current = np.empty_like(previous)
    for i in range(len(a)):
        current[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            current[j + 1] = min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost)
        previous, current = current, previous
    return previous[-1]


def knapsack(weights, values, capacity):
    """One row, each item a slice that moves with its weight; the choice read back."""
    best = np.zeros((len(weights) + 1, capacity + 1), dtype=int)
    for i in range(len(weights)):
        w = int(weights[i])
        best[i + 1] = best[i]
        best[i + 1, w:] = np.maximum(best[i, w:], best[i, : capacity + 1 - w] + values[i])
    chosen = np.zeros(len(weights), bool)
    room = capacity
    for i in range(len(weights) - 1, -1, -1):
        if best[i + 1, room] != best[i, room]:
            chosen[i] = True
            room -= weights[i]
    return best[-1, -1], chosen, room


def knapsack_one_row(weights, values, capacity):
    """The row runs backwards, so that no item is taken twice."""
    best = np.zeros(capacity + 1)
    for w, v in zip(weights, values):
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best


def viterbi(start, move, emit, seen):
    """The likeliest path of states, in logarithms."""
    steps, states = len(seen), len(start)
    score = np.empty((steps, states))
    back = np.zeros((steps, states), dtype=int)
    score[0] = start + emit[:, seen[0]]
    for t in range(1, steps):
        for s in range(states):
            candidates = score[t - 1] + move[:, s]
            back[t, s] = np.argmax(candidates)
            score[t, s] = candidates[back[t, s]] + emit[s, seen[t]]
    path = np.empty(steps, dtype=int)
    path[-1] = score[-1].argmax()
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score[-1].max()


def matrix_chain(sizes):
    """Three nested loops, the inner bounds from the outer; the split with the least cost."""
    n = len(sizes) - 1
    cost = np.zeros((n, n), dtype=np.int64)
    split = np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.iinfo(np.int64).max
            for k in range(i, j):
                q = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if q < cost[i, j]:
                    cost[i, j] = q
                    split[i, j] = k
    return cost, split


def floyd_warshall(d):
    """All shortest paths, missing edges infinite; says whether a cycle is negative."""
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            if d[i, k] == np.inf:
                continue
            d[i] = np.minimum(d[i], d[i, k] + d[k])
    return bool((np.diag(d) < 0).any())


def longest_increasing(x):
    """Ragged slices under a mask: the best so far among smaller ones."""
    length = np.ones(len(x), dtype=int)
    for i in range(1, len(x)):
        smaller = x[:i] < x[i]
        if smaller.any():
            length[i] = length[:i][smaller].max() + 1
    return int(length.max()) if len(x) else 0


def coins(kinds, amount):
    """The fewest coins; `inf` where no sum fits."""
    fewest = np.full(amount + 1, np.inf)
    fewest[0] = 0
    for a in range(1, amount + 1):
        for kind in kinds:
            if kind <= a and fewest[a - kind] + 1 < fewest[a]:
                fewest[a] = fewest[a - kind] + 1
    return fewest, None if fewest[amount] == np.inf else int(fewest[amount])


def falling_path(grid):
    """Each row from the three above, with padded borders; rows as loop variables."""
    total = grid[0].copy()
    for row in grid[1:]:
        padded = np.pad(total, 1, constant_values=np.inf)
        total = row + np.minimum(np.minimum(padded[:-2], padded[1:-1]), padded[2:])
    return total.min(), total.argmin()


def best_segment(x):
    """Kadane: the contiguous segment with the largest sum, with its bounds."""
    best, first, last = -np.inf, 0, 0
    running, start = 0.0, 0
    for i in range(x.size):
        if running <= 0:
            running, start = x[i], i
        else:
            running += x[i]
        if running > best:
            best, first, last = running, start, i + 1
    return best, first, last


def edges(rng, n):
    d = np.where(rng.random((n, n)) < 0.4, rng.integers(1, 9, (n, n)).astype(float), np.inf)
    np.fill_diagonal(d, 0)
    return d


PROGRAMS = {
    longest_common: lambda rng, n: (rng.integers(0, 4, n), rng.integers(0, 4, n + 1)),
    edit_distance: lambda rng, n: (rng.integers(0, 4, n), rng.integers(0, 4, n - 1)),
    knapsack: lambda rng, n: (rng.integers(1, 9, n), rng.integers(1, 20, n), 2 * n),
    knapsack_one_row: lambda rng, n: (rng.integers(1, 9, n // 2), rng.random(n // 2), n),
    viterbi: lambda rng, n: (
        np.log(rng.random(4)),
        np.log(rng.random((4, 4))),
        np.log(rng.random((4, 3))),
        rng.integers(0, 3, n),
    ),
    matrix_chain: lambda rng, n: (rng.integers(1, 30, n // 2 + 1),),
    floyd_warshall: lambda rng, n: (edges(rng, n),),
    longest_increasing: lambda rng, n: (rng.integers(0, 3 * n, n),),
    coins: lambda rng, n: (rng.choice(np.arange(2, 9), 3, replace=False), n),
    falling_path: lambda rng, n: (rng.random((n, n)),),
    best_segment: lambda rng, n: (rng.normal(size=3 * n),),
}
