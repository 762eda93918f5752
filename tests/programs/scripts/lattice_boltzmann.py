"""Flow past obstacles in a channel by the lattice Boltzmann method (D2Q9).

The fluid enters on the left with a parabolic profile, leaves freely on the right and sticks to both walls and to the
obstacles (bounce-back). The forces on each obstacle come from the momentum exchanged with it. Collisions are either BGK
or two-relaxation-time. First a plain channel driven by a body force is compared with Poiseuille's parabola.

Usage: python lattice_boltzmann.py [scale]
"""

import sys
from collections import defaultdict

import numpy as np

# rest, east, north, west, south, then the diagonals from north-east on
C = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
W = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
EASTWARD = [1, 5, 8]
WESTWARD = [3, 6, 7]
MAGIC = 3.0 / 16.0


def equilibrium(rho, ux, uy):
    """Second-order equilibrium populations for a density and a velocity field."""
    feq = np.empty((9,) + rho.shape)
    usq = 1.5 * (ux**2 + uy**2)
    for q, (cx, cy) in enumerate(C):
        cu = 3.0 * (cx * ux + cy * uy)
        feq[q] = W[q] * rho * (1.0 + cu + 0.5 * cu**2 - usq)
    return feq


def moments(f):
    """Density and velocity."""
    rho = f.sum(axis=0)
    ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho
    uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho
    return rho, ux, uy


def stream(f):
    """Move every population one cell along its direction."""
    moved = np.empty_like(f)
    for q, (cx, cy) in enumerate(C):
        moved[q] = np.roll(np.roll(f[q], cx, axis=0), cy, axis=1)
    return moved


def parabola(ny, peak):
    """Poiseuille's profile between walls half a cell inside the first and the last row."""
    y = np.arange(ny) - 0.5
    height = ny - 2
    profile = 4.0 * peak * y * (height - y) / height**2
    profile[0] = profile[-1] = 0.0
    return profile


def disc(shape, cx, cy, radius):
    x, y = np.indices(shape)
    return (x - cx) ** 2 + (y - cy) ** 2 <= radius**2


def box(shape, x0, x1, y0, y1):
    x, y = np.indices(shape)
    return (x >= x0) & (x < x1) & (y >= y0) & (y < y1)


