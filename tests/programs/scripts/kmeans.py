"""K-means clustering of synthetic blobs.

Lloyd's algorithm with k-means++ seeding and several restarts, an elbow table over the number of clusters, silhouette
coefficients on a sample, and the agreement of the found clusters with the true ones.

Usage: python kmeans.py [scale]
"""

import sys
from dataclasses import dataclass

import numpy as np


@dataclass
class Fit:
    """The best clustering of several restarts."""

    centers: np.ndarray
    labels: np.ndarray
    inertia: float
    iterations: int
    restarts: list


def make_blobs(rng, n, k, dim, spread=1.0, separation=12.0):
    """Gaussian blobs whose centres are at least `separation` apart, and the blob of each point."""
    centers = []
    while len(centers) < k:
        candidate = rng.uniform(-30.0, 30.0, size=dim)
        if all(np.linalg.norm(candidate - c) >= separation for c in centers):
            centers.append(candidate)
    centers = np.array(centers)
    weights = rng.uniform(0.6, 1.4, size=k)
    labels = rng.choice(k, size=n, p=weights / weights.sum())
    scales = rng.uniform(0.6, 1.2, size=k) * spread
    points = centers[labels] + scales[labels][:, None] * rng.normal(size=(n, dim))
    return points, labels, centers


def squared_distances(points, centers):
    """Squared Euclidean distances from each point to each centre."""
    pp = np.sum(points**2, axis=1)[:, None]
    cc = np.sum(centers**2, axis=1)[None, :]
    return np.maximum(pp - 2.0 * (points @ centers.T) + cc, 0.0)


class KMeans:
    """K-means with k-means++ seeding, keeping the best of several restarts."""

    def __init__(self, k, restarts=5, max_iter=60, tol=1e-6, seed=0):
        self.k = k
        self.restarts = restarts
        self.max_iter = max_iter
        self.tol = tol
        self.seed = seed

    def seed_centers(self, points, rng):
        """Centres drawn one by one, with chances in proportion to the squared distance to the nearest so far."""
        n = len(points)
        centers = np.empty((self.k, points.shape[1]))
        centers[0] = points[rng.integers(n)]
        nearest = np.sum((points - centers[0]) ** 2, axis=1)
        for j in range(1, self.k):
            cumulative = np.cumsum(nearest)
            draws = rng.uniform(0.0, cumulative[-1], size=3)
            candidates = np.minimum(np.searchsorted(cumulative, draws), n - 1)
            # of a few candidates, the one which lowers the potential most
            best, best_total = None, np.inf
            for c in candidates:
                d = np.minimum(nearest, np.sum((points - points[c]) ** 2, axis=1))
                total = d.sum()
                if total < best_total:
                    best, best_total, best_d = c, total, d
            centers[j] = points[best]
            nearest = best_d
        return centers

    def lloyd(self, points, centers):
        iterations = 0
        for iterations in range(1, self.max_iter + 1):
            d2 = squared_distances(points, centers)
            labels = np.argmin(d2, axis=1)
            moved = np.empty_like(centers)
            for j in range(self.k):
                members = points[labels == j]
                moved[j] = members.mean(axis=0) if len(members) else centers[j]
            shift = np.sqrt(np.sum((moved - centers) ** 2, axis=1)).max()
            centers = moved
            if shift < self.tol:
                break
        d2 = squared_distances(points, centers)
        labels = np.argmin(d2, axis=1)
        inertia = float(np.sum((points - centers[labels]) ** 2))
        return centers, labels, inertia, iterations

    def fit(self, points):
        rng = np.random.default_rng(self.seed)
        best = None
        tried = []
        for _ in range(self.restarts):
            centers = self.seed_centers(points, rng)
            centers, labels, inertia, iterations = self.lloyd(points, centers)
            tried.append(inertia)
            # a tie between restarts goes to the earlier one
            if best is None or inertia < best.inertia * (1.0 - 1e-9):
                best = Fit(centers, labels, inertia, iterations, tried)
        return best


