"""Programs as they are written in notebooks: lists that keep a history, classes, early exits, masked updates."""

import numpy as np


def kalman(measured, noise, drift):
    """A filter of one number; the history is a list that becomes an array."""
    x, variance = 0.0, 1.0
    history = []
    for z in measured:
        variance = variance + drift
        gain = variance / (variance + noise)
        x = x + gain * (z - x)
        variance = (1 - gain) * variance
        history.append(x)
    return np.asarray(history), variance


def least_squares(x, y, rate, steps):
    """Gradient descent that keeps losses and weights, and stops when it gets no further."""
    w = np.zeros(x.shape[1])
    losses, weights = [], []
    for _ in range(steps):
        error = x @ w - y
        losses.append((error**2).mean())
        w -= rate * 2 * x.T @ error / len(y)
        weights.append(w.copy())
        if np.abs(error).max() < 1e-3:
            break
    return w, losses, len(weights)


def last_weights(x, y, rate, steps):
    """The same without an early exit: the list of arrays is stacked."""
    w = np.zeros(x.shape[1])
    weights = [w.copy()]
    for _ in range(steps):
        w -= rate * 2 * x.T @ (x @ w - y) / len(y)
        weights.append(w.copy())
    return np.vstack(weights)[::4], np.array(weights).std(axis=0)


def residuals(a, b, tolerance):
    """Jacobi's iteration with a message and the history of residuals; raises where it does not converge."""
    x, d = np.zeros_like(b), np.diag(a)
    history = []
    for k in range(200):
        new = (b - (a - np.diagflat(d)) @ x) / d
        history.append(np.linalg.norm(new - x))
        if history[-1] < tolerance:
            print("converged after", k)
            return new, history
        x = new
    raise ValueError("no convergence")


def paths(draws, drift, spread, dt):
    """Euler's method for a stochastic equation, with what was drawn before."""
    value, history = np.ones(draws.shape[1]), [np.ones(draws.shape[1])]
    for row in draws:
        value = value + drift * value * dt + spread * value * np.sqrt(dt) * row
        history.append(value.copy())
    table = np.vstack(history)
    return np.maximum(table[-1] - 1.0, 0).mean(), table.max(axis=0)


def energies(n, steps, c):
    """A wave: three arrays that take turns, a new one in each step."""
    x = np.linspace(0, 1, n)
    u = np.exp(-100 * (x - 0.5) ** 2)
    before, kept = u.copy(), []
    for _ in range(steps):
        after = np.empty_like(u)
        after[1:-1] = 2 * u[1:-1] - before[1:-1] + c**2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        after[0] = after[-1] = 0
        before, u = u, after
        kept.append(0.5 * np.sum((u - before) ** 2))
    return u, np.array(kept)


def shortest(weights, source):
    """Dijkstra's algorithm: masked updates behind an early exit."""
    distance = np.full(len(weights), np.inf)
    distance[source] = 0
    done, before = np.zeros(len(weights), bool), np.full(len(weights), -1)
    for _ in range(len(weights)):
        u = np.where(done, np.inf, distance).argmin()
        if np.isinf(distance[u]):
            break
        done[u] = True
        other = distance[u] + weights[u]
        better = other < distance
        distance[better] = other[better]
        before[better] = u
    return distance, before


def likeliest(observed, moves, shows, start):
    """Viterbi's algorithm: tables forwards, a path backwards."""
    log_moves, log_shows = np.log(moves), np.log(shows)
    table = np.zeros((len(observed), len(start)))
    came = np.zeros(table.shape, dtype=int)
    table[0] = np.log(start) + log_shows[:, observed[0]]
    for t in range(1, len(observed)):
        scores = table[t - 1][:, None] + log_moves
        came[t] = scores.argmax(0)
        table[t] = scores.max(0) + log_shows[:, observed[t]]
    path = np.zeros(len(observed), dtype=int)
    path[-1] = table[-1].argmax()
    for t in range(len(observed) - 2, -1, -1):
        path[t] = came[t + 1, path[t + 1]]
    return path, table[-1].max()


def merge_sort(a):
    """Recursion; the halves are put at places that a mask leaves."""
    if len(a) <= 3:
        return np.sort(a)
    middle = len(a) // 2
    left, right = merge_sort(a[:middle]), merge_sort(a[middle:])
    places = np.searchsorted(left, right, side="right") + np.arange(len(right))
    mask = np.ones(len(a), bool)
    mask[places] = False
    out = np.empty_like(a)
    out[places] = right
    out[mask] = left
    return out


