"""A day-by-day study of an implied volatility surface.

Every day a chain of option quotes is made up from SABR smiles and rounded to ticks. The implied volatilities are
recovered from the quotes, an SVI curve is fitted to each expiry, and the surface is checked for arbitrage. At the end
a book of options is revalued under shocks of spot and volatility.

Usage: python option_surface.py [scale]
"""

import math
import sys
from dataclasses import dataclass

import numpy as np

TICK = 0.01
EXPIRIES = np.array([1, 2, 3, 4, 6, 9, 13, 17, 26, 39, 52, 78, 104]) / 52.0


def normal_pdf(x):
    return np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)


def normal_cdf(x):
    """Hart's rational approximation below seven deviations, a continued fraction beyond."""
    top = [0.0352624965998911, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871]
    top += [221.213596169931, 220.206867912376]
    bottom = [0.0883883476483184, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674]
    bottom += [637.333633378831, 793.826512519948, 440.413735824752]
    z = np.minimum(np.abs(x), 37.0)
    middle = np.polyval(top, z) / np.polyval(bottom, z)
    far = z + 1.0 / (z + 2.0 / (z + 3.0 / (z + 4.0 / (z + 0.65))))
    tail = np.exp(-0.5 * z * z) * np.where(z < 7.07, middle, 1.0 / (far * np.sqrt(2.0 * np.pi)))
    return np.where(x > 0, 1.0 - tail, tail)


def d1_d2(forward, strike, expiry, vol):
    deviation = vol * np.sqrt(expiry)
    d1 = np.log(forward / strike) / deviation + 0.5 * deviation
    return d1, d1 - deviation


def black(forward, strike, expiry, vol, discount, call):
    """Discounted prices; `call` says which are calls."""
    d1, d2 = d1_d2(forward, strike, expiry, vol)
    sign = np.where(call, 1.0, -1.0)
    return discount * sign * (forward * normal_cdf(sign * d1) - strike * normal_cdf(sign * d2))


def greeks(spot, strike, expiry, vol, rate, call):
    """The sensitivities to the spot, the volatility and the time, without dividends."""
    growth = np.exp(rate * expiry)
    d1, d2 = d1_d2(spot * growth, strike, expiry, vol)
    density, root = normal_pdf(d1), np.sqrt(expiry)
    exercised = np.where(call, normal_cdf(d2), -normal_cdf(-d2))
    vega = spot * density * root
    return {
        "delta": np.where(call, normal_cdf(d1), normal_cdf(d1) - 1.0),
        "gamma": density / (spot * vol * root),
        "vega": vega,
        "theta": -0.5 * spot * density * vol / root - rate * strike / growth * exercised,
        "vanna": -density * d2 / vol,
        "volga": vega * d1 * d2 / vol,
    }


def implied_volatility(price, forward, strike, expiry, discount, call, tol=1e-11, limit=60):
    """Newton's method within a shrinking bracket, for all the quotes together.

    Returns the volatilities (nan where the price lies outside the bounds) and the numbers of iterations.
    """
    arrays = np.broadcast_arrays(price / discount, forward, strike, expiry, call)
    undiscounted, forward, strike, expiry, call = (array.ravel() for array in arrays)

    intrinsic = np.maximum(np.where(call, forward - strike, strike - forward), 0.0)
    ceiling = np.where(call, forward, strike)
    active = (undiscounted > intrinsic + 1e-10) & (undiscounted < ceiling)
    low, high = np.full(strike.shape, 1e-3), np.full(strike.shape, 6.0)
    # start where the price is steepest in the volatility
    vol = np.clip(np.sqrt(2.0 * np.abs(np.log(forward / strike)) / expiry), 0.15, 3.0)
    result = np.full(strike.shape, np.nan)
    iterations = np.zeros(strike.shape, dtype=int)

    for _ in range(limit):
        i = np.flatnonzero(active)
        if len(i) == 0:
            break
        v = vol[i]
        error = black(forward[i], strike[i], expiry[i], v, 1.0, call[i]) - undiscounted[i]
        d1, _ = d1_d2(forward[i], strike[i], expiry[i], v)
        vega = forward[i] * normal_pdf(d1) * np.sqrt(expiry[i])
        low[i] = np.where(error < 0, v, low[i])
        high[i] = np.where(error < 0, high[i], v)
        newton = v - error / np.maximum(vega, 1e-12)
        inside = (newton > low[i]) & (newton < high[i])
        vol[i] = np.where(inside, newton, 0.5 * (low[i] + high[i]))
        iterations[i] += 1
        finished = (np.abs(error) < tol * forward[i]) | (high[i] - low[i] < 1e-12)
        result[i[finished]] = v[finished]
        active[i[finished]] = False
    return result.reshape(arrays[0].shape), iterations.reshape(arrays[0].shape)


