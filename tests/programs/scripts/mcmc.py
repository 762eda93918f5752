"""Bayesian regression by random-walk Metropolis, many chains side by side.

Two models of made-up field data: yields at a number of sites, with a hierarchical linear regression (every site has its
own intercept and slope), and counts of insects, with a Poisson regression. For both the script prints posterior
summaries with R-hat and effective sample sizes, and checks the fit by simulating new data from the posterior.

Usage: python mcmc.py [scale]
"""

import argparse
from dataclasses import dataclass

import numpy as np

LOG_2PI = np.log(2.0 * np.pi)


def normal_logpdf(x, mean, sd):
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * LOG_2PI


def half_normal_log(log_x, scale):
    """Log density of log(x) for a half-normal x."""
    return -0.5 * (np.exp(log_x) / scale) ** 2 + log_x


@dataclass
class Sites:
    """Measurements sorted by site; `first` is where each site begins."""

    count: int
    site: np.ndarray
    first: np.ndarray
    rain: np.ndarray
    acid: np.ndarray
    harvest: np.ndarray


def make_sites(rng, sites=12):
    sizes = rng.integers(12, 40, sites)
    site = np.repeat(np.arange(sites), sizes)
    intercepts = rng.normal(4.0, 0.8, sites)
    slopes = rng.normal(0.9, 0.35, sites)
    rain = rng.normal(0.0, 1.0, len(site))
    acid = rng.uniform(-1.0, 1.0, len(site))
    harvest = intercepts[site] + slopes[site] * rain - 0.6 * acid + rng.normal(0.0, 0.7, len(site))
    return Sites(sites, site, np.concatenate([[0], np.cumsum(sizes)[:-1]]), rain, acid, harvest)


def make_counts(rng, n=220):
    """Insects in traps against temperature, light and their product."""
    temperature = rng.normal(0.0, 1.0, n)
    light = (rng.random(n) < 0.4).astype(float)
    x = np.column_stack([np.ones(n), temperature, light, temperature * light, temperature**2])
    rate = np.exp(x @ np.array([1.1, 0.5, 0.7, -0.3, -0.15]))
    return x, rng.poisson(rate)


class Stepper:
    """Proposal widths of one block, tuned during the warm-up to a wanted rate of acceptance."""

    def __init__(self, width, target):
        self.width = width
        self.target = target
        self.tried, self.taken = 0, 0

    def count(self, accepted):
        self.tried += accepted.size
        self.taken += np.count_nonzero(accepted)

    @property
    def rate(self):
        return self.taken / max(1, self.tried)

    def tune(self):
        self.width *= np.exp(np.clip(self.rate - self.target, -0.3, 0.3))
        self.tried = self.taken = 0


class HierarchicalRegression:
    """harvest ~ normal(a[site] + b[site] * rain + c * acid, sigma), with normal populations of a and b."""

    def __init__(self, data, chains, rng):
        self.data = data
        self.rng = rng
        self.chains = chains
        j = data.count
        self.a = rng.normal(4.0, 1.0, (chains, j))
        self.b = rng.normal(1.0, 0.5, (chains, j))
        self.hyper = rng.normal([4.0, 1.0, -0.2, -1.0], 0.3, (chains, 4))  # means and log sds of a and b
        self.shared = rng.normal([-0.5, -0.2], 0.2, (chains, 2))  # c and log sigma
        self.steppers = {"sites": Stepper(0.2, 0.35), "hyper": Stepper(0.2, 0.3), "shared": Stepper(0.05, 0.35)}
        self.names = ["mean a", "mean b", "sd a", "sd b", "c", "sigma"]
        self.names += [f"a[{k}]" for k in range(j)] + [f"b[{k}]" for k in range(j)]

    def predict(self, a, b, c):
        d = self.data
        return a[:, d.site] + b[:, d.site] * d.rain + c * d.acid

    def pointwise(self, a, b, shared):
        """Log likelihood of every observation in every chain."""
        return normal_logpdf(self.data.harvest, self.predict(a, b, shared[:, :1]), np.exp(shared[:, 1:]))

    def site_prior(self, a, b, hyper):
        mean_a, mean_b, log_a, log_b = (hyper[:, k : k + 1] for k in range(4))
        return normal_logpdf(a, mean_a, np.exp(log_a)) + normal_logpdf(b, mean_b, np.exp(log_b))

    def hyper_prior(self, hyper):
        location = normal_logpdf(hyper[:, 0], 0.0, 10.0) + normal_logpdf(hyper[:, 1], 0.0, 5.0)
        return location + half_normal_log(hyper[:, 2], 2.0) + half_normal_log(hyper[:, 3], 2.0)

    def shared_prior(self, shared):
        return normal_logpdf(shared[:, 0], 0.0, 5.0) + half_normal_log(shared[:, 1], 2.0)

    def sweep(self):
        """Update the sites (each on its own), then their population, then what all share."""
        rng = self.rng

        stepper = self.steppers["sites"]
        a = self.a + stepper.width * rng.standard_normal(self.a.shape)
        b = self.b + stepper.width * rng.standard_normal(self.b.shape)
        likelihood = self.pointwise(a, b, self.shared) - self.pointwise(self.a, self.b, self.shared)
        gain = np.add.reduceat(likelihood, self.data.first, axis=1)
        gain += self.site_prior(a, b, self.hyper) - self.site_prior(self.a, self.b, self.hyper)
        accept = np.log(rng.random(gain.shape)) < gain
        self.a = np.where(accept, a, self.a)
        self.b = np.where(accept, b, self.b)
        stepper.count(accept)

        stepper = self.steppers["hyper"]
        hyper = self.hyper + stepper.width * rng.standard_normal(self.hyper.shape)
        gain = self.site_prior(self.a, self.b, hyper) - self.site_prior(self.a, self.b, self.hyper)
        gain = gain.sum(axis=1) + self.hyper_prior(hyper) - self.hyper_prior(self.hyper)
        accept = np.log(rng.random(self.chains)) < gain
        self.hyper[accept] = hyper[accept]
        stepper.count(accept)

        stepper = self.steppers["shared"]
        shared = self.shared + stepper.width * rng.standard_normal(self.shared.shape)
        likelihood = self.pointwise(self.a, self.b, shared) - self.pointwise(self.a, self.b, self.shared)
        gain = likelihood.sum(axis=1) + self.shared_prior(shared) - self.shared_prior(self.shared)
        accept = np.log(rng.random(self.chains)) < gain
        self.shared[accept] = shared[accept]
        stepper.count(accept)

    def state(self):
        h, s = self.hyper, self.shared
        top = np.column_stack([h[:, :2], np.exp(h[:, 2:]), s[:, 0], np.exp(s[:, 1])])
        return np.concatenate([top, self.a, self.b], axis=1)

    def log_likelihood(self, draws):
        j = self.data.count
        shared = np.column_stack([draws[:, 4], np.log(draws[:, 5])])
        return self.pointwise(draws[:, 6 : 6 + j], draws[:, 6 + j :], shared)

    def replicate(self, draws, rng):
        j = self.data.count
        mean = self.predict(draws[:, 6 : 6 + j], draws[:, 6 + j :], draws[:, 4:5])
        return mean + draws[:, 5:6] * rng.standard_normal(mean.shape)


