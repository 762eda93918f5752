"""Principal components of synthetic low-rank data, by the covariance matrix and by power iteration.

Compares the eigendecomposition of the covariance, power iteration with deflation, block (orthogonal) iteration and
the singular values of the data; reports the explained variance and the errors of reconstruction.

Usage: python pca.py [scale]
"""

import argparse

import numpy as np


def low_rank_data(rng, n, dim, strengths, noise):
    """Samples with the given standard deviations along random directions, and white noise around them."""
    rank = len(strengths)
    basis, _ = np.linalg.qr(rng.normal(size=(dim, rank)))
    scores = rng.normal(size=(n, rank)) * np.asarray(strengths)
    mean = rng.uniform(-5.0, 5.0, size=dim)
    return mean + scores @ basis.T + noise * rng.normal(size=(n, dim)), basis


def fix_signs(components):
    """Make the entry of largest magnitude of each row positive."""
    largest = np.argmax(np.abs(components), axis=1)
    signs = np.sign(components[np.arange(len(components)), largest])
    return components * signs[:, None]


class PCA:
    """Principal component analysis with a choice of method."""

    def __init__(self, n_components, method="covariance", tol=1e-10, max_iter=500, seed=0):
        self.n_components = n_components
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.seed = seed
        self.iterations = []

    def fit(self, X):
        self.mean_ = X.mean(axis=0)
        centered = X - self.mean_
        solver = {
            "covariance": self._by_covariance,
            "power": self._by_power,
            "block": self._by_block,
            "svd": self._by_svd,
        }[self.method]
        variances, components = solver(centered)
        self.variances_ = variances
        self.components_ = fix_signs(components)
        self.total_variance_ = float(np.sum(centered**2) / (len(X) - 1))
        return self

    @property
    def explained_ratio_(self):
        return self.variances_ / self.total_variance_

    def _by_covariance(self, centered):
        covariance = centered.T @ centered / (len(centered) - 1)
        values, vectors = np.linalg.eigh(covariance)
        order = np.argsort(values)[::-1][: self.n_components]
        return values[order], vectors[:, order].T

    def _by_svd(self, centered):
        _, s, vt = np.linalg.svd(centered, full_matrices=False)
        k = self.n_components
        return s[:k] ** 2 / (len(centered) - 1), vt[:k]

    def _by_power(self, centered):
        """One component after another; the data itself is deflated."""
        rng = np.random.default_rng(self.seed)
        n, dim = centered.shape
        residual = centered.copy()
        variances, components = [], []
        for _ in range(self.n_components):
            v = rng.normal(size=dim)
            v /= np.linalg.norm(v)
            for iteration in range(1, self.max_iter + 1):
                w = residual.T @ (residual @ v)
                for u in components:
                    w -= (u @ w) * u
                w /= np.linalg.norm(w)
                change = np.linalg.norm(w - v)
                v = w
                if change < self.tol:
                    break
            self.iterations.append(iteration)
            scores = residual @ v
            residual = residual - np.outer(scores, v)
            variances.append(scores @ scores / (n - 1))
            components.append(v)
        return np.array(variances), np.array(components)

    def _by_block(self, centered):
        """Orthogonal iteration: all the components together."""
        rng = np.random.default_rng(self.seed)
        n, dim = centered.shape
        Q, _ = np.linalg.qr(rng.normal(size=(dim, self.n_components + 2)))
        previous = np.zeros(self.n_components + 2)
        for iteration in range(1, self.max_iter + 1):
            Z = centered.T @ (centered @ Q) / (n - 1)
            Q, R = np.linalg.qr(Z)
            values = np.abs(np.diag(R))
            if np.allclose(values[: self.n_components], previous[: self.n_components], rtol=self.tol, atol=0.0):
                break
            previous = values
        self.iterations.append(iteration)
        small = Q.T @ (centered.T @ (centered @ Q)) / (n - 1)
        values, rotation = np.linalg.eigh(0.5 * (small + small.T))
        order = np.argsort(values)[::-1][: self.n_components]
        return values[order], (Q @ rotation[:, order]).T

    def transform(self, X):
        return (X - self.mean_) @ self.components_.T

    def inverse_transform(self, scores):
        return scores @ self.components_ + self.mean_