def sabr_volatility(k, expiry, alpha, rho, nu):
    """Hagan's lognormal smile (beta = 1) at log-moneyness k = log(K / F)."""
    z = -nu / alpha * k
    near = np.abs(z) < 1e-5
    safe = np.where(near, 1.0, z)
    x = np.log((np.sqrt(1.0 - 2.0 * rho * safe + safe**2) + safe - rho) / (1.0 - rho))
    ratio = np.where(near, 1.0 - 0.5 * rho * z, safe / x)
    return alpha * ratio * (1.0 + (0.25 * rho * nu * alpha + (2.0 - 3.0 * rho**2) * nu**2 / 24.0) * expiry)


@dataclass
class SVI:
    """Total variance a + b (rho (k - m) + sqrt((k - m)^2 + s^2))."""

    a: float
    b: float
    rho: float
    m: float
    s: float

    def variance(self, k):
        return self.a + self.b * (self.rho * (k - self.m) + np.sqrt((k - self.m) ** 2 + self.s**2))

    def density_factor(self, k):
        """Durrleman's function; negative values mean a negative density."""
        u = k - self.m
        root = np.sqrt(u**2 + self.s**2)
        w = self.variance(k)
        first = self.b * (self.rho + u / root)
        second = self.b * self.s**2 / root**3
        return (1.0 - 0.5 * k * first / w) ** 2 - 0.25 * first**2 * (1.0 / w + 0.25) + 0.5 * second

    def jacobian(self, k):
        u = k - self.m
        root = np.sqrt(u**2 + self.s**2)
        return np.column_stack(
            [np.ones_like(k), self.rho * u + root, self.b * u, -self.b * (self.rho + u / root), self.b * self.s / root]
        )


def fit_svi(k, variance, weights, iterations=60):
    """Levenberg-Marquardt with the parameters kept within their ranges."""
    lower = np.array([-1.0, 1e-5, -0.999, -1.0, 5e-3])
    upper = np.array([4.0, 4.0, 0.999, 1.0, 3.0])
    atm = np.interp(0.0, k, variance)
    p = np.array([0.5 * atm, 0.1, -0.3, 0.0, 0.2])
    damping = 1e-3
    residual = weights * (SVI(*p).variance(k) - variance)
    cost = residual @ residual
    for _ in range(iterations):
        J = weights[:, None] * SVI(*p).jacobian(k)
        normal = J.T @ J
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -J.T @ residual)
        trial = np.clip(p + step, lower, upper)
        trial_residual = weights * (SVI(*trial).variance(k) - variance)
        trial_cost = trial_residual @ trial_residual
        if trial_cost < cost:
            moved = np.abs(trial - p).max()
            p, residual, cost = trial, trial_residual, trial_cost
            damping = max(damping / 5.0, 1e-9)
            if moved < 1e-9:
                break
        else:
            damping *= 4.0
    return SVI(*p)