def silhouette(points, labels, k):
    """Silhouette coefficient of each point: near 1 inside a cluster, near 0 on a border."""
    n = len(points)
    gram = points @ points.T
    squares = np.diag(gram)
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2.0 * gram, 0.0))
    np.fill_diagonal(distances, 0.0)
    one_hot = np.zeros((n, k))
    one_hot[np.arange(n), labels] = 1.0
    sums = distances @ one_hot
    counts = one_hot.sum(axis=0)
    own = counts[labels]
    inside = sums[np.arange(n), labels] / np.maximum(own - 1.0, 1.0)
    means = sums / np.maximum(counts, 1.0)
    means[np.arange(n), labels] = np.inf
    means[:, counts == 0] = np.inf
    outside = means.min(axis=1)
    return np.where(own > 1, (outside - inside) / np.maximum(inside, outside), 0.0)


def contingency(a, b, ka, kb):
    """How many points have each pair of labels."""
    table = np.zeros((ka, kb), dtype=int)
    np.add.at(table, (a, b), 1)
    return table


def adjusted_rand(table):
    """The Rand index of two partitions, adjusted for chance."""

    def pairs(x):
        return (x * (x - 1) / 2.0).sum()

    rows, cols = table.sum(axis=1), table.sum(axis=0)
    expected = pairs(rows) * pairs(cols) / pairs(table.sum())
    largest = 0.5 * (pairs(rows) + pairs(cols))
    return float((pairs(table) - expected) / (largest - expected))


def normalized_information(table):
    """Mutual information of two partitions over the mean of their entropies."""
    p = table / table.sum()
    px, py = p.sum(axis=1), p.sum(axis=0)
    outer = px[:, None] * py[None, :]
    mask = p > 0
    mutual = np.sum(p[mask] * np.log(p[mask] / outer[mask]))
    hx = -np.sum(px[px > 0] * np.log(px[px > 0]))
    hy = -np.sum(py[py > 0] * np.log(py[py > 0]))
    return float(mutual / (0.5 * (hx + hy)))


def match_centers(found, true):
    """For each true centre the nearest found one, and how far it is."""
    d = np.sqrt(squared_distances(true, found))
    return d.argmin(axis=1), d.min(axis=1)


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(42)
    k_true, dim = 7, 6
    n = max(600, int(100000 * scale))

    points, truth, centers = make_blobs(rng, n, k_true, dim)
    print(f"{n} points in {dim} dimensions, {k_true} blobs")
    print(f"mean of the data: {np.array2string(points.mean(axis=0), precision=3, suppress_small=True)}")

    total = float(np.sum((points - points.mean(axis=0)) ** 2))
    sample = rng.choice(n, size=min(n, max(300, int(2000 * scale**0.5))), replace=False)

    print(f"{'k':>3} {'inertia/n':>11} {'explained':>10} {'silhouette':>11}")
    results = {}
    for k in range(2, k_true + 1):
        # fewer clusters than blobs have many local minima: a larger number of restarts
        fit = KMeans(k, restarts=6, seed=100 + k).fit(points)
        scores = silhouette(points[sample], fit.labels[sample], k)
        results[k] = {"fit": fit, "silhouette": float(scores.mean())}
        explained = 1.0 - fit.inertia / total
        print(f"{k:3d} {fit.inertia / n:11.4f} {explained:10.5f} {results[k]['silhouette']:11.5f}")

    best_k = max(results, key=lambda k: results[k]["silhouette"])
    print(f"best number of clusters by silhouette: {best_k}")

    fit = results[k_true]["fit"]
    table = contingency(fit.labels, truth, k_true, k_true)
    print(f"restarts which found the best minimum: {sum(r < fit.inertia * 1.0001 for r in fit.restarts)}")
    print(f"adjusted Rand index {adjusted_rand(table):.5f}, mutual information {normalized_information(table):.5f}")

    nearest, gap = match_centers(fit.centers, centers)
    print(f"all the blobs found: {len(set(nearest.tolist())) == k_true}, centres off by at most {gap.max():.3f}")

    rows = []
    for blob, cluster in enumerate(nearest):
        members = points[fit.labels == cluster]
        deviation = np.sqrt(np.mean(np.sum((members - fit.centers[cluster]) ** 2, axis=1) / dim))
        rows.append({"blob": blob, "size": len(members), "sigma": float(deviation), "off": float(gap[blob])})
    rows.sort(key=lambda row: -row["size"])
    for row in rows:
        print(f"  blob {row['blob']}: {row['size']:6d} points, sigma {row['sigma']:.4f}, off by {row['off']:.4f}")


if __name__ == "__main__":
    main()
