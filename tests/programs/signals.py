"""Series in time: filters, smoothers, ring buffers, runs."""

import numpy as np


def exponential_smoothing(x, alpha):
    """A recurrence over one axis."""
    out = np.empty_like(x)
    out[0] = x[0]
    for t in range(1, len(x)):
        out[t] = alpha * x[t] + (1 - alpha) * out[t - 1]
    return out


def holt_winters(x, period, a=0.4, b=0.2, g=0.3):
    """Level, trend and season; the season is a ring."""
    season = x[:period] - x[:period].mean()
    level, trend = x[:period].mean(), 0.0
    fitted = np.zeros(len(x))
    for t in range(len(x)):
        s = season[t % period]
        fitted[t] = level + trend + s
        old = level
        level = a * (x[t] - s) + (1 - a) * (level + trend)
        trend = b * (level - old) + (1 - b) * trend
        season[t % period] = g * (x[t] - level) + (1 - g) * s
    return fitted, level, trend


def kalman(z, F, H, Q, R):
    """Predict and correct; missing measurements are NaN and skipped."""
    x, P = np.zeros(F.shape[0]), np.eye(F.shape[0])
    states = np.empty((len(z), len(x)))
    for t in range(len(z)):
        x = F @ x
        P = F @ P @ F.T + Q
        if not np.isnan(z[t]):
            S = (H @ P @ H.T)[0, 0] + R
            K = (P @ H.T)[:, 0] / S
            x = x + K * (z[t] - H[0] @ x)
            P = (np.eye(len(x)) - np.outer(K, H[0])) @ P
        states[t] = x
    return states, P


def recursive_filter(b, a, x):
    """A digital filter with its own memory, shifted by slices that overlap."""
    memory = np.zeros(len(b))
    y = np.empty_like(x)
    for n in range(len(x)):
        y[n] = b[0] * x[n] + memory[0]
        memory[:-1] = memory[1:]
        memory[:-1] += b[1:] * x[n] - a[1:] * y[n]
    return y


def moving_average(x, width):
    """A ring buffer with a running sum; warm-up counted by Python."""
    ring = np.zeros(width)
    at = filled = 0
    total = 0.0
    out = []
    for value in x:
        total += value - ring[at]
        ring[at] = value
        at = (at + 1) % width
        if filled < width:
            filled += 1
        out.append(total / filled)
    return out, ring


def windows(x, width):
    """Moving slices of fixed length: mean, spread, largest."""
    n = len(x) - width + 1
    mean, spread, largest = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        window = x[i : i + width]
        mean[i] = window.mean()
        spread[i] = window.std()
        largest[i] = window.max()
    return mean, spread, largest


def expanding(x):
    """Slices that grow: statistics of all so far."""
    out = np.zeros((len(x), 3))
    for i in range(len(x)):
        so_far = x[: i + 1]
        out[i] = so_far.mean(), so_far.min(), (so_far > 0).sum()
    return out


def convolve(x, kernel):
    """The full convolution, a slice per tap, and by sums of flipped windows."""
    full = np.zeros(len(x) + len(kernel) - 1)
    for k in range(len(kernel)):
        full[k : k + len(x)] += kernel[k] * x
    valid = np.empty(len(x) - len(kernel) + 1)
    for i in range(len(valid)):
        valid[i] = (x[i : i + len(kernel)] * kernel[::-1]).sum()
    return full, valid


def peaks(x, threshold):
    """Local maxima above a threshold, not too near each other."""
    found = []
    last = -10
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1] and x[i] > threshold:
            if i - last < 3:
                continue
            found.append(i)
            last = i
    return np.array(found, dtype=int)


def run_lengths(x):
    """Runs of equal values; the last one after the loop."""
    values, lengths = [], []
    current, length = x[0], 1
    for value in x[1:]:
        if value == current:
            length += 1
        else:
            values.append(current)
            lengths.append(length)
            current, length = value, 1
    values.append(current)
    lengths.append(length)
    return np.array(values), np.array(lengths)


def draw_down(prices):
    """The deepest fall below the highest so far, and when."""
    highest, deepest, when = prices[0], 0.0, -1
    for day, price in enumerate(prices):
        highest = max(highest, price)
        fall = 1 - price / highest
        if fall > deepest:
            deepest, when = fall, day
    return deepest, when, round(float(deepest), 3)


def dtw(x, y):
    """Time warping: a table with infinite borders, absolute differences."""
    cost = np.full((len(x) + 1, len(y) + 1), np.inf)
    cost[0, 0] = 0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            d = abs(x[i - 1] - y[j - 1])
            cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[-1, -1]


def goertzel(x, k):
    """One frequency's power by a second-order recurrence of scalars."""
    w = 2 * np.cos(2 * np.pi * k / len(x))
    s1 = s2 = 0.0
    for sample in x:
        s1, s2 = sample + w * s1 - s2, s1
    return s1 * s1 + s2 * s2 - w * s1 * s2


def gaps(rng, n):
    z = rng.normal(size=n)
    z[rng.integers(0, n, 3)] = np.nan
    return z


MOTION = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]]), 0.01 * np.eye(2), 0.5
PROGRAMS = {
    exponential_smoothing: lambda rng, n: (rng.normal(size=2 * n), 0.3),
    holt_winters: lambda rng, n: (rng.normal(size=2 * n), 4),
    kalman: lambda rng, n: (gaps(rng, n), *MOTION),
    recursive_filter: lambda rng, n: (np.array([0.2, 0.3, 0.1]), np.array([1.0, -0.4, 0.2]), rng.normal(size=n)),
    moving_average: lambda rng, n: (rng.normal(size=n), 5),
    windows: lambda rng, n: (rng.normal(size=2 * n), 5),
    expanding: lambda rng, n: (rng.normal(size=n),),
    convolve: lambda rng, n: (rng.normal(size=n), rng.normal(size=4)),
    peaks: lambda rng, n: (rng.normal(size=3 * n), 0.2),
    run_lengths: lambda rng, n: (rng.integers(0, 2, 2 * n),),
    draw_down: lambda rng, n: (10 + rng.normal(size=n).cumsum() * 0.1,),
    dtw: lambda rng, n: (rng.normal(size=n // 2), rng.normal(size=n // 2 + 1)),
    goertzel: lambda rng, n: (rng.normal(size=n), 3),
}