class Channel:
    """A channel of nx by ny cells with solid rows at the bottom and the top."""

    def __init__(self, nx, ny, viscosity, bodies=None, peak=0.1, collision="bgk", body_force=None):
        self.nx, self.ny = nx, ny
        self.viscosity = viscosity
        self.tau = 3.0 * viscosity + 0.5
        self.bodies = bodies or {}
        self.collision = collision
        self.body_force = body_force
        self.peak = peak
        self.steps = 0

        self.walls = np.zeros((nx, ny), dtype=bool)
        self.walls[:, [0, -1]] = True
        self.solid = self.walls.copy()
        for mask in self.bodies.values():
            self.solid |= mask
        self.fluid = ~self.solid

        self.inflow = parabola(ny, peak)
        ux = np.where(self.solid, 0.0, self.inflow)
        self.f = equilibrium(np.ones((nx, ny)), ux, np.zeros((nx, ny)))

    @property
    def periodic(self):
        return self.body_force is not None

    def collide(self, f):
        feq = equilibrium(*moments(f))
        if self.collision == "bgk":
            return f - (f - feq) / self.tau
        # relax the even and the odd parts at their own rates
        deviation = f - feq
        turned = deviation[OPPOSITE]
        tau_odd = MAGIC / (self.tau - 0.5) + 0.5
        return f - 0.5 * (deviation + turned) / self.tau - 0.5 * (deviation - turned) / tau_odd

    def open_ends(self, f):
        """Velocity inlet after Zou and He on the left, zero gradient on the right."""
        u = self.inflow[1:-1]
        west = f[:, 0, 1:-1]
        rho = (west[0] + west[2] + west[4] + 2.0 * (west[3] + west[6] + west[7])) / (1.0 - u)
        skew = 0.5 * (west[2] - west[4])
        west[1] = west[3] + 2.0 / 3.0 * rho * u
        west[5] = west[7] - skew + rho * u / 6.0
        west[8] = west[6] + skew + rho * u / 6.0
        f[WESTWARD, -1, :] = f[WESTWARD, -2, :]

    def step(self):
        f = self.f
        after = self.collide(f)
        if self.body_force is not None:
            for q, (cx, cy) in enumerate(C):
                after[q] += 3.0 * W[q] * (cx * self.body_force[0] + cy * self.body_force[1])
        after[:, self.solid] = f[:, self.solid][OPPOSITE]
        f = stream(after)
        if not self.periodic:
            self.open_ends(f)
        self.f = f
        self.steps += 1

    def force_on(self, name):
        """Momentum that a body takes from the fluid in the coming bounce."""
        hitting = self.f[:, self.bodies[name]].sum(axis=1)
        fx, fy = 2.0 * (C * hitting[:, None]).sum(axis=0)
        return fx, fy

    def fields(self):
        rho, ux, uy = moments(self.f)
        return rho, np.where(self.solid, 0.0, ux), np.where(self.solid, 0.0, uy)

    def vorticity(self):
        _, ux, uy = self.fields()
        curl = np.gradient(uy, axis=0) - np.gradient(ux, axis=1)
        near_solid = self.solid.copy()
        for axis in (0, 1):
            for shift in (-1, 1):
                near_solid |= np.roll(self.solid, shift, axis=axis)
        return np.where(near_solid, 0.0, curl)

    def mass(self):
        return self.f[:, self.fluid].sum()

    def flux(self, column):
        rho, ux, _ = self.fields()
        return (rho[column] * ux[column]).sum()


class Monitor:
    """Samples of a running channel every few steps."""

    def __init__(self, channel, length, every=5):
        self.channel = channel
        self.every = every
        mean_speed = 2.0 / 3.0 * channel.peak
        self.to_coefficient = 2.0 / (mean_speed**2 * length)
        self.series = defaultdict(list)

    def __call__(self):
        channel = self.channel
        if channel.steps % self.every:
            return
        for name in channel.bodies:
            fx, fy = channel.force_on(name)
            self.series["drag " + name].append(fx * self.to_coefficient)
            self.series["lift " + name].append(fy * self.to_coefficient)
        rho, ux, uy = channel.fields()
        self.series["mass"].append(rho[channel.fluid].mean())
        self.series["kinetic energy"].append(0.5 * (rho * (ux**2 + uy**2))[channel.fluid].mean())

    def tail(self, name, fraction=0.5):
        """The later part of a series, without the start-up."""
        values = np.array(self.series[name])
        return values[int(len(values) * (1.0 - fraction)) :]


def wake_length(channel, ux, row, start):
    """How far behind `start` the flow along a row runs backwards."""
    forward = np.flatnonzero(ux[start:, row] > 0.0)
    return int(forward[0]) if len(forward) else channel.nx - start


def poiseuille(steps):
    """A channel driven by a body force must keep the parabola."""
    ny, viscosity, peak = 34, 0.12, 0.06
    height = ny - 2
    push = 8.0 * viscosity * peak / height**2
    exact = parabola(ny, peak)
    print(f"Poiseuille flow over {height} cells, {steps} steps")
    for collision in ("bgk", "trt"):
        channel = Channel(8, ny, viscosity, peak=peak, collision=collision, body_force=(push, 0.0))
        start = channel.mass()
        for _ in range(steps):
            channel.step()
        _, ux, uy = channel.fields()
        ux[:, 1:-1] += 0.5 * push  # half of the force belongs to the velocity
        error = np.abs(ux[4] - exact).max() / peak
        print(
            f"  {collision}: peak {ux[4].max():.6f} of {peak}, largest error {error:.6f}, "
            f"sideways below 1e-10: {np.abs(uy).max() < 1e-10}, mass kept: {abs(channel.mass() / start - 1.0) < 1e-11}"
        )


