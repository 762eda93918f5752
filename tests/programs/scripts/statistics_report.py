"""A statistical report on a made-up clinical trial, with a figure.

Three treatments are compared on patients from several clinics. The script prints summaries, bootstrap intervals, a
permutation test, linear, ridge and logistic regressions and the modes of a kernel density estimate, and saves a
figure with four panels as statistics_report.png in the current folder.

Usage: python statistics_report.py [scale]
"""

import argparse

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

TREATMENTS = ["placebo", "standard", "new"]
FIGURE = "statistics_report.png"


def make_trial(patients, rng):
    """Draw the patients of the trial as a dict of columns."""
    clinic = rng.integers(0, 8, patients)
    treatment = rng.integers(0, 3, patients)
    age = np.clip(rng.normal(52, 13, patients), 18, 90)
    weight = rng.normal(76, 12, patients)
    dose = np.where(treatment == 0, 0.0, rng.uniform(5, 20, patients))
    frail = rng.random(patients) < 0.35
    effect = np.array([0.0, 3.0, 5.0])[treatment] + np.array([0.0, 0.1, 0.25])[treatment] * dose
    pressure = 128 + 0.45 * (age - 50) + 0.2 * (weight - 75) + 14 * frail - effect
    pressure = pressure + np.linspace(-3, 3, 8)[clinic] + 6 * rng.standard_normal(patients)
    chance = 1 / (1 + np.exp(-(-1.2 + 0.04 * (age - 50) + 0.05 * (pressure - 128))))
    event = rng.random(patients) < chance
    return {
        "clinic": clinic,
        "treatment": treatment,
        "age": age,
        "weight": weight,
        "dose": dose,
        "pressure": pressure,
        "event": event.astype(float),
    }


def bootstrap(values, statistic, repeats, rng):
    """The statistic of many resamples."""
    results = np.empty(repeats)
    for i in range(repeats):
        resample = values[rng.integers(0, len(values), len(values))]
        results[i] = statistic(resample)
    return results


def trimmed_mean(values, share=0.1):
    """The mean without the smallest and the largest values."""
    ordered = np.sort(values)
    cut = int(share * len(ordered))
    return ordered[cut : len(ordered) - cut].mean()


def permutation_test(first, second, repeats, rng):
    """The difference of two means and how often chance alone makes one as large."""
    observed = first.mean() - second.mean()
    pooled = np.concatenate([first, second])
    extreme = 0
    for _ in range(repeats):
        shuffled = rng.permutation(pooled)
        difference = shuffled[: len(first)].mean() - shuffled[len(first) :].mean()
        if abs(difference) >= abs(observed):
            extreme += 1
    return observed, (extreme + 1) / (repeats + 1)


def design_matrix(trial):
    """The columns of the regressions, with their names."""
    names = ["constant", "age", "weight", "standard", "new", "dose"]
    columns = [
        np.ones(len(trial["age"])),
        (trial["age"] - 50) / 10,
        (trial["weight"] - 75) / 10,
        (trial["treatment"] == 1).astype(float),
        (trial["treatment"] == 2).astype(float),
        trial["dose"] / 10,
    ]
    return np.column_stack(columns), names


def least_squares(x, y):
    """Coefficients, standard errors and the share of the variance explained."""
    coefficients, _, _, _ = np.linalg.lstsq(x, y, rcond=None)
    residuals = y - x @ coefficients
    variance = residuals @ residuals / (len(y) - x.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(x.T @ x)))
    explained = 1 - residuals.var() / y.var()
    return coefficients, errors, explained


def ridge(x, y, penalty):
    """Ridge regression that leaves the constant alone."""
    shrink = penalty * np.eye(x.shape[1])
    shrink[0, 0] = 0.0
    return np.linalg.solve(x.T @ x + shrink, x.T @ y)


