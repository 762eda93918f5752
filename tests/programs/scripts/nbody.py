"""Gravitational n-body simulation of a star cluster and of a small planetary system.

The cluster is a Plummer sphere with softened gravity, advanced by a kick-drift-kick leapfrog. The energy, the
angular momentum, the Lagrangian radii and the virial ratio are followed through the run.

Usage: python nbody.py [scale]
"""

import argparse
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Diagnostics:
    """What is recorded of a system at one time."""

    time: float
    kinetic: float
    potential: float
    angular_momentum: np.ndarray
    momentum: np.ndarray
    radii: dict = field(default_factory=dict)

    @property
    def energy(self):
        return self.kinetic + self.potential

    @property
    def virial_ratio(self):
        return -2.0 * self.kinetic / self.potential


class Gravity:
    """Softened Newtonian gravity by direct summation over all the pairs."""

    def __init__(self, G=1.0, softening=0.0):
        self.G = G
        self.softening = softening
        self.evaluations = 0

    def accelerations(self, positions, masses):
        delta = positions[np.newaxis, :, :] - positions[:, np.newaxis, :]
        r2 = np.sum(delta**2, axis=-1) + self.softening**2
        np.fill_diagonal(r2, 1.0)
        inv_r3 = 1.0 / (r2 * np.sqrt(r2))
        np.fill_diagonal(inv_r3, 0.0)
        self.evaluations += 1
        return self.G * np.einsum("ijk,ij,j->ik", delta, inv_r3, masses)

    def potential_energy(self, positions, masses):
        x, y, z = positions.T
        dx = x[:, None] - x[None, :]
        dy = y[:, None] - y[None, :]
        dz = z[:, None] - z[None, :]
        r = np.sqrt(dx**2 + dy**2 + dz**2 + self.softening**2)
        i, j = np.triu_indices(len(masses), k=1)
        return -self.G * np.sum(masses[i] * masses[j] / r[i, j])


class NBodySystem:
    """Point masses which attract one another."""

    def __init__(self, positions, velocities, masses, gravity):
        self.positions = np.array(positions, dtype=float)
        self.velocities = np.array(velocities, dtype=float)
        self.masses = np.array(masses, dtype=float)
        self.gravity = gravity
        self.time = 0.0
        self._acc = None

    def __len__(self):
        return len(self.masses)

    def to_center_of_mass(self):
        total = self.masses.sum()
        self.positions -= self.masses @ self.positions / total
        self.velocities -= self.masses @ self.velocities / total
        self._acc = None

    def step(self, dt):
        """One kick-drift-kick step."""
        if self._acc is None:
            self._acc = self.gravity.accelerations(self.positions, self.masses)
        self.velocities += 0.5 * dt * self._acc
        self.positions += dt * self.velocities
        self._acc = self.gravity.accelerations(self.positions, self.masses)
        self.velocities += 0.5 * dt * self._acc
        self.time += dt

    def lagrangian_radii(self, fractions):
        """Radii around the centre of mass which hold the given fractions of the mass."""
        center = np.average(self.positions, axis=0, weights=self.masses)
        r = np.linalg.norm(self.positions - center, axis=1)
        order = np.argsort(r)
        cumulative = np.cumsum(self.masses[order]) / self.masses.sum()
        return {f: float(np.interp(f, cumulative, r[order])) for f in fractions}

    def diagnose(self, fractions=()):
        kinetic = 0.5 * np.sum(self.masses * np.sum(self.velocities**2, axis=1))
        angular = np.sum(self.masses[:, None] * np.cross(self.positions, self.velocities), axis=0)
        return Diagnostics(
            time=self.time,
            kinetic=float(kinetic),
            potential=float(self.gravity.potential_energy(self.positions, self.masses)),
            angular_momentum=angular,
            momentum=self.masses @ self.velocities,
            radii=self.lagrangian_radii(fractions) if fractions else {},
        )


def random_directions(rng, n):
    """Points spread evenly over the unit sphere."""
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def plummer_sphere(n, rng, spin=0.2):
    """Positions, velocities and masses of a slowly turning Plummer model with G = M = a = 1."""
    u = rng.uniform(0.02, 0.95, size=n)
    r = 1.0 / np.sqrt(u ** (-2.0 / 3.0) - 1.0)
    positions = r[:, None] * random_directions(rng, n)

    # speeds as fractions of the escape speed, by von Neumann's rejection
    q = np.empty(n)
    filled = 0
    while filled < n:
        x = rng.uniform(size=2 * n)
        y = rng.uniform(0.0, 0.1, size=2 * n)
        accepted = x[y < x**2 * (1 - x**2) ** 3.5]
        take = min(len(accepted), n - filled)
        q[filled : filled + take] = accepted[:take]
        filled += take
    escape = np.sqrt(2.0) * (1.0 + r**2) ** -0.25
    velocities = (q * escape)[:, None] * random_directions(rng, n)
    velocities += spin * np.cross([0.0, 0.0, 1.0], positions) / (1.0 + r[:, None] ** 2)

    masses = rng.uniform(0.5, 1.5, size=n)
    masses /= masses.sum()
    return positions, velocities, masses


