"""Flocking of birds: the Vicsek model, boids with a falcon, and swarms with attraction and repulsion.

All the models look at all the pairs of individuals. The Vicsek birds are run over a table of densities and noise
levels, the boids over a few temperaments, the swarms over a few ranges of the forces. Reported are the polarisation,
the rotation, the flocks as connected groups, the distances to neighbours and the correlation of the velocities.

Usage: python flocking.py [scale]
"""

import sys
from dataclasses import dataclass, replace

import numpy as np

# ---------------------------------------------------------------------------------------------------------------
# measures


def polarisation(velocity):
    """1 when all fly the same way, near 0 when the directions are unrelated."""
    heading = velocity / np.linalg.norm(velocity, axis=1, keepdims=True)
    return float(np.linalg.norm(heading.mean(axis=0)))


def rotation(position, velocity):
    """Mean turning sense about the centre of the group, between -1 and 1."""
    arm = position - position.mean(axis=0)
    cross = arm[:, 0] * velocity[:, 1] - arm[:, 1] * velocity[:, 0]
    lengths = np.linalg.norm(arm, axis=1) * np.linalg.norm(velocity, axis=1)
    return float(np.mean(cross / lengths))


def pair_distances(position, box=None):
    """The differences (from row to column) and the distances; on a torus when there is a box."""
    delta = position[None, :, :] - position[:, None, :]
    if box is not None:
        delta -= box * np.round(delta / box)
    return delta, np.sqrt((delta**2).sum(axis=-1))


def flock_sizes(linked):
    """Sizes of the connected groups of a symmetric boolean matrix, largest first."""
    n = len(linked)
    labels = np.arange(n)
    while True:
        lowest = np.where(linked, labels[None, :], n).min(axis=1)
        lowest = np.minimum(lowest, labels)
        lowest = lowest[lowest]
        if np.array_equal(lowest, labels):
            break
        labels = lowest
    _, sizes = np.unique(labels, return_counts=True)
    return np.sort(sizes)[::-1]


def velocity_correlation(distance, velocity, edges):
    """Correlation of the deviations from the mean velocity, for pairs by distance."""
    deviation = velocity - velocity.mean(axis=0)
    products = deviation @ deviation.T
    upper = np.triu_indices(len(velocity), k=1)
    total, _ = np.histogram(distance[upper], bins=edges, weights=products[upper])
    count, _ = np.histogram(distance[upper], bins=edges)
    return total / np.maximum(count, 1) / np.mean(np.sum(deviation**2, axis=1))


def pair_correlation(distance, box, edges):
    """g(r): how many pairs are at a distance, against an even distribution."""
    n = len(distance)
    count, _ = np.histogram(distance[np.triu_indices(n, k=1)], bins=edges)
    rings = np.pi * np.diff(edges**2)
    return count / (n * (n - 1) / 2 * rings / box**2)


# ---------------------------------------------------------------------------------------------------------------
# Vicsek


@dataclass(frozen=True)
class VicsekSettings:
    birds: int = 300
    box: float = 10.0
    radius: float = 1.0
    speed: float = 0.1
    noise: float = 0.3  # as a fraction of the full circle


class Vicsek:
    """Birds of constant speed which take the mean direction of those around them, up to noise."""

    def __init__(self, settings, rng):
        self.settings = settings
        self.rng = rng
        self.position = rng.uniform(0, settings.box, size=(settings.birds, 2))
        self.angle = rng.uniform(-np.pi, np.pi, size=settings.birds)

    @property
    def velocity(self):
        return self.settings.speed * np.column_stack([np.cos(self.angle), np.sin(self.angle)])

    def neighbours(self):
        _, distance = pair_distances(self.position, self.settings.box)
        return distance < self.settings.radius

    def step(self):
        s = self.settings
        near = self.neighbours()
        sines = np.where(near, np.sin(self.angle)[None, :], 0.0).sum(axis=1)
        cosines = np.where(near, np.cos(self.angle)[None, :], 0.0).sum(axis=1)
        kick = s.noise * self.rng.uniform(-np.pi, np.pi, size=s.birds)
        self.angle = np.arctan2(sines, cosines) + kick
        self.position = (self.position + self.velocity) % s.box