def reconstruction_errors(model, X):
    """Root mean square error with one component, with two, and so on."""
    scores = model.transform(X)
    errors = []
    approximation = np.tile(model.mean_, (len(X), 1))
    for k in range(model.n_components):
        approximation += np.outer(scores[:, k], model.components_[k])
        errors.append(float(np.sqrt(np.mean((X - approximation) ** 2))))
    return errors


def principal_angle(A, B):
    """The largest angle, in degrees, between the subspaces spanned by the rows of `A` and the columns of `B`."""
    s = np.linalg.svd(A @ B, compute_uv=False)
    return float(np.degrees(np.arccos(np.clip(s.min(), -1.0, 1.0))))


def components_for(ratio, share):
    """The number of components which explain the given share of the variance."""
    return int(np.searchsorted(np.cumsum(ratio), share) + 1)


def cross_validate(X, ranks, folds, rng):
    """Mean reconstruction error of held-out rows for each rank."""
    order = rng.permutation(len(X))
    parts = np.array_split(order, folds)
    table = {rank: [] for rank in ranks}
    for held_out in parts:
        keep = np.ones(len(X), dtype=bool)
        keep[held_out] = False
        model = PCA(max(ranks)).fit(X[keep])
        test = X[held_out]
        scores = model.transform(test)
        for rank in ranks:
            approximation = scores[:, :rank] @ model.components_[:rank] + model.mean_
            table[rank].append(np.sqrt(np.mean((test - approximation) ** 2)))
    return {rank: (float(np.mean(v)), float(np.std(v))) for rank, v in table.items()}


def whiten(model, X):
    """Scores of unit variance, and how far their covariance is from the identity."""
    scores = model.transform(X) / np.sqrt(model.variances_)
    covariance = np.cov(scores, rowvar=False)
    return scores, float(np.abs(covariance - np.eye(model.n_components)).max())


def main():
    parser = argparse.ArgumentParser(description="PCA of synthetic data")
    parser.add_argument("scale", nargs="?", type=float, default=1.0)
    scale = parser.parse_args().scale

    rng = np.random.default_rng(7)
    n = max(400, int(25000 * scale))
    dim = max(40, int(240 * scale**0.5))
    strengths = [12.0, 8.0, 5.5, 3.8, 2.6]
    rank = len(strengths)
    X, basis = low_rank_data(rng, n, dim, strengths, noise=0.3)
    print(f"{n} samples of {dim} variables, true rank {rank}, overall deviation {X.std():.5f}")

    models = {}
    for method in ("covariance", "power", "block", "svd"):
        model = PCA(rank, method=method, seed=3).fit(X)
        models[method] = model
        deviations = " ".join(f"{d:8.4f}" for d in np.sqrt(model.variances_))
        print(f"  {method:<11} deviations {deviations}, explained {model.explained_ratio_.sum():.6f}")

    reference = models["covariance"]
    for method in ("power", "block", "svd"):
        model = models[method]
        gap = np.abs(model.components_ - reference.components_).max()
        values = np.abs(model.variances_ / reference.variances_ - 1.0).max()
        print(f"  {method:<11} agrees: components {gap < 1e-5}, variances {values < 1e-7}")

    print("explained variance and reconstruction error by the number of components")
    errors = reconstruction_errors(reference, X)
    cumulative = np.cumsum(reference.explained_ratio_)
    for k, (ratio, total, error) in enumerate(zip(reference.explained_ratio_, cumulative, errors), start=1):
        print(f"  {k}: {ratio:.5f}, together {total:.5f}, rmse {error:.5f}")
    # what is left over is the variance of the other directions
    left = (1.0 - cumulative[-1]) * reference.total_variance_ * (n - 1) / (n * dim)
    print(f"  left over {np.sqrt(left):.5f}, as the last error: {abs(np.sqrt(left) - errors[-1]) < 1e-8}")

    print(f"angle to the true subspace: {principal_angle(reference.components_, basis):.4f} degrees")
    for share in (0.5, 0.7, 0.88):
        print(f"  {share:.0%} of the variance takes {components_for(reference.explained_ratio_, share)} components")

    scores, departure = whiten(reference, X)
    print(f"whitened: covariance is the identity {departure < 1e-9}, fourth moment {np.mean(scores**4):.5f}")

    print("cross-validated error of each rank")
    for r, (mean, spread) in cross_validate(X, [1, 2, 3, 4, 5, 8], folds=5, rng=rng).items():
        print(f"  rank {r}: {mean:.5f} +- {spread:.5f}")


if __name__ == "__main__":
    main()
