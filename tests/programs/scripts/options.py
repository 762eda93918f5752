"""Monte Carlo pricing of European, Asian and barrier options, compared with closed forms.

Paths of geometric Brownian motion with antithetic variates; a control variate for the Asian option; Greeks by bumping
the inputs with common random numbers.

Usage: python options.py [scale]
"""

import math
import sys
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Market:
    """What the price of an option depends on besides its payoff."""

    spot: float = 100.0
    rate: float = 0.03
    dividend: float = 0.01
    volatility: float = 0.25
    maturity: float = 1.0


@dataclass
class Estimate:
    """A Monte Carlo estimate and its standard error."""

    value: float
    error: float

    def within(self, exact, sigmas=4.0):
        return abs(self.value - exact) <= sigmas * self.error

    def __str__(self):
        return f"{self.value:9.5f} +- {self.error:.5f}"


def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def normal_pdf(x):
    return math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)


def black_scholes(market, strike, kind="call"):
    """Price and Greeks of a European option."""
    s, r, q, vol, t = market.spot, market.rate, market.dividend, market.volatility, market.maturity
    d1 = (math.log(s / strike) + (r - q + 0.5 * vol**2) * t) / (vol * math.sqrt(t))
    d2 = d1 - vol * math.sqrt(t)
    sign = 1.0 if kind == "call" else -1.0
    growth, discount = math.exp(-q * t), math.exp(-r * t)
    return {
        "price": sign * (s * growth * normal_cdf(sign * d1) - strike * discount * normal_cdf(sign * d2)),
        "delta": sign * growth * normal_cdf(sign * d1),
        "gamma": growth * normal_pdf(d1) / (s * vol * math.sqrt(t)),
        "vega": s * growth * normal_pdf(d1) * math.sqrt(t),
        "rho": sign * strike * t * discount * normal_cdf(sign * d2),
    }


def geometric_asian(market, strike, steps):
    """Exact price of a call on the geometric mean of the prices at `steps` equal times."""
    s, r, q, vol, t = market.spot, market.rate, market.dividend, market.volatility, market.maturity
    dt = t / steps
    mean = math.log(s) + (r - q - 0.5 * vol**2) * dt * (steps + 1) / 2.0
    variance = vol**2 * dt * (steps + 1) * (2 * steps + 1) / (6.0 * steps)
    sd = math.sqrt(variance)
    d2 = (mean - math.log(strike)) / sd
    d1 = d2 + sd
    forward = math.exp(mean + 0.5 * variance)
    return math.exp(-r * t) * (forward * normal_cdf(d1) - strike * normal_cdf(d2))