class PoissonRegression:
    """counts ~ Poisson(exp(x @ beta)), all coefficients proposed together."""

    def __init__(self, x, counts, chains, rng):
        self.x, self.counts = x, counts
        self.rng = rng
        self.log_factorial = np.array([np.log(np.arange(1, k + 1)).sum() for k in counts])
        # propose along the directions of the information matrix at a crude fit
        crude = np.linalg.lstsq(x, np.log(counts + 0.5), rcond=None)[0]
        weights = np.exp(x @ crude)
        self.root = np.linalg.cholesky(np.linalg.inv(x.T @ (weights[:, None] * x)))
        self.beta = crude + rng.standard_normal((chains, x.shape[1])) @ (3.0 * self.root.T)
        self.current = self.log_posterior(self.beta)
        self.steppers = {"beta": Stepper(1.0, 0.3)}
        self.names = ["intercept", "warmth", "light", "product", "square"]

    def log_likelihood(self, beta):
        eta = beta @ self.x.T
        return self.counts * eta - np.exp(eta) - self.log_factorial

    def log_posterior(self, beta):
        return self.log_likelihood(beta).sum(axis=1) + normal_logpdf(beta, 0.0, 2.5).sum(axis=1)

    def sweep(self):
        stepper = self.steppers["beta"]
        beta = self.beta + stepper.width * self.rng.standard_normal(self.beta.shape) @ self.root.T
        proposed = self.log_posterior(beta)
        accept = np.log(self.rng.random(len(beta))) < proposed - self.current
        self.beta = np.where(accept[:, None], beta, self.beta)
        self.current = np.where(accept, proposed, self.current)
        stepper.count(accept)

    def state(self):
        return self.beta

    def replicate(self, draws, rng):
        return rng.poisson(np.exp(draws @ self.x.T))


def sample(model, warmup, keep, thin=3, tune_every=25):
    """Draws of shape (kept, chains, parameters)."""
    for k in range(1, warmup + 1):
        model.sweep()
        if k % tune_every == 0:
            for stepper in model.steppers.values():
                stepper.tune()
    draws = np.empty((keep,) + model.state().shape)
    for k in range(keep):
        for _ in range(thin):
            model.sweep()
        draws[k] = model.state()
    return draws


def split_rhat(draws):
    """Potential scale reduction with every chain cut in two."""
    half = len(draws) // 2
    halves = np.concatenate([draws[:half], draws[half : 2 * half]], axis=1)
    within = halves.var(axis=0, ddof=1).mean(axis=0)
    between = halves.mean(axis=0).var(axis=0, ddof=1)
    return np.sqrt((half - 1.0) / half + between / within)


