"""Shallow water equations in two dimensions by a second-order finite-volume method.

MUSCL reconstruction with a choice of limiter, HLL fluxes, Heun's method in time and a CFL-limited time step. Three
cases are run: a circular dam break between walls, a smooth wave in a periodic basin, and flow through an open channel.

Usage: python finite_volume.py [scale]
"""

import sys

import numpy as np

GRAVITY = 9.81
GHOST = 2


def minmod(a, b):
    """The smaller slope where both have one sign, else zero."""
    return np.where(a * b > 0.0, np.where(np.abs(a) < np.abs(b), a, b), 0.0)


def van_leer(a, b):
    """The harmonic mean of the slopes where both have one sign, else zero."""
    product = a * b
    total = a + b
    safe = np.where(product > 0.0, total, 1.0)
    return np.where(product > 0.0, 2.0 * product / safe, 0.0)


LIMITERS = {"minmod": minmod, "van Leer": van_leer}


class Grid:
    """A uniform grid with ghost cells around it."""

    def __init__(self, nx, ny, lx, ly):
        self.nx, self.ny = nx, ny
        self.lx, self.ly = lx, ly
        self.dx, self.dy = lx / nx, ly / ny
        x = (np.arange(nx) + 0.5) * self.dx
        y = (np.arange(ny) + 0.5) * self.dy
        self.X, self.Y = np.meshgrid(x, y, indexing="ij")

    @property
    def cell_area(self):
        return self.dx * self.dy

    def empty_state(self):
        return np.zeros((3, self.nx + 2 * GHOST, self.ny + 2 * GHOST))


def apply_boundaries(q, kinds):
    """Fill the ghost cells; `kinds` maps each side to "wall", "open" or "periodic"."""
    g = GHOST
    for k in range(g):
        # mirror images for walls and copies of the last cell for open sides
        if kinds["west"] == "periodic":
            q[:, k, :] = q[:, -2 * g + k, :]
        elif kinds["west"] == "wall":
            q[:, g - 1 - k, :] = q[:, g + k, :]
            q[1, g - 1 - k, :] *= -1.0
        else:
            q[:, k, :] = q[:, g, :]
        if kinds["east"] == "periodic":
            q[:, -g + k, :] = q[:, g + k, :]
        elif kinds["east"] == "wall":
            q[:, -g + k, :] = q[:, -g - 1 - k, :]
            q[1, -g + k, :] *= -1.0
        else:
            q[:, -g + k, :] = q[:, -g - 1, :]

    for k in range(g):
        if kinds["south"] == "periodic":
            q[:, :, k] = q[:, :, -2 * g + k]
        elif kinds["south"] == "wall":
            q[:, :, g - 1 - k] = q[:, :, g + k]
            q[2, :, g - 1 - k] *= -1.0
        else:
            q[:, :, k] = q[:, :, g]
        if kinds["north"] == "periodic":
            q[:, :, -g + k] = q[:, :, g + k]
        elif kinds["north"] == "wall":
            q[:, :, -g + k] = q[:, :, -g - 1 - k]
            q[2, :, -g + k] *= -1.0
        else:
            q[:, :, -g + k] = q[:, :, -g - 1]
    return q


def physical_flux(h, normal, tangent):
    """Flux through a face of depth `h` and the velocities across and along the face."""
    return np.stack([h * normal, h * normal**2 + 0.5 * GRAVITY * h**2, h * normal * tangent])


def hll_flux(left, right):
    """The flux of Harten, Lax and van Leer between two states of (h, u, v)."""
    hl, ul, vl = left
    hr, ur, vr = right
    cl, cr = np.sqrt(GRAVITY * hl), np.sqrt(GRAVITY * hr)
    sl = np.minimum(np.minimum(ul - cl, ur - cr), 0.0)
    sr = np.maximum(np.maximum(ul + cl, ur + cr), 0.0)
    fl, fr = physical_flux(hl, ul, vl), physical_flux(hr, ur, vr)
    ql = np.stack([hl, hl * ul, hl * vl])
    qr = np.stack([hr, hr * ur, hr * vr])
    return (sr * fl - sl * fr + sl * sr * (qr - ql)) / (sr - sl)