def cross_validate(x, y, penalty, folds, rng):
    """The mean squared error of ridge regression on patients left out."""
    order = rng.permutation(len(y))
    errors = []
    for part in np.array_split(order, folds):
        rest = np.setdiff1d(order, part)
        coefficients = ridge(x[rest], y[rest], penalty)
        errors.append(np.mean((y[part] - x[part] @ coefficients) ** 2))
    return np.mean(errors)


def logistic(x, y, steps=25):
    """Logistic regression by Newton's method."""
    coefficients = np.zeros(x.shape[1])
    for step in range(1, steps + 1):
        chance = 1 / (1 + np.exp(-x @ coefficients))
        gradient = x.T @ (y - chance)
        hessian = (x * (chance * (1 - chance))[:, None]).T @ x
        change = np.linalg.solve(hessian, gradient)
        coefficients = coefficients + change
        if np.abs(change).max() < 1e-6:
            break
    return coefficients, step


def area_under_curve(scores, outcome):
    """The chance that a patient with an event has a higher score than one without."""
    ranks = stats.rankdata(scores)
    positives = outcome.sum()
    negatives = len(outcome) - positives
    return (ranks[outcome == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives)


def kernel_density(values, grid, bandwidth):
    """A Gaussian kernel density estimate on a grid, a piece of the grid at a time."""
    density = np.zeros(len(grid))
    for start in range(0, len(grid), 16):
        piece = grid[start : start + 16]
        z = (piece[:, None] - values[None, :]) / bandwidth
        density[start : start + 16] = np.exp(-0.5 * z * z).sum(axis=1)
    return density / (len(values) * bandwidth * np.sqrt(2 * np.pi))


def silverman(values):
    """A common choice of the bandwidth."""
    quartiles = np.percentile(values, [25, 75])
    return 0.9 * min(values.std(ddof=1), (quartiles[1] - quartiles[0]) / 1.34) * len(values) ** -0.2


def describe(trial):
    """Print the groups and an analysis of variance between them."""
    groups = [trial["pressure"][trial["treatment"] == k] for k in range(3)]
    for name, group in zip(TREATMENTS, groups):
        z = (group - group.mean()) / group.std()
        mean, sd, skew = group.mean(), group.std(ddof=1), np.mean(z**3)
        print(f"{name:9s} n {len(group):5d}, mean {mean:.4f}, sd {sd:.4f}, skew {skew:.4f}")
    everything = np.concatenate(groups)
    between = sum(len(group) * (group.mean() - everything.mean()) ** 2 for group in groups) / 2
    within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (len(everything) - 3)
    p = stats.f.sf(between / within, 2, len(everything) - 3)
    print(f"analysis of variance: F {between / within:.5g}, p {'below 1e-6' if p < 1e-6 else format(p, '.4g')}")
    return groups


def principal_components(trial):
    """Print how the variance of the measurements divides into components."""
    data = np.column_stack([trial["age"], trial["weight"], trial["dose"], trial["pressure"]])
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    singular = np.linalg.svd(data, full_matrices=False, compute_uv=False)
    shares = singular**2 / np.sum(singular**2)
    print("principal components: " + " ".join(f"{share:.4f}" for share in shares))


def draw_figure(trial, groups, densities, grid, samples, errors):
    """Save the figure and return its size in pixels."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 7), dpi=100)
    for name, density in zip(TREATMENTS, densities):
        axes[0, 0].plot(grid, density, label=name)
    axes[0, 0].legend()
    axes[0, 0].set_xlabel("pressure")
    axes[0, 1].scatter(trial["age"][:800], trial["pressure"][:800], s=4, c=trial["treatment"][:800])
    line = np.polyfit(trial["age"], trial["pressure"], 1)
    ages = np.linspace(20, 85, 50)
    axes[0, 1].plot(ages, np.polyval(line, ages), color="black")
    axes[0, 1].set_xlabel("age")
    for name, sample in samples.items():
        axes[1, 0].hist(sample, bins=40, alpha=0.5, label=name)
    axes[1, 0].legend()
    axes[1, 0].set_xlabel("bootstrapped mean")
    axes[1, 1].semilogx(list(errors), list(errors.values()), marker="o")
    axes[1, 1].set_xlabel("penalty")
    figure.suptitle(f"Trial with {len(trial['age'])} patients, largest group {max(len(group) for group in groups)}")
    figure.tight_layout()
    figure.savefig(FIGURE)
    width, height = figure.canvas.get_width_height()
    plt.close(figure)
    return width, height


def main():
    """Make the trial, print the report and save the figure."""
    parser = argparse.ArgumentParser(description="statistics of a made-up trial")
    parser.add_argument("scale", nargs="?", type=float, default=1.0, help="amount of work, 1 for the full amount")
    scale = parser.parse_args().scale
    rng = np.random.default_rng(19081876)
    trial = make_trial(max(600, round(10000 * scale**0.5)), rng)
    repeats = max(100, round(34000 * scale))
    print(f"{len(trial['age'])} patients, {repeats} resamples")
    groups = describe(trial)

    samples = {}
    for name, group in zip(TREATMENTS, groups):
        samples[name] = bootstrap(group, np.mean, repeats, rng)
        low, high = np.percentile(samples[name], [2.5, 97.5])
        trimmed = bootstrap(group, trimmed_mean, repeats // 4, rng)
        median = bootstrap(group, np.median, repeats // 4, rng)
        spreads = f"sd of trimmed {trimmed.std():.4f}, of median {median.std():.4f}"
        print(f"{name:9s} mean in {low:.4f} to {high:.4f}, {spreads}")
    for k in (1, 2):
        difference, p = permutation_test(groups[k], groups[0], repeats // 2, rng)
        print(f"{TREATMENTS[k]} against placebo: {difference:.4f}, permutation p {p:.4g}")

    x, names = design_matrix(trial)
    coefficients, errors, explained = least_squares(x, trial["pressure"])
    print(f"linear regression explains {explained:.4f}")
    for name, value, error in zip(names, coefficients, errors):
        print(f"  {name:9s} {value:9.4f} +- {error:.4f}")
    squares = {}
    for penalty in (1.0, 10.0, 100.0, 1000.0):
        squares[penalty] = cross_validate(x, trial["pressure"], penalty, 8, np.random.default_rng(5))
    print("ridge errors: " + ", ".join(f"{penalty:g}: {error:.4f}" for penalty, error in squares.items()))
    features = np.column_stack([x, (trial["pressure"] - 128) / 10])
    weights, steps = logistic(features, trial["event"])
    print(f"logistic regression in {steps} steps: " + " ".join(f"{weight:.4f}" for weight in weights))
    print(f"area under the curve: {area_under_curve(features @ weights, trial['event']):.4f}")
    principal_components(trial)

    grid = np.linspace(90, 180, max(64, round(400 * scale**0.5)))
    densities = []
    for name, group in zip(TREATMENTS, groups):
        bandwidth = silverman(group)
        density = kernel_density(group, grid, bandwidth)
        densities.append(density)
        centre = np.sum(grid * density**4) / np.sum(density**4)
        mass = np.sum((density[1:] + density[:-1]) / 2 * np.diff(grid))
        peak = density.max()
        print(f"{name:9s} density: bandwidth {bandwidth:.4f}, peak {peak:.5f}, core {centre:.3f}, mass {mass:.5f}")
    by_clinic = [trial["pressure"][trial["clinic"] == k].mean() for k in range(8)]
    print("clinics: " + " ".join(f"{mean:.2f}" for mean in by_clinic))
    rank = stats.spearmanr(trial["age"], trial["pressure"]).statistic
    print(f"rank correlation of age and pressure: {rank:.4f}")
    width, height = draw_figure(trial, groups, densities, grid, samples, squares)
    print(f"saved {FIGURE}: {width} x {height} pixels")


if __name__ == "__main__":
    main()