class Surface:
    """SVI slices, joined linearly in total variance."""

    def __init__(self, expiries, slices):
        self.expiries = expiries
        self.slices = slices

    def variance(self, k, expiry):
        """Total variance on the grid of expiries (rows) and log-moneyness (columns)."""
        table = np.array([curve.variance(k) for curve in self.slices])
        i = np.clip(np.searchsorted(self.expiries, expiry) - 1, 0, len(self.expiries) - 2)
        f = ((expiry - self.expiries[i]) / (self.expiries[i + 1] - self.expiries[i]))[:, None]
        return (1.0 - f) * table[i] + f * table[i + 1]

    def volatility(self, k, expiry):
        """A single point."""
        return float(np.sqrt(self.variance(np.array([k]), np.array([expiry]))[0, 0] / expiry))

    def check(self, k):
        """Shares of the points with butterfly and with calendar arbitrage."""
        g = np.array([curve.density_factor(k) for curve in self.slices])
        table = np.array([curve.variance(k) for curve in self.slices])
        return np.mean(g < -1e-6), np.mean(np.diff(table, axis=0) < -1e-6)

    def local_volatility(self, k, expiry):
        w = self.variance(k, expiry)
        dw_dt = np.gradient(w, expiry, axis=0)
        dw_dk = np.gradient(w, k, axis=1)
        d2w_dk2 = np.gradient(dw_dk, k, axis=1)
        g = (1.0 - 0.5 * k * dw_dk / w) ** 2 - 0.25 * dw_dk**2 * (1.0 / w + 0.25) + 0.5 * d2w_dk2
        sound = (dw_dt > 0) & (g > 0.05)
        return np.sqrt(np.where(sound, dw_dt, 0.0) / np.where(sound, g, 1.0)), sound


def quote_chain(spot, rate, level, rho, rng):
    """Out-of-the-money quotes of a day: rows are expiries, columns strikes."""
    T = EXPIRIES[:, None]
    width = 2.5 * level * np.sqrt(T) + 0.02
    k = np.linspace(-1.4, 1.0, 61) * width
    forward = spot * np.exp(rate * T)
    strike = forward * np.exp(k)
    vol = sabr_volatility(k, T, level * (1.0 + 0.1 * np.sqrt(T)), rho, 0.9 / (T + 0.15) ** 0.4)
    vol = vol * (1.0 + 0.002 * rng.standard_normal(vol.shape))
    call = k >= 1e-9
    price = black(forward, strike, T, vol, np.exp(-rate * T), call)
    return k, forward, strike, call, np.round(price / TICK) * TICK


def fit_surface(k, vol, vega):
    slices, errors = [], []
    for i, expiry in enumerate(EXPIRIES):
        good = np.isfinite(vol[i]) & (vega[i] > 0.2 * TICK * 100)
        x, w = k[i, good], vol[i, good] ** 2 * expiry
        curve = fit_svi(x, w, 1.0 / (2.0 * vol[i, good] * expiry))
        slices.append(curve)
        errors.append(np.sqrt(np.mean((np.sqrt(curve.variance(x) / expiry) - vol[i, good]) ** 2)))
    return Surface(EXPIRIES, slices), np.array(errors)


def check_formulas():
    x = np.linspace(-9.0, 9.0, 1801)
    exact = np.array([0.5 * math.erfc(-v / math.sqrt(2.0)) for v in x])
    print(f"normal cdf agrees with erfc: {np.abs(normal_cdf(x) / exact - 1.0).max() < 1e-7}")

    strike, expiry = np.meshgrid(np.linspace(40.0, 220.0, 301), np.linspace(0.05, 3.0, 80))
    vol = 0.15 + 0.1 * np.log(strike / 100.0) ** 2 + 0.05 / (1.0 + expiry)
    call = strike >= 100.0
    price = black(100.0, strike, expiry, vol, 1.0, call)
    found, _ = implied_volatility(price, 100.0, strike, expiry, 1.0, call)
    clear = price > 1e-4
    print(f"volatilities recovered from {clear.sum()} prices: {np.abs(found - vol)[clear].max() < 1e-6}")
    parity = black(100.0, strike, expiry, vol, 1.0, True) - black(100.0, strike, expiry, vol, 1.0, False)
    print(f"put-call parity holds: {np.abs(parity - (100.0 - strike)).max() < 1e-9}")