def report_vicsek(scale, rng):
    steps = max(6, round(40 * min(scale, 1.0) ** 0.75))
    settle = steps // 2
    repeats = max(1, round(5 * scale))
    levels = (0.05, 0.2, 0.35, 0.5, 0.7)
    print(f"Vicsek birds, {steps} steps, {repeats} runs of each kind")
    print(f"{'birds':>6} {'noise':>6} {'order':>7} {'spread':>7} {'flocks':>7} {'largest':>8} {'alone':>6} {'g(r)':>6}")
    transition = {}
    for birds in (150, 300):
        for noise in levels:
            settings = VicsekSettings(birds=birds, noise=noise)
            order, flocks, largest, alone, crowding = [], [], [], [], []
            for _ in range(repeats):
                model = Vicsek(settings, rng)
                for step in range(steps):
                    model.step()
                    if step >= settle:
                        order.append(polarisation(model.velocity))
                sizes = flock_sizes(model.neighbours())
                flocks.append(len(sizes))
                largest.append(sizes[0] / birds)
                alone.append(np.sum(sizes == 1))
                _, distance = pair_distances(model.position, settings.box)
                crowding.append(pair_correlation(distance, settings.box, np.array([0.0, 0.5]))[0])
            transition[birds, noise] = np.mean(order)
            print(
                f"{birds:6d} {noise:6.2f} {np.mean(order):7.3f} {np.std(order):7.3f} {np.mean(flocks):7.1f} "
                f"{np.mean(largest):8.4f} {np.mean(alone):6.1f} {np.mean(crowding):6.2f}"
            )
    for birds in (150, 300):
        values = np.array([transition[birds, level] for level in levels])
        below = np.flatnonzero(values < 0.5)
        if len(below) and below[0] > 0:
            k = below[0]
            middle = np.interp(-0.5, [-values[k - 1], -values[k]], [levels[k - 1], levels[k]])
            print(f"  {birds} birds lose their order at noise {middle:.2f}")


# ---------------------------------------------------------------------------------------------------------------
# boids


@dataclass(frozen=True)
class Temperament:
    separation: float = 0.6
    alignment: float = 0.8
    cohesion: float = 0.5
    fear: float = 4.0
    personal: float = 0.8
    sight: float = 2.5
    field_of_view: float = 270.0  # degrees
    slowest: float = 0.6
    fastest: float = 1.6


class Boids:
    """Reynolds' three rules, and a falcon which flies through on a circle."""

    def __init__(self, count, temperament, rng):
        self.temperament = temperament
        self.position = rng.normal(scale=3.0, size=(count, 2))
        angle = rng.normal(scale=0.9, size=count)
        self.velocity = np.column_stack([np.cos(angle), np.sin(angle)])
        self.time = 0.0
        self.caught = np.zeros(count, dtype=bool)

    @property
    def falcon(self):
        phase = 0.45 * self.time
        return np.array([6.0 * np.cos(phase), 6.0 * np.sin(phase)])

    def forces(self):
        t = self.temperament
        delta, distance = pair_distances(self.position)
        np.fill_diagonal(distance, np.inf)
        speed = np.linalg.norm(self.velocity, axis=1)
        ahead = (delta * self.velocity[:, None, :]).sum(axis=-1)
        seen = (distance < t.sight) & (ahead > distance * speed[:, None] * np.cos(np.radians(t.field_of_view / 2)))
        many = seen.sum(axis=1)[:, None]

        push = np.clip(1.0 - distance / t.personal, 0.0, None)
        separation = -(push[:, :, None] * delta / distance[:, :, None]).sum(axis=1)
        mean_velocity = seen @ self.velocity / np.maximum(many, 1)
        alignment = np.where(many > 0, mean_velocity - self.velocity, 0.0)
        cohesion = (seen[:, :, None] * delta).sum(axis=1) / np.maximum(many, 1)

        away = self.position - self.falcon
        r = np.linalg.norm(away, axis=1, keepdims=True)
        flight = away / r * np.exp(-r / 1.5)
        return t.separation * separation + t.alignment * alignment + t.cohesion * cohesion + t.fear * flight

    def step(self, dt):
        t = self.temperament
        velocity = self.velocity + dt * self.forces()
        speed = np.linalg.norm(velocity, axis=1, keepdims=True)
        self.velocity = velocity * np.clip(speed, t.slowest, t.fastest) / speed
        self.position = self.position + dt * self.velocity
        self.time += dt
        self.caught |= np.linalg.norm(self.position - self.falcon, axis=1) < 0.4