class PathGenerator:
    """Paths of geometric Brownian motion in batches; the second half of each batch mirrors the first."""

    def __init__(self, n_paths, steps, batch=20000, seed=1, antithetic=True):
        self.n_paths = n_paths
        self.steps = steps
        self.batch = batch
        self.seed = seed
        self.antithetic = antithetic

    def batches(self, market):
        rng = np.random.default_rng(self.seed)
        dt = market.maturity / self.steps
        drift = (market.rate - market.dividend - 0.5 * market.volatility**2) * dt
        diffusion = market.volatility * math.sqrt(dt)
        done = 0
        while done < self.n_paths:
            size = min(self.batch, self.n_paths - done)
            if self.antithetic:
                half = rng.standard_normal((size // 2, self.steps))
                z = np.concatenate([half, -half])
            else:
                z = rng.standard_normal((size, self.steps))
            increments = drift + diffusion * z
            yield market.spot * np.exp(np.cumsum(increments, axis=1))
            done += size


def european(strike, kind="call"):
    def payoff(paths):
        sign = 1.0 if kind == "call" else -1.0
        return np.maximum(sign * (paths[:, -1] - strike), 0.0)

    return payoff


def asian(strike, average="arithmetic"):
    def payoff(paths):
        if average == "arithmetic":
            mean = paths.mean(axis=1)
        else:
            mean = np.exp(np.log(paths).mean(axis=1))
        return np.maximum(mean - strike, 0.0)

    return payoff


def barrier(strike, level, kind="down-and-out"):
    def payoff(paths):
        direction, _, effect = kind.split("-")
        touched = paths.min(axis=1) <= level if direction == "down" else paths.max(axis=1) >= level
        alive = ~touched if effect == "out" else touched
        return np.where(alive, np.maximum(paths[:, -1] - strike, 0.0), 0.0)

    return payoff


def lookback(paths):
    """The last price less the lowest on the way."""
    return paths[:, -1] - paths.min(axis=1)


def summarize(samples, antithetic):
    """Mean and standard error; mirrored paths are averaged in pairs first."""
    if antithetic:
        samples = [0.5 * (x[: len(x) // 2] + x[len(x) // 2 :]) for x in samples]
    x = np.concatenate(samples)
    return Estimate(float(x.mean()), float(x.std(ddof=1) / math.sqrt(len(x))))


def price_all(market, payoffs, generator):
    """Estimates of several payoffs on the same paths."""
    discount = math.exp(-market.rate * market.maturity)
    samples = {name: [] for name in payoffs}
    for paths in generator.batches(market):
        for name, payoff in payoffs.items():
            samples[name].append(discount * payoff(paths))
    return {name: summarize(values, generator.antithetic) for name, values in samples.items()}, samples


def with_control(target, control, exact):
    """The estimate of `target` corrected by a control variate of known mean."""
    x, y = np.concatenate(target), np.concatenate(control)
    covariance = np.cov(x, y)
    beta = covariance[0, 1] / covariance[1, 1]
    adjusted = x - beta * (y - exact)
    correlation = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
    return Estimate(float(adjusted.mean()), float(adjusted.std(ddof=1) / math.sqrt(len(x)))), beta, correlation


def greeks_by_bumping(market, payoff, generator):
    """Delta, gamma, vega and rho by central differences on common random numbers."""

    def value(**changes):
        moved = replace(market, **changes)
        estimates, _ = price_all(moved, {"it": payoff}, generator)
        return estimates["it"].value

    ds, dv, dr = 0.05 * market.spot, 0.01, 0.001
    base = value()
    up, down = value(spot=market.spot + ds), value(spot=market.spot - ds)
    return {
        "price": base,
        "delta": (up - down) / (2.0 * ds),
        "gamma": (up - 2.0 * base + down) / ds**2,
        "vega": (value(volatility=market.volatility + dv) - value(volatility=market.volatility - dv)) / (2.0 * dv),
        "rho": (value(rate=market.rate + dr) - value(rate=market.rate - dr)) / (2.0 * dr),
    }


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    market = Market()
    strike = 105.0
    steps = 100
    n_paths = 2 * max(1000, int(600000 * scale))

    payoffs = {
        "European call": european(strike),
        "European put": european(strike, "put"),
        "Asian call": asian(strike),
        "geometric Asian call": asian(strike, "geometric"),
        "down-and-out call": barrier(strike, 85.0),
        "down-and-in call": barrier(strike, 85.0, "down-and-in"),
        "up-and-out call": barrier(strike, 150.0, "up-and-out"),
        "lookback call": lookback,
    }
    print(f"{n_paths} paths of {steps} steps")
    generator = PathGenerator(n_paths, steps, seed=11)
    estimates, samples = price_all(market, payoffs, generator)
    plain, _ = price_all(market, payoffs, PathGenerator(n_paths, steps, seed=12, antithetic=False))
    print(f"{'option':<22} {'antithetic':>20} {'plain':>20} {'variance ratio':>15}")
    for name, estimate in estimates.items():
        ratio = (plain[name].error / estimate.error) ** 2
        print(f"{name:<22} {estimate!s:>20} {plain[name]!s:>20} {ratio:15.3f}")

    call = black_scholes(market, strike)
    put = black_scholes(market, strike, "put")
    geometric = geometric_asian(market, strike, steps)
    exact = {
        "European call": call["price"],
        "European put": put["price"],
        "geometric Asian call": geometric,
    }
    for name, value in exact.items():
        print(f"{name} exactly {value:.5f}, within four errors: {estimates[name].within(value)}")
    forward = market.spot * math.exp(-market.dividend) - strike * math.exp(-market.rate)
    print(f"parity: call - put = {call['price'] - put['price']:.5f}, forward {forward:.5f}")
    both = estimates["down-and-out call"].value + estimates["down-and-in call"].value
    print(f"in and out make the European: {abs(both - estimates['European call'].value) < 1e-9}")

    controlled, beta, correlation = with_control(samples["Asian call"], samples["geometric Asian call"], geometric)
    print(f"Asian call with control {controlled}, beta {beta:.4f}, correlation {correlation:.5f}")

    print(f"{'strike':>7} {'Monte Carlo':>12} {'exact':>10}")
    strikes = [80.0, 95.0, 110.0, 125.0]
    ladder, _ = price_all(market, {k: european(k) for k in strikes}, PathGenerator(n_paths, 1, seed=13))
    for k in strikes:
        print(f"{k:7.1f} {ladder[k].value:12.5f} {black_scholes(market, k)['price']:10.5f}")

    greeks = greeks_by_bumping(market, european(strike), PathGenerator(n_paths // 2, steps // 2, seed=14))
    for name, value in greeks.items():
        print(f"{name:<6} by bumping {value:10.5f}, exact {call[name]:10.5f}")


if __name__ == "__main__":
    main()