def study(days, rng):
    """Follow the surface; returns the daily records, the last surface and the last spot."""
    spot, rate, level, rho = 100.0, 0.025, 0.18, -0.55
    k_dense = np.linspace(-0.4, 0.3, 281)
    t_dense = np.linspace(0.04, 1.9, 120)
    records = []
    for day in range(days):
        shock = rng.standard_normal(2)
        daily = level / np.sqrt(252.0)
        spot *= np.exp(daily * shock[0] - 0.5 * daily**2)
        level *= np.exp(0.08 * (np.log(0.18) - np.log(level)) + 0.035 * (-0.7 * shock[0] + 0.714 * shock[1]))
        rho = np.clip(rho + 0.01 * rng.standard_normal(), -0.8, -0.3)

        k, forward, strike, call, price = quote_chain(spot, rate, level, rho, rng)
        T = EXPIRIES[:, None]
        vol, iterations = implied_volatility(price, forward, strike, T, np.exp(-rate * T), call)
        vega = greeks(spot, strike, T, np.where(np.isfinite(vol), vol, 0.2), rate, call)["vega"]
        surface, errors = fit_surface(k, vol, vega)
        butterfly, calendar = surface.check(k_dense)
        local, sound = surface.local_volatility(k_dense, t_dense)

        dense_vol = np.sqrt(surface.variance(k_dense, t_dense) / t_dense[:, None])
        dense_strike = spot * np.exp(rate * t_dense[:, None] + k_dense)
        sensitivities = greeks(spot, dense_strike, t_dense[:, None], dense_vol, rate, k_dense > 0)

        record = {
            "spot": spot,
            "missing": np.isnan(vol).mean(),
            "iterations": iterations.mean(),
            "rmse": errors.mean(),
            "atm": surface.volatility(0.0, 0.25),
            "skew": (surface.volatility(0.05, 0.25) - surface.volatility(-0.05, 0.25)) / 0.1,
            "butterfly": butterfly,
            "calendar": calendar,
            "local": local[sound].mean(),
            **{name: np.abs(values).mean() for name, values in sensitivities.items()},
        }
        records.append(record)
    return records, surface, spot


def shock_book(surface, spot, count, rng, rate=0.025):
    """Profits of a random book over a table of shocks."""
    expiry = rng.choice(EXPIRIES[3:], size=count)
    strike = np.round(spot * np.exp(0.12 * np.sqrt(expiry) * rng.standard_normal(count)))
    call, amount = rng.random(count) < 0.5, rng.integers(-20, 21, size=count)
    vol = np.array([surface.volatility(np.log(s / spot) - rate * t, t) for s, t in zip(strike, expiry)])
    discount = np.exp(-rate * expiry)
    now = black(spot / discount, strike, expiry, vol, discount, call)

    spot_shocks, vol_shocks = np.linspace(-0.2, 0.2, 21), np.linspace(-0.05, 0.15, 9)
    moved = spot * (1.0 + spot_shocks)[:, None, None]
    raised = np.maximum(vol + vol_shocks[:, None], 0.03)
    then = black(moved / discount, strike, expiry, raised, discount, call)
    profit = (amount * (then - now)).sum(axis=-1)

    print(f"book of {count} options worth {np.sum(amount * now):.2f}")
    print("  spot   " + " ".join(f"vol{v:+6.1%}" for v in vol_shocks[::2]))
    for i in range(0, len(spot_shocks), 4):
        print(f"  {spot_shocks[i]:+5.0%} " + " ".join(f"{value:9.1f}" for value in profit[i, ::2]))
    print(f"  worst {profit.min():.1f}, best {profit.max():.1f}")


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(1973)
    check_formulas()
    days = max(3, round(250 * scale))
    records, surface, spot = study(days, rng)
    print(f"{days} days of {len(EXPIRIES)} expiries")
    for name in records[0]:
        values = np.array([record[name] for record in records])
        print(f"  {name:<11} mean {values.mean():.5g}, from {values.min():.5g} to {values.max():.5g}")

    moves = np.diff([(np.log(record["spot"]), record["atm"]) for record in records], axis=0)
    print(f"correlation of spot and volatility: {np.corrcoef(moves.T)[0, 1]:.4f}")
    print("slices of the last day")
    for expiry, c in list(zip(surface.expiries, surface.slices))[::3]:
        vol = np.sqrt(c.variance(0.0) / expiry)
        print(f"  {expiry * 52:5.0f} weeks: volatility {vol:.4f}, b {c.b:.4f}, rho {c.rho:+.4f}, s {c.s:.4f}")
    shock_book(surface, spot, max(50, round(1500 * scale)), rng)


if __name__ == "__main__":
    main()