def cases(nx, ny):
    """The obstacles of every case by name, with the length for the Reynolds number."""
    shape = (nx, ny)
    middle = ny // 2
    return {
        "cylinder": {
            "bodies": {"cylinder": disc(shape, nx // 5, middle + 1.3, 6.4)},
            "length": 13.0,
            "reynolds": 80.0,
            "collision": "trt",
            "share": 0.5,
        },
        "staggered squares": {
            "bodies": {
                "lower": box(shape, nx // 5, nx // 5 + 10, middle - 16, middle - 6),
                "upper": box(shape, nx // 5 + 28, nx // 5 + 38, middle + 4, middle + 14),
            },
            "length": 10.0,
            "reynolds": 45.0,
            "collision": "bgk",
            "share": 0.3,
        },
        "step and plate": {
            "bodies": {
                "step": box(shape, 20, 60, 1, 16),
                "plate": box(shape, 95, 98, ny - 21, ny - 9),
            },
            "length": 15.0,
            "reynolds": 40.0,
            "collision": "bgk",
            "share": 0.2,
        },
    }


def run_case(name, case, nx, ny, steps, peak=0.1):
    mean_speed = 2.0 / 3.0 * peak
    viscosity = mean_speed * case["length"] / case["reynolds"]
    channel = Channel(nx, ny, viscosity, case["bodies"], peak=peak, collision=case["collision"])
    monitor = Monitor(channel, case["length"])
    for _ in range(steps):
        channel.step()
        monitor()
    report_case(name, case, channel, monitor)


def report_case(name, case, channel, monitor):
    print(f"{name}: {channel.steps} steps, Re {case['reynolds']:g}, tau {channel.tau:.4f}, {channel.collision}")
    for body in channel.bodies:
        drag, lift = monitor.tail("drag " + body), monitor.tail("lift " + body)
        print(
            f"  {body:<9} drag {drag.mean():.4f} ({drag.min():.4f} .. {drag.max():.4f}), "
            f"lift {lift.mean():.4f} ({lift.min():.4f} .. {lift.max():.4f})"
        )
    for quantity in ("mass", "kinetic energy"):
        values = np.array(monitor.series[quantity])
        print(f"  {quantity}: first {values[0]:.5g}, last {values[-1]:.5g}, highest {values.max():.5g}")

    rho, ux, uy = channel.fields()
    speed = np.hypot(ux, uy)
    curl = channel.vorticity()
    pressure = np.where(channel.fluid, rho / 3.0, 0.0).sum(axis=1) / channel.fluid.sum(axis=1)
    print(f"  fastest {speed.max():.5f}, compared with the inlet {speed.max() / channel.peak:.4f}")
    print(f"  vorticity {curl.min():.5f} .. {curl.max():.5f}, enstrophy {0.5 * (curl**2).sum():.5g}")
    print(f"  pressure drop {pressure[2] - pressure[-3]:.5f}")
    stations = [5, channel.nx // 2, channel.nx - 5]
    print("  flux at the stations: " + " ".join(f"{channel.flux(i):.5f}" for i in stations))
    for body, mask in channel.bodies.items():
        columns, rows = np.nonzero(mask)
        row, start = int(np.median(rows)), int(columns.max()) + 1
        print(f"  reversed flow behind {body}: {wake_length(channel, ux, row, start)} cells")
    profile = ux[3 * channel.nx // 4, 1:-1]
    samples = profile[:: max(1, len(profile) // 7)]
    print("  profile at three quarters: " + " ".join(f"{value / channel.peak:.4f}" for value in samples))


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    nx, ny = 180, 62
    total = max(60, int(round(7000 * scale)))
    poiseuille(max(40, total // 4))
    print(f"channel of {nx} x {ny} cells")
    for name, case in cases(nx, ny).items():
        run_case(name, case, nx, ny, steps=max(20, int(round(total * case["share"]))))


if __name__ == "__main__":
    main()