class ShallowWater:
    """The depth and the momenta of shallow water over a flat bottom."""

    def __init__(self, grid, boundaries, limiter="minmod", cfl=0.4):
        self.grid = grid
        self.boundaries = boundaries
        self.limiter = LIMITERS[limiter]
        self.cfl = cfl
        self.q = grid.empty_state()
        self.time = 0.0
        self.steps = 0

    @property
    def interior(self):
        return self.q[:, GHOST:-GHOST, GHOST:-GHOST]

    def set_state(self, h, u, v):
        self.interior[0] = h
        self.interior[1] = h * u
        self.interior[2] = h * v

    def time_step(self):
        h, hu, hv = self.interior
        c = np.sqrt(GRAVITY * h)
        fastest_x = np.max((np.abs(hu / h) + c) / self.grid.dx)
        fastest_y = np.max((np.abs(hv / h) + c) / self.grid.dy)
        return self.cfl / max(fastest_x, fastest_y)

    def reconstruct(self, w):
        """States on the two sides of the faces across the first axis of (h, u, v)."""
        difference = w[:, 1:] - w[:, :-1]
        slope = self.limiter(difference[:, :-1], difference[:, 1:])
        center = w[:, 1:-1]
        plus = center + 0.5 * slope
        minus = center - 0.5 * slope
        return plus[:, :-1], minus[:, 1:]

    def rate(self, q):
        """Time derivative of the interior cells."""
        g = GHOST
        apply_boundaries(q, self.boundaries)
        h = q[0]
        w = np.stack([h, q[1] / h, q[2] / h])

        left, right = self.reconstruct(w[:, :, g:-g])
        fx = hll_flux(left, right)

        # across y the roles of u and v change places
        turned = w[[0, 2, 1]][:, g:-g, :].transpose(0, 2, 1)
        left, right = self.reconstruct(turned)
        fy = hll_flux(left, right).transpose(0, 2, 1)[[0, 2, 1]]

        return -(fx[:, 1:] - fx[:, :-1]) / self.grid.dx - (fy[:, :, 1:] - fy[:, :, :-1]) / self.grid.dy

    def step(self, dt):
        """One step of Heun's method."""
        g = GHOST
        first = self.q.copy()
        first[:, g:-g, g:-g] += dt * self.rate(self.q)
        second = first.copy()
        second[:, g:-g, g:-g] += dt * self.rate(first)
        self.q = 0.5 * (self.q + second)
        self.time += dt
        self.steps += 1

    def run_until(self, end, watch=None):
        while self.time < end - 1e-9:
            dt = min(self.time_step(), end - self.time)
            self.step(dt)
            if watch is not None:
                watch(self)

    def totals(self):
        h, hu, hv = self.interior
        area = self.grid.cell_area
        kinetic = 0.5 * (hu**2 + hv**2) / h
        return {
            "volume": h.sum() * area,
            "x momentum": hu.sum() * area,
            "y momentum": hv.sum() * area,
            "energy": (kinetic + 0.5 * GRAVITY * h**2).sum() * area,
        }


def show_totals(label, totals):
    values = ", ".join(f"{name} {0.0 if abs(value) < 1e-9 else value:.6g}" for name, value in totals.items())
    print(f"  {label}: {values}")


def dam_break(n, end):
    """A column of water in a walled square falls and spreads."""
    print(f"circular dam break on {n} x {n} cells")
    walls = {side: "wall" for side in ("west", "east", "south", "north")}
    for name in LIMITERS:
        grid = Grid(n, n, 10.0, 10.0)
        water = ShallowWater(grid, walls, limiter=name)
        r = np.hypot(grid.X - 4.0, grid.Y - 5.0)
        depth = 1.0 + 0.5 * (1.0 - np.tanh((r - 1.5) / 0.3))
        water.set_state(depth, 0.0, 0.0)

        crest = []
        before = water.totals()
        water.run_until(end, watch=lambda s, crest=crest: crest.append(s.interior[0].max()))
        after = water.totals()
        h = water.interior[0]
        asymmetry = np.abs(h - h[:, ::-1]).max()
        print(f"  {name}: t = {water.time:.3f}, {water.steps} steps, depth {h.min():.5f} .. {h.max():.5f}")
        show_totals("before", before)
        show_totals("after", after)
        print(f"  volume kept: {abs(after['volume'] / before['volume'] - 1.0) < 1e-11}, highest {max(crest):.5f}")
        print(f"  symmetric about the middle: {asymmetry < 1e-9}")


def periodic_wave(n, end):
    """A smooth wave on a moving stream; the volume and both momenta are conserved."""
    print(f"periodic wave on {n} x {n} cells")
    grid = Grid(n, n, 2.0, 2.0)
    water = ShallowWater(grid, {side: "periodic" for side in ("west", "east", "south", "north")}, limiter="van Leer")
    phase_x, phase_y = np.pi * grid.X, np.pi * grid.Y
    water.set_state(1.0 + 0.05 * np.sin(phase_x) * np.cos(phase_y), 0.5, -0.25 + 0.02 * np.cos(phase_x))
    before = water.totals()
    water.run_until(end)
    after = water.totals()
    show_totals("before", before)
    show_totals("after", after)
    worst = max(abs(after[k] - before[k]) for k in ("volume", "x momentum", "y momentum"))
    print(f"  conserved to 1e-10: {worst < 1e-10}")
    spectrum = np.abs(np.fft.rfft2(water.interior[0] - water.interior[0].mean())) / (n * n)
    print(f"  amplitudes of the first modes: {spectrum[1, 1]:.4e} {spectrum[2, 2]:.4e}")


def channel(n, end):
    """A hump of water leaves a channel with open ends and side walls."""
    nx, ny = 2 * n, max(4, n // 2)
    print(f"open channel on {nx} x {ny} cells")
    grid = Grid(nx, ny, 20.0, 5.0)
    sides = {"west": "open", "east": "open", "south": "wall", "north": "wall"}
    water = ShallowWater(grid, sides, limiter="minmod")
    hump = 0.4 * np.exp(-((grid.X - 8.0) ** 2) - 0.5 * (grid.Y - 2.0) ** 2)
    water.set_state(1.0 + hump, 0.8, 0.0)

    gauges = {"upstream": 4.0, "middle": 10.0, "downstream": 16.0}
    series = {name: [] for name in gauges}

    def record(state):
        for name, x in gauges.items():
            i = int(x / grid.dx)
            series[name].append(state.interior[0, i, :].mean())

    water.run_until(end, watch=record)
    show_totals("after", water.totals())
    for name, values in series.items():
        values = np.array(values)
        print(f"  gauge {name:<10}: mean {values.mean():.5f}, highest {values.max():.5f}, last {values[-1]:.5f}")


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    n = max(16, int(round(190 * scale ** (1.0 / 3.0) / 2)) * 2)
    dam_break(n, end=0.8)
    periodic_wave(max(16, n // 2), end=0.5)
    channel(max(16, n // 2), end=2.0)


if __name__ == "__main__":
    main()
