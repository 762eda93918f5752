"""Decaying two-dimensional turbulence in a periodic box, by a pseudo-spectral method.

The vorticity is kept in Fourier space. Viscosity is taken exactly with an integrating factor, advection with the
classical Runge-Kutta scheme and the two-thirds rule. Three flows are followed: a random field, the merger of two
like-signed vortices and a double shear layer. Before that the solver is checked against the Taylor-Green vortex and
against itself with smaller steps.

Usage: python turbulence.py [scale]
"""

import sys

import numpy as np


class Grid:
    """Wave numbers of an n x n grid on the box [0, 2 pi)^2 and what is derived from them."""

    def __init__(self, n):
        self.n = n
        self.x = np.arange(n) * 2 * np.pi / n
        self.X, self.Y = np.meshgrid(self.x, self.x)
        self.kx, self.ky = np.meshgrid(np.fft.rfftfreq(n, 1 / n), np.fft.fftfreq(n, 1 / n))
        self.k2 = self.kx**2 + self.ky**2
        self.inverse_k2 = 1.0 / np.where(self.k2 == 0, 1.0, self.k2)
        self.inverse_k2[0, 0] = 0.0
        cutoff = n / 3
        self.keep = (np.abs(self.kx) < cutoff) & (np.abs(self.ky) < cutoff)
        # the half-plane of wave numbers stands for the other half too
        self.weight = np.full(self.k2.shape, 2.0)
        self.weight[:, 0] = 1.0
        if n % 2 == 0:
            self.weight[:, -1] = 1.0
        self.shell = np.rint(np.sqrt(self.k2)).astype(int)

    def forward(self, field):
        return np.fft.rfft2(field)

    def backward(self, coefficients):
        return np.fft.irfft2(coefficients, s=(self.n, self.n))

    def mean_product(self, a, b):
        """Box average of the product of two fields given by their coefficients."""
        return np.sum(self.weight * (a.conj() * b).real) / self.n**4

    def by_shell(self, density):
        """Sum a spectral density over rings of integer wave number."""
        total = np.bincount(self.shell.ravel(), weights=(self.weight * density).ravel())
        return total[: self.n // 3] / self.n**4


class Flow:
    """The vorticity equation with viscosity nu * (-laplacian)**order."""

    def __init__(self, grid, vorticity, nu, order=1):
        self.grid = grid
        self.nu = nu
        self.order = order
        self.w = grid.forward(vorticity) * grid.keep
        self.w[0, 0] = 0.0
        self.time = 0.0

    @property
    def vorticity(self):
        return self.grid.backward(self.w)

    def velocity(self, w=None):
        g = self.grid
        psi = (self.w if w is None else w) * g.inverse_k2
        return g.backward(1j * g.ky * psi), g.backward(-1j * g.kx * psi)

    def advection(self, w):
        """Minus the advection term, dealiased."""
        g = self.grid
        u, v = self.velocity(w)
        wx = g.backward(1j * g.kx * w)
        wy = g.backward(1j * g.ky * w)
        return -g.forward(u * wx + v * wy) * g.keep

    def step(self, dt):
        half = np.exp(-self.nu * self.grid.k2**self.order * dt / 2)
        full = half**2
        w = self.w
        k1 = self.advection(w)
        k2 = self.advection(half * (w + 0.5 * dt * k1))
        k3 = self.advection(half * w + 0.5 * dt * k2)
        k4 = self.advection(full * w + dt * half * k3)
        self.w = full * w + dt / 6 * (full * k1 + 2 * half * (k2 + k3) + k4)
        self.time += dt

    def diagnose(self):
        """The global quantities at this moment."""
        g = self.grid
        w2 = np.abs(self.w) ** 2
        scale = g.weight / g.n**4
        energy = 0.5 * np.sum(scale * w2 * g.inverse_k2)
        enstrophy = 0.5 * np.sum(scale * w2)
        palinstrophy = 0.5 * np.sum(scale * w2 * g.k2)
        field = self.vorticity
        return {
            "time": self.time,
            "energy": energy,
            "enstrophy": enstrophy,
            "palinstrophy": palinstrophy,
            "peak": np.abs(field).max(),
            "kurtosis": np.mean(field**4) / np.mean(field**2) ** 2,
            "taylor": np.sqrt(energy / enstrophy),
            "dissipation": 2 * self.nu * 0.5 * np.sum(scale * w2 * g.k2 ** (self.order - 1)),
        }

    def spectrum(self):
        return self.grid.by_shell(0.5 * np.abs(self.w) ** 2 * self.grid.inverse_k2)

    def flux(self):
        """Energy passing each wave number towards smaller scales by the advection."""
        psi = self.w * self.grid.inverse_k2
        transfer = self.grid.by_shell((psi.conj() * self.advection(self.w)).real)
        return -np.cumsum(transfer)


class Tracers:
    """Fluid particles, carried with Heun's rule and bilinearly interpolated velocities."""

    def __init__(self, count, rng):
        self.start = rng.uniform(0, 2 * np.pi, size=(count, 2))
        self.position = self.start.copy()

    @staticmethod
    def sample(field, position):
        n = field.shape[0]
        cell = position * n / (2 * np.pi)
        lower = np.floor(cell).astype(int)
        fx, fy = (cell - lower).T
        i0, j0 = lower.T % n
        i1, j1 = (i0 + 1) % n, (j0 + 1) % n
        bottom = (1 - fx) * field[j0, i0] + fx * field[j0, i1]
        top = (1 - fx) * field[j1, i0] + fx * field[j1, i1]
        return (1 - fy) * bottom + fy * top

    def advance(self, before, after, dt):
        first = np.column_stack([self.sample(c, self.position) for c in before])
        guess = self.position + dt * first
        second = np.column_stack([self.sample(c, guess) for c in after])
        self.position = self.position + 0.5 * dt * (first + second)

    def spread(self):
        return np.sqrt(np.mean(np.sum((self.position - self.start) ** 2, axis=1)))


def random_vorticity(grid, rng, peak, energy):
    """A field of random phases with its energy around the wave number `peak`."""
    noise = grid.forward(rng.standard_normal((grid.n, grid.n)))
    k = np.sqrt(grid.k2)
    noise *= k**3 / (1 + (k / peak) ** 4) ** 1.75
    noise[0, 0] = 0.0
    now = 0.5 * np.sum(grid.weight * np.abs(noise) ** 2 * grid.inverse_k2) / grid.n**4
    return grid.backward(noise * np.sqrt(energy / now))


def vortex(grid, x, y, circulation, radius):
    """A Gaussian vortex with its periodic images next door."""
    total = np.zeros((grid.n, grid.n))
    for shift_x in (-2 * np.pi, 0.0, 2 * np.pi):
        for shift_y in (-2 * np.pi, 0.0, 2 * np.pi):
            r2 = (grid.X - x - shift_x) ** 2 + (grid.Y - y - shift_y) ** 2
            total += np.exp(-r2 / radius**2)
    return circulation / (np.pi * radius**2) * total


def shear_layers(grid, thickness, ripple):
    """Two opposite layers, slightly rippled."""
    lower = 1 / np.cosh((grid.Y - np.pi / 2) / thickness) ** 2
    upper = 1 / np.cosh((grid.Y - 3 * np.pi / 2) / thickness) ** 2
    return (upper - lower) / thickness + ripple * (np.cos(2 * grid.X) + 0.5 * np.cos(3 * grid.X + 1.0))


def courant(flow, dt):
    u, v = flow.velocity()
    return dt * (np.abs(u).max() + np.abs(v).max()) / (2 * np.pi / flow.grid.n)


def follow(flow, dt, steps, reports, tracers=None):
    """Run the flow; returns the diagnostics at about evenly spaced times."""
    history = [flow.diagnose()]
    every = max(1, steps // reports)
    before = flow.velocity() if tracers is not None else None
    for step in range(1, steps + 1):
        flow.step(dt)
        if tracers is not None:
            after = flow.velocity()
            tracers.advance(before, after, dt)
            before = after
        if step % every == 0 or step == steps:
            history.append(flow.diagnose())
    return history


def print_history(history):
    names = ["time", "energy", "enstrophy", "palinstrophy", "peak", "kurtosis", "taylor"]
    print("  " + " ".join(f"{name:>12}" for name in names))
    for row in history:
        print("  " + " ".join(f"{row[name]:12.5g}" for name in names))
    e = np.array([row["energy"] for row in history])
    t = np.array([row["time"] for row in history])
    loss = np.array([row["dissipation"] for row in history])
    expected = np.sum(0.5 * (loss[1:] + loss[:-1]) * np.diff(t))
    print(f"  energy lost {(e[0] - e[-1]) / e[0]:.4%}, by the dissipation {expected / e[0]:.3%}")


def structure_functions(flow, separations):
    """Second and third order longitudinal increments along x."""
    u, _ = flow.velocity()
    table = {}
    for r in separations:
        increment = np.roll(u, -r, axis=1) - u
        table[r] = (np.mean(increment**2), np.mean(increment**3))
    return table


def okubo_weiss(flow):
    """Shares of the area where rotation and where strain prevails clearly."""
    g = flow.grid
    psi = flow.w * g.inverse_k2
    normal = 2 * g.backward(-g.kx * g.ky * psi)
    shear = g.backward((g.kx**2 - g.ky**2) * psi)
    q = normal**2 + shear**2 - flow.vorticity**2
    limit = 0.2 * q.std()
    return np.mean(q < -limit), np.mean(q > limit)


def check_taylor_green():
    grid = Grid(32)
    nu = 0.02
    start = 2 * 3 * np.sin(3 * grid.X) * np.sin(3 * grid.Y)
    flow = Flow(grid, start, nu)
    for _ in range(10):
        flow.step(0.02)
    exact = start * np.exp(-nu * 18 * flow.time)
    print(f"Taylor-Green vortex is kept: {np.abs(flow.vorticity - exact).max() < 1e-11}")


def check_order():
    """Errors of runs with halved steps, as compared with a much finer one."""
    grid = Grid(48)
    start = vortex(grid, 2.5, 3.0, 4.0, 0.7) - vortex(grid, 4.2, 3.3, 3.0, 0.6)

    def final(steps):
        flow = Flow(grid, start, 2e-3)
        for _ in range(steps):
            flow.step(0.4 / steps)
        return flow.vorticity

    best = final(32)
    errors = [np.abs(final(steps) - best).max() for steps in (2, 4, 8)]
    orders = [np.log2(a / b) for a, b in zip(errors, errors[1:])]
    print("order of the time stepping: " + ", ".join(f"{order:.2f}" for order in orders))


def report_random(scale, rng):
    grid = Grid(256)
    flow = Flow(grid, random_vorticity(grid, rng, peak=6, energy=0.5), nu=5e-4)
    tracers = Tracers(500, rng)
    steps = max(4, round(480 * scale))
    print(f"random vorticity: {steps} steps, Courant number {courant(flow, 0.004):.3f}")
    history = follow(flow, 0.004, steps, 5, tracers)
    print_history(history)

    spectrum = flow.spectrum()
    k = np.arange(len(spectrum))
    flux = flow.flux()
    for low in (1, 2, 4, 8, 16, 32):
        band = slice(low, min(2 * low, len(spectrum)))
        print(f"  k {low:2d}..{band.stop - 1:2d}: energy {spectrum[band].sum():.4e}, flux at the end {flux[low]:+.3e}")
    print(f"  centroid of the energy at k = {np.sum(k * spectrum) / spectrum.sum():.4f}")
    slope, _ = np.polyfit(np.log(k[8:24]), np.log(spectrum[8:24]), 1)
    print(f"  slope of the spectrum between 8 and 24: {slope:.3f}")
    agrees = np.isclose(spectrum.sum(), history[-1]["energy"], rtol=0.01)
    print(f"  the spectrum adds up: {agrees}, no net transfer: {abs(flux[-1]) < 1e-4 * np.abs(flux).max() + 1e-3}")
    for r, (second, third) in structure_functions(flow, (1, 2, 4, 8, 16, 32)).items():
        print(f"  increments over {r:2d} cells: S2 {second:.5f}, S3 {third:+.5f}")
    rotation, strain = okubo_weiss(flow)
    print(f"  rotation over {rotation:.3f} and strain over {strain:.3f} of the area")
    print(f"  tracers went {tracers.spread():.4f} on average")


def report_merger(scale):
    grid = Grid(192)
    print("merging vortices")
    for gap in (1.1, 1.9):
        pair = vortex(grid, np.pi - gap / 2, np.pi, 4.0, 0.4) + vortex(grid, np.pi + gap / 2, np.pi, 4.0, 0.4)
        flow = Flow(grid, pair - pair.mean(), nu=5e-4)
        steps = max(3, round(180 * scale))
        for _ in range(steps):
            flow.step(0.012)
        w = np.clip(flow.vorticity, 0.5, None) - 0.5
        x, y = grid.X - np.pi, grid.Y - np.pi
        xx, yy, xy = (np.average(a, weights=w) for a in (x * x, y * y, x * y))
        middle = np.sqrt((xx - yy) ** 2 / 4 + xy**2)
        major, minor = (xx + yy) / 2 + middle, (xx + yy) / 2 - middle
        turned = np.degrees(0.5 * np.arctan2(2 * xy, xx - yy))
        print(
            f"  gap {gap}: after {flow.time:.2f} axes {np.sqrt(major):.4f} and {np.sqrt(minor):.4f}, "
            f"turned by {turned:.2f} degrees, peak {flow.vorticity.max():.4f}"
        )


def report_shear(scale):
    grid = Grid(192)
    flow = Flow(grid, shear_layers(grid, 0.25, 0.1), nu=2e-6, order=2)
    steps = max(4, round(220 * scale))
    print(f"double shear layer with hyperviscosity: {steps} steps, Courant number {courant(flow, 0.025):.3f}")
    history = follow(flow, 0.025, steps, 4)
    print_history(history)
    _, v = flow.velocity()
    modes = np.abs(np.fft.rfft(v, axis=1)).mean(axis=0) / grid.n
    print("  amplitudes along the layers: " + " ".join(f"{m}: {modes[m]:.5f}" for m in (1, 2, 3, 4, 6)))


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(1941)
    check_taylor_green()
    check_order()
    report_random(scale, rng)
    report_merger(scale)
    report_shear(scale)


if __name__ == "__main__":
    main()