def planetary_system():
    """A star with four light planets on nearly circular orbits; units of AU, years and solar masses."""
    table = [
        {"name": "sun", "mass": 1.0, "a": 0.0, "angle": 0.0, "tilt": 0.0},
        {"name": "inner", "mass": 3.0e-6, "a": 0.72, "angle": 40.0, "tilt": 3.4},
        {"name": "home", "mass": 3.0e-6, "a": 1.0, "angle": 170.0, "tilt": 0.0},
        {"name": "giant", "mass": 9.5e-4, "a": 5.2, "angle": 260.0, "tilt": 1.3},
        {"name": "ringed", "mass": 2.9e-4, "a": 9.5, "angle": 10.0, "tilt": 2.5},
    ]
    G = 4.0 * np.pi**2
    positions, velocities = [], []
    for row in table:
        angle, tilt = np.radians(row["angle"]), np.radians(row["tilt"])
        if row["a"] == 0.0:
            positions.append(np.zeros(3))
            velocities.append(np.zeros(3))
            continue
        speed = np.sqrt(G * (1.0 + row["mass"]) / row["a"])
        radial = np.array([np.cos(angle), np.sin(angle) * np.cos(tilt), np.sin(angle) * np.sin(tilt)])
        forward = np.array([-np.sin(angle), np.cos(angle) * np.cos(tilt), np.cos(angle) * np.sin(tilt)])
        positions.append(row["a"] * radial)
        velocities.append(speed * forward)
    names = [row["name"] for row in table]
    masses = [row["mass"] for row in table]
    system = NBodySystem(positions, velocities, masses, Gravity(G=G))
    system.to_center_of_mass()
    return names, system


def run(system, dt, steps, every, fractions=()):
    """Advance the system, and return the diagnostics of each `every` steps."""
    history = [system.diagnose(fractions)]
    for step in range(1, steps + 1):
        system.step(dt)
        if step % every == 0 or step == steps:
            history.append(system.diagnose(fractions))
    return history


def report_cluster(scale):
    rng = np.random.default_rng(20240311)
    n = max(24, int(900 * scale**0.5))
    steps = max(10, int(100 * scale**0.5))
    fractions = (0.1, 0.5, 0.9)

    gravity = Gravity(softening=0.15)
    system = NBodySystem(*plummer_sphere(n, rng), gravity)
    system.to_center_of_mass()
    history = run(system, dt=0.01, steps=steps, every=max(1, steps // 6), fractions=fractions)

    print(f"cluster of {n} stars, {steps} steps, {gravity.evaluations} force evaluations")
    print(f"{'t':>6} {'kinetic':>10} {'potential':>10} {'energy':>10} {'virial':>8} {'r10':>7} {'r50':>7} {'r90':>7}")
    for d in history:
        radii = " ".join(f"{d.radii[f]:7.4f}" for f in fractions)
        print(f"{d.time:6.2f} {d.kinetic:10.6f} {d.potential:10.6f} {d.energy:10.6f} {d.virial_ratio:8.4f} {radii}")

    first, last = history[0], history[-1]
    drift = abs(last.energy - first.energy) / abs(first.energy)
    turned = np.linalg.norm(last.angular_momentum - first.angular_momentum)
    print(f"energy drift below 1e-3: {drift < 1e-3}")
    print(f"angular momentum: {first.angular_momentum[2]:.6g} about z, kept: {turned < 1e-10}")
    print(f"momentum stays zero: {np.abs(last.momentum).max() < 1e-12}")

    speeds = np.linalg.norm(system.velocities, axis=1)
    counts, edges = np.histogram(speeds, bins=5, range=(0.0, 1.5))
    for count, lo, hi in zip(counts, edges[:-1], edges[1:]):
        print(f"  speeds {lo:.1f} to {hi:.1f}: {count}")


def report_planets(scale):
    names, system = planetary_system()
    dt = 0.005
    years = max(1.0, 20.0 * scale)
    steps = round(years / dt)
    crossings = {name: 0 for name in names[1:]}
    nearest = {name: np.inf for name in names[1:]}
    farthest = {name: 0.0 for name in names[1:]}

    before = system.diagnose()
    previous = system.positions - system.positions[0]
    for _ in range(steps):
        system.step(dt)
        relative = system.positions - system.positions[0]
        distance = np.sqrt((relative**2).sum(axis=1))
        for k, name in enumerate(names[1:], start=1):
            if previous[k, 1] < 0.0 <= relative[k, 1]:
                crossings[name] += 1
            nearest[name] = min(nearest[name], distance[k])
            farthest[name] = max(farthest[name], distance[k])
        previous = relative
    after = system.diagnose()

    print(f"planets over {years:g} years")
    for name in names[1:]:
        eccentricity = (farthest[name] - nearest[name]) / (farthest[name] + nearest[name])
        print(
            f"  {name:<7} {crossings[name]:3d} revolutions, r {nearest[name]:.5f} .. {farthest[name]:.5f}, "
            f"e about {eccentricity:.4f}"
        )
    change = (after.energy - before.energy) / before.energy
    print(f"  energy {after.energy:.6g}, change below 1e-4: {abs(change) < 1e-4}")


def main():
    parser = argparse.ArgumentParser(description="Gravitational n-body simulation")
    parser.add_argument("scale", nargs="?", type=float, default=1.0, help="size of the problem")
    args = parser.parse_args()
    report_cluster(args.scale)
    report_planets(args.scale)


if __name__ == "__main__":
    main()