def effective_size(draws):
    """Effective sample size of every parameter over all chains."""
    n, chains, parameters = draws.shape
    centered = draws - draws.mean(axis=0)
    spectrum = np.fft.rfft(centered, n=2 * n, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[:n].mean(axis=1) / n
    within = covariance[0] * n / (n - 1.0)
    pooled = covariance[0] + draws.mean(axis=0).var(axis=0, ddof=1)
    rho = 1.0 - (within - covariance) / pooled
    sizes = []
    for k in range(parameters):
        total = 0.0
        for lag in range(0, n - 1, 2):
            pair = rho[lag, k] + rho[lag + 1, k]
            if pair < 0.0:
                break
            total += pair
        sizes.append(n * chains / max(2.0 * total - 1.0, 1.0))
    return np.array(sizes)


def summarize(title, model, draws, show):
    n, chains, _ = draws.shape
    flat = draws.reshape(n * chains, -1)
    rhat, ess = split_rhat(draws), effective_size(draws)
    print(f"{title}: {chains} chains of {n} draws")
    for name, stepper in model.steppers.items():
        print(f"  {name}: accepted {stepper.rate:.3f}, width {stepper.width:.4f}")
    print(f"  {'':<10} {'mean':>9} {'sd':>8} {'5%':>9} {'50%':>9} {'95%':>9} {'R-hat':>7} {'ESS':>8}")
    quantiles = np.quantile(flat, [0.05, 0.5, 0.95], axis=0)
    for k in range(show):
        low, middle, high = quantiles[:, k]
        print(
            f"  {model.names[k]:<10} {flat[:, k].mean():9.4f} {flat[:, k].std(ddof=1):8.4f} {low:9.4f} {middle:9.4f} "
            f"{high:9.4f} {rhat[k]:7.4f} {ess[k]:8.5g}"
        )
    worst = int(np.argmax(rhat))
    print(f"  largest R-hat {rhat[worst]:.4f} ({model.names[worst]}), smallest ESS {ess.min():.5g}")


def waic(model, draws):
    """Widely applicable information criterion and its effective number of parameters."""
    pointwise = model.log_likelihood(draws)
    fit = (np.logaddexp.reduce(pointwise, axis=0) - np.log(len(draws))).sum()
    parameters = pointwise.var(axis=0, ddof=1).sum()
    return -2.0 * (fit - parameters), parameters


def check_model(model, draws, observed, statistics, rng, most=1500):
    """Print the WAIC and how often simulated data exceed the observed ones in each statistic."""
    flat = draws.reshape(-1, draws.shape[2])
    few = flat[:: max(1, len(flat) // most)]
    criterion, parameters = waic(model, few)
    print(f"  WAIC {criterion:.5g} with {parameters:.4g} effective parameters")
    simulated = model.replicate(few, rng)
    for name, statistic in statistics.items():
        actual = statistic(observed[None, :])[0]
        values = statistic(simulated)
        p = np.mean(values > actual) + 0.5 * np.mean(values == actual)
        low, high = np.quantile(values, [0.05, 0.95])
        print(f"  {name:<22} observed {actual:9.4f}, simulated {low:9.4f} .. {high:9.4f}, p {p:.3f}")


def main():
    parser = argparse.ArgumentParser(description="two Bayesian regressions by Metropolis sampling")
    parser.add_argument("scale", nargs="?", type=float, default=1.0)
    scale = parser.parse_args().scale
    keep = max(40, int(round(4500 * scale)))
    warmup = max(50, int(round(2500 * scale)))
    rng = np.random.default_rng(2718)
    sites = make_sites(rng)
    x, counts = make_counts(rng)

    model = HierarchicalRegression(sites, chains=32, rng=rng)
    draws = sample(model, warmup, keep)
    summarize(f"harvest at {sites.count} sites, {len(sites.site)} measurements", model, draws, show=8)

    statistics = {
        "mean": lambda y: y.mean(axis=1),
        "standard deviation": lambda y: y.std(axis=1),
        "lowest": lambda y: y.min(axis=1),
        "spread of totals": lambda y: np.add.reduceat(y, sites.first, axis=1).std(axis=1),
    }
    check_model(model, draws, sites.harvest, statistics, rng)
    flat = draws.reshape(-1, draws.shape[2])
    a = flat[:, 6 : 6 + sites.count]
    best = np.bincount(a.argmax(axis=1), minlength=sites.count) / len(a)
    print("  chance to be the best site: " + " ".join(f"{p:.3f}" for p in best))
    pooled = flat[:, 6 + sites.count :].mean(axis=0)
    alone = [np.polyfit(sites.rain[sites.site == k], sites.harvest[sites.site == k], 1)[0] for k in range(sites.count)]
    print(f"  spread of the slopes: fitted one by one {np.std(alone):.4f}, together {pooled.std():.4f}")

    insects = PoissonRegression(x, counts, chains=40, rng=rng)
    draws = sample(insects, warmup, keep)
    summarize(f"insects in {len(counts)} traps", insects, draws, show=5)
    statistics = {
        "mean": lambda y: y.mean(axis=1),
        "share of zeros": lambda y: (y == 0).mean(axis=1),
        "mean square": lambda y: (y**2).mean(axis=1),
        "largest": lambda y: y.max(axis=1),
    }
    check_model(insects, draws, counts, statistics, rng)


if __name__ == "__main__":
    main()