def strided(image, kernel, stride):
    """A convolution whose windows begin at multiples of an argument."""
    height, width = ((n - k) // stride + 1 for n, k in zip(image.shape, kernel.shape))
    out = np.zeros((height, width))
    for i in range(height):
        for j in range(width):
            window = image[i * stride : i * stride + kernel.shape[0], j * stride : j * stride + kernel.shape[1]]
            out[i, j] = (window * kernel).sum()
    return np.maximum(out, 0)


def entropy(x, bins):
    """Logarithms and quotients of zero under `np.errstate`, and with `where=`."""
    counts, edges = np.histogram(x, bins=bins)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = counts / counts.sum()
        terms = np.where(p > 0, p * np.log(p), 0.0)
    centres = 0.5 * (edges[1:] + edges[:-1])
    means = np.divide(centres * counts, counts, out=np.zeros_like(centres), where=counts > 0)
    return -terms.sum(), means


class Layers:
    """A small network that is trained by hand."""

    def __init__(self, rng, sizes):
        self.weights = [rng.normal(0, 1 / np.sqrt(m), (m, n)) for m, n in zip(sizes[:-1], sizes[1:])]
        self.biases = [np.zeros(n) for n in sizes[1:]]

    def forward(self, x):
        seen = [x]
        for number, (w, b) in enumerate(zip(self.weights, self.biases)):
            x = x @ w + b
            if number < len(self.weights) - 1:
                x = np.maximum(x, 0)
            seen.append(x)
        return seen

    def train(self, x, y, rate, steps):
        losses = []
        for _ in range(steps):
            seen = self.forward(x)
            delta = 2 * (seen[-1] - y) / len(x)
            losses.append(float(((seen[-1] - y) ** 2).mean()))
            for number in reversed(range(len(self.weights))):
                w, b = seen[number].T @ delta, delta.sum(0)
                if number:
                    delta = (delta @ self.weights[number].T) * (seen[number] > 0)
                self.weights[number] -= rate * w
                self.biases[number] -= rate * b
        return losses


def network(x, y, rate, steps):
    """Training in methods of a class."""
    layers = Layers(np.random.default_rng(1), [x.shape[1], 5, 1])
    losses = layers.train(x, y, rate, steps)
    return losses, layers.weights[0], layers.biases[1], layers.forward(x)[-1]


def dominant(rng, n):
    return rng.random((n, n)) + n * np.eye(n)


def graph(rng, n):
    return np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), np.inf)


def likely(rng, n, m):
    table = rng.random((n, m)) + 0.1
    return table / table.sum(1, keepdims=True)


# Of `likeliest` no symbol comes twice: else two paths may have the same terms in another order, and the last bit of one
# logarithm, which may differ from NumPy's, decides between them. `tables.viterbi` has such ties, of logarithms that are given.
PROGRAMS = {
    kalman: lambda rng, n: (rng.normal(size=5 * n), 0.1, 1e-3),
    least_squares: lambda rng, n: (rng.normal(size=(n, 3)), rng.normal(size=n), 0.05, 40),
    last_weights: lambda rng, n: (rng.normal(size=(n, 3)), rng.normal(size=n), 0.05, 40),
    residuals: lambda rng, n: (dominant(rng, n), rng.random(n), 1e-6 if n % 2 == 0 else 0.0),
    paths: lambda rng, n: (rng.normal(size=(40, n)), 0.05, 0.2, 0.02),
    energies: lambda rng, n: (4 * n, 50, 0.5),
    shortest: lambda rng, n: (graph(rng, n), 0),
    likeliest: lambda rng, n: (rng.permutation(4 * n), likely(rng, 4, 4), likely(rng, 4, 4 * n), likely(rng, 1, 4)[0]),
    merge_sort: lambda rng, n: (rng.integers(0, 9, n).astype(float),),
    strided: lambda rng, n: (rng.normal(size=(n, n + 3)), rng.normal(size=(3, 2)), 1 + n % 3),
    entropy: lambda rng, n: (rng.normal(size=5 * n), 2 * n),
    network: lambda rng, n: (rng.normal(size=(n, 3)), rng.normal(size=(n, 1)), 0.05, 20),
}
RTOL = {name: 1e-9 for name in (least_squares, last_weights, residuals, likeliest, network)}