def report_boids(scale, rng):
    calm = Temperament()
    temperaments = {
        "calm": calm,
        "anxious": replace(calm, fear=9.0, personal=1.1),
        "sociable": replace(calm, cohesion=1.2, alignment=1.4),
        "selfish": replace(calm, cohesion=0.1, alignment=0.2),
        "short-sighted": replace(calm, sight=1.2, field_of_view=180.0),
    }
    dt, steps = 0.05, max(6, round(60 * min(scale, 1.0) ** 0.75))
    repeats = max(1, round(2 * scale))
    edges = np.array([0.0, 1.0, 2.0, 4.0, 8.0])
    print(f"boids over {dt * steps:.2f} time units, {repeats} runs of each temperament")
    for name, temperament in temperaments.items():
        rows = []
        for _ in range(repeats):
            flock = Boids(200, temperament, rng)
            for _ in range(steps):
                flock.step(dt)
            _, distance = pair_distances(flock.position)
            correlation = velocity_correlation(distance, flock.velocity, edges)
            sizes = flock_sizes(distance < 1.0)
            np.fill_diagonal(distance, np.inf)
            rows.append(
                [
                    polarisation(flock.velocity),
                    np.linalg.norm(flock.velocity, axis=1).mean(),
                    np.median(distance.min(axis=1)),
                    len(sizes),
                    sizes[0],
                    flock.caught.sum(),
                    *correlation,
                ]
            )
        order, speed, gap, groups, largest, caught, *correlation = np.mean(rows, axis=0)
        print(
            f"  {name:<14} order {order:.3f}, speed {speed:.3f}, gap {gap:.3f}, groups {groups:.1f}, "
            f"largest {largest:.1f}, caught {caught:.1f}"
        )
        print(f"  {'':<14} correlation by distance " + " ".join(f"{c:+.2f}" for c in correlation))


# ---------------------------------------------------------------------------------------------------------------
# swarms with forces


def swarm_acceleration(position, velocity, drive, drag, forces):
    """Self-propulsion against drag, and Morse forces between all pairs."""
    attraction, attraction_range, repulsion, repulsion_range = forces
    x, y = position[:, 0], position[:, 1]
    dx = x[:, None] - x[None, :]
    dy = y[:, None] - y[None, :]
    r = np.sqrt(dx**2 + dy**2) + np.eye(len(position))
    strength = repulsion / repulsion_range * np.exp(-r / repulsion_range)
    strength -= attraction / attraction_range * np.exp(-r / attraction_range)
    fx = np.sum(strength * dx / r, axis=1)
    fy = np.sum(strength * dy / r, axis=1)
    speed2 = np.sum(velocity**2, axis=1, keepdims=True)
    return (drive - drag * speed2) * velocity + np.column_stack([fx, fy]) / len(position)


def run_swarm(position, velocity, forces, dt, steps, drive=1.6, drag=0.5):
    """Heun's rule; returns the end and the rotation on the way."""
    turning = []
    for _ in range(steps):
        a1 = swarm_acceleration(position, velocity, drive, drag, forces)
        guess_x = position + dt * velocity
        guess_v = velocity + dt * a1
        a2 = swarm_acceleration(guess_x, guess_v, drive, drag, forces)
        position = position + 0.5 * dt * (velocity + guess_v)
        velocity = velocity + 0.5 * dt * (a1 + a2)
        turning.append(rotation(position, velocity))
    return position, velocity, np.array(turning)


def report_swarms(scale, rng):
    dt, steps = 0.04, max(10, round(130 * scale**0.5))
    ranges = {"tight": (20.0, 2.0, 10.0, 0.4), "wide": (12.0, 5.0, 10.0, 1.0), "repelled": (3.0, 2.0, 30.0, 1.2)}
    print(f"swarms over {dt * steps:.2f} time units")
    for name, forces in ranges.items():
        for spin in (0.3, 1.0):
            start = rng.normal(scale=1.5, size=(160, 2))
            across = np.column_stack([-start[:, 1], start[:, 0]])
            heading = spin * across + rng.normal(scale=0.6, size=start.shape)
            position, velocity, turning = run_swarm(start, heading, forces, dt, steps)
            arm = np.linalg.norm(position - position.mean(axis=0), axis=1)
            speed = np.linalg.norm(velocity, axis=1)
            _, distance = pair_distances(position)
            sizes = flock_sizes(distance < 0.6)
            print(
                f"  {name:<8} spin {spin:.1f}: radius {arm.mean():.3f}, speed {speed.mean():.3f}, "
                f"rotation {turning[0]:+.3f} to {turning[-1]:+.3f}, order {polarisation(velocity):.3f}, "
                f"{len(sizes)} groups"
            )


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(1987)
    report_vicsek(scale, rng)
    report_boids(scale, rng)
    report_swarms(scale, rng)


if __name__ == "__main__":
    main()
