"""Grazers and hunters on a meadow of growing grass.

An individual-based ecosystem on a torus: grass grows logistically and spreads to neighbouring cells, a herd of
grazers wanders over it, feeds, breeds and dies, and a few packs of hunters follow the herd. The script prints a
table of the populations over time, the age structure and some spatial statistics of the final state.

Usage: python simulation.py [scale]
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field

import numpy as np

YEAR = 120  # days


@dataclass
class Settings:
    """Everything that can be tuned about a run."""

    size: int = 200
    days: int = 600
    seed: int = 20240917
    grazers: int = 6000
    packs: int = 60
    growth: float = 0.06
    capacity: float = 10.0
    spread: float = 0.05
    appetite: float = 1.1
    upkeep: float = 0.55
    breeding_energy: float = 9.0
    breeding_chance: float = 0.05
    lifespan: float = 150.0
    reach: float = 0.9


@dataclass
class Herd:
    """The grazers, one entry of each array per animal."""

    x: np.ndarray
    y: np.ndarray
    heading: np.ndarray
    energy: np.ndarray
    age: np.ndarray
    speed: np.ndarray

    def __len__(self):
        return len(self.x)

    def keep(self, mask):
        """Drop every animal for which the mask is false."""
        self.x = self.x[mask]
        self.y = self.y[mask]
        self.heading = self.heading[mask]
        self.energy = self.energy[mask]
        self.age = self.age[mask]
        self.speed = self.speed[mask]

    def add(self, other):
        """Append the animals of another herd."""
        self.x = np.concatenate([self.x, other.x])
        self.y = np.concatenate([self.y, other.y])
        self.heading = np.concatenate([self.heading, other.heading])
        self.energy = np.concatenate([self.energy, other.energy])
        self.age = np.concatenate([self.age, other.age])
        self.speed = np.concatenate([self.speed, other.speed])


@dataclass
class Pack:
    """One pack of hunters: a place, a heading and how hungry it is."""

    x: float
    y: float
    heading: float
    hunger: float = 0.0
    kills: int = 0


@dataclass
class Record:
    """Daily values by name."""

    series: dict = field(default_factory=dict)

    def note(self, **values):
        for name, value in values.items():
            self.series.setdefault(name, []).append(value)

    def column(self, name):
        return np.array(self.series[name])


class Meadow:
    """The grass, as biomass per cell on a torus."""

    def __init__(self, settings, rng):
        self.settings = settings
        n = settings.size
        rows, columns = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
        wet = 0.5 + 0.3 * np.sin(2 * np.pi * rows / n) * np.cos(4 * np.pi * columns / n)
        self.fertility = wet + 0.2 * rng.random((n, n))
        self.grass = settings.capacity * (0.3 + 0.5 * rng.random((n, n))) * self.fertility

    def grow(self, day):
        """One day of growth and spreading."""
        s = self.settings
        season = 1.0 + 0.4 * math.sin(2 * math.pi * day / YEAR)
        limit = s.capacity * (0.4 + 0.6 * self.fertility)
        self.grass += s.growth * season * self.grass * (1.0 - self.grass / limit)
        neighbours = (
            np.roll(self.grass, 1, axis=0)
            + np.roll(self.grass, -1, axis=0)
            + np.roll(self.grass, 1, axis=1)
            + np.roll(self.grass, -1, axis=1)
        )
        self.grass += s.spread * (neighbours - 4.0 * self.grass)
        self.grass = np.maximum(self.grass, 0.02)

    def graze(self, cells, wanted):
        """Share the grass of each cell among the animals standing on it; return what each one got."""
        n = self.settings.size
        demand = np.bincount(cells, weights=wanted, minlength=n * n)
        available = 0.3 * self.grass.ravel()
        share = np.minimum(1.0, available / np.maximum(demand, 1e-9))
        portions = wanted * share[cells]
        eaten = np.bincount(cells, weights=portions, minlength=n * n)
        self.grass -= eaten.reshape(n, n)
        return portions


class Ecosystem:
    """The meadow with everything that lives on it."""

    def __init__(self, settings):
        self.settings = settings
        self.rng = np.random.default_rng(settings.seed)
        self.meadow = Meadow(settings, self.rng)
        self.herd = self.newborns(settings.grazers)
        self.herd.age = self.rng.uniform(0, settings.lifespan, settings.grazers)
        self.packs = [
            Pack(*self.rng.uniform(0, settings.size, 2), heading=self.rng.uniform(0, 2 * np.pi))
            for _ in range(settings.packs)
        ]
        self.record = Record()
        self.deaths = {"hunger": 0, "age": 0, "hunted": 0}
        self.ages_at_death = []

    def newborns(self, count):
        """Make a herd of young animals at random places."""
        rng, size = self.rng, self.settings.size
        return Herd(
            x=rng.uniform(0, size, count),
            y=rng.uniform(0, size, count),
            heading=rng.uniform(0, 2 * np.pi, count),
            energy=rng.uniform(3.0, 6.0, count),
            age=np.zeros(count),
            speed=rng.gamma(9.0, 0.1, count),
        )

    def cells(self):
        """The cell number every grazer stands on."""
        n = self.settings.size
        row = np.minimum(self.herd.y.astype(int), n - 1)
        column = np.minimum(self.herd.x.astype(int), n - 1)
        return row * n + column

    def move(self):
        """A correlated random walk for all animals."""
        herd, size = self.herd, self.settings.size
        herd.heading = herd.heading + self.rng.normal(0.0, 0.6, len(herd))
        herd.x = (herd.x + herd.speed * np.cos(herd.heading)) % size
        herd.y = (herd.y + herd.speed * np.sin(herd.heading)) % size

    def feed(self):
        s, herd = self.settings, self.herd
        wanted = s.appetite * (0.5 + 0.5 * np.minimum(herd.age / 20.0, 1.0))
        gained = self.meadow.graze(self.cells(), wanted)
        herd.energy = herd.energy + gained - s.upkeep * (0.6 + 0.4 * herd.speed)
        herd.age = herd.age + 1.0
        return gained.sum()

    def breed(self):
        """Well-fed adults split off a young one next to them."""
        s, herd, rng = self.settings, self.herd, self.rng
        fertile = (herd.energy > s.breeding_energy) & (herd.age > 15)
        parents = np.flatnonzero(fertile & (rng.random(len(herd)) < s.breeding_chance))
        if len(parents) == 0:
            return 0
        young = self.newborns(len(parents))
        young.x = (herd.x[parents] + rng.normal(0, 0.5, len(parents))) % s.size
        young.y = (herd.y[parents] + rng.normal(0, 0.5, len(parents))) % s.size
        young.energy = 0.4 * herd.energy[parents]
        young.speed = np.clip(herd.speed[parents] * rng.normal(1.0, 0.05, len(parents)), 0.2, 2.0)
        herd.energy[parents] *= 0.5
        herd.add(young)
        return len(parents)

    def hunt(self):
        """Every hungry pack takes the nearest grazer within reach, or else trots on."""
        s, herd = self.settings, self.herd
        alive = np.ones(len(herd), dtype=bool)
        caught = 0
        for pack in self.packs:
            pack.hunger += 0.25
            dx = np.abs(herd.x - pack.x)
            dy = np.abs(herd.y - pack.y)
            dx = np.minimum(dx, s.size - dx)
            dy = np.minimum(dy, s.size - dy)
            distance2 = np.where(alive, dx * dx + dy * dy, np.inf)
            prey = int(np.argmin(distance2))
            if pack.hunger > 0.6 and distance2[prey] < s.reach**2:
                alive[prey] = False
                pack.x, pack.y = float(herd.x[prey]), float(herd.y[prey])
                pack.hunger = 0.0
                pack.kills += 1
                caught += 1
            else:
                pack.heading += self.rng.normal(0, 0.4)
                pack.x = (pack.x + 1.5 * math.cos(pack.heading)) % s.size
                pack.y = (pack.y + 1.5 * math.sin(pack.heading)) % s.size
        self.ages_at_death.extend(herd.age[~alive].tolist())
        herd.keep(alive)
        self.deaths["hunted"] += caught
        return caught

    def cull(self):
        """Remove the starved and the old."""
        s, herd = self.settings, self.herd
        starved = herd.energy <= 0.0
        old = (herd.age > 0.4 * s.lifespan) & (self.rng.random(len(herd)) < 0.01 * np.exp(herd.age / s.lifespan))
        old &= ~starved
        self.deaths["hunger"] += int(starved.sum())
        self.deaths["age"] += int(old.sum())
        self.ages_at_death.extend(herd.age[starved | old].tolist())
        herd.keep(~(starved | old))

    def step(self, day):
        self.meadow.grow(day)
        self.move()
        eaten = self.feed()
        born = self.breed()
        caught = self.hunt()
        self.cull()
        self.record.note(
            grazers=len(self.herd),
            grass=self.meadow.grass.mean(),
            eaten=eaten,
            born=born,
            caught=caught,
            energy=self.herd.energy.mean() if len(self.herd) else 0.0,
            speed=self.herd.speed.mean() if len(self.herd) else 0.0,
        )

    def run(self):
        for day in range(self.settings.days):
            self.step(day)
            if len(self.herd) < 10:
                print(f"the herd died out on day {day}")
                break


def crowding(counts):
    """Variance over mean of the counts per quadrat (1 for animals placed at random)."""
    return counts.var() / counts.mean()


def moran(values):
    """Moran's I of a field on a torus with four neighbours."""
    z = values - values.mean()
    neighbours = sum(np.roll(z, shift, axis) for axis in (0, 1) for shift in (1, -1))
    return (z * neighbours).sum() / (4.0 * (z * z).sum())


def print_table(record, blocks=8):
    """Averages of the daily record over equal stretches of time."""
    days = len(record.column("grazers"))
    edges = np.linspace(0, days, blocks + 1).astype(int)
    print(f"{'days':>10} {'grazers':>9} {'grass':>7} {'eaten':>9} {'born':>7} {'caught':>7} {'energy':>7} {'speed':>6}")
    for start, end in zip(edges[:-1], edges[1:]):
        means = {name: record.column(name)[start:end].mean() for name in record.series}
        print(
            f"{f'{start}-{end - 1}':>10} {means['grazers']:9.1f} {means['grass']:7.3f} {means['eaten']:9.2f} "
            f"{means['born']:7.2f} {means['caught']:7.2f} {means['energy']:7.3f} {means['speed']:6.3f}"
        )


def report(world):
    """Print what the run has come to."""
    s, herd = world.settings, world.herd
    print_table(world.record)
    print("deaths: " + ", ".join(f"{cause} {count}" for cause, count in world.deaths.items()))
    ages = np.array(world.ages_at_death)
    quartiles = np.percentile(ages, [25, 50, 75])
    print("age at death, quartiles: " + " ".join(f"{q:.5g}" for q in quartiles))
    counts, edges = np.histogram(herd.age, bins=[0, 10, 20, 40, 60, 80, 100, 150, 400])
    for low, high, count in zip(edges[:-1], edges[1:], counts):
        print(f"  age {low:3.0f} to {high:3.0f}: {count:5d} {'#' * round(60 * count / max(1, len(herd)))}")
    per_cell = np.bincount(world.cells(), minlength=s.size**2).reshape(s.size, s.size)
    quadrats = per_cell.reshape(s.size // 10, 10, s.size // 10, 10).sum(axis=(1, 3))
    print(f"crowding: cells {crowding(per_cell):.4f}, quadrats {crowding(quadrats):.4f}")
    print(f"Moran's I: grass {moran(world.meadow.grass):.4f}, grazers {moran(per_cell.astype(float)):.4f}")
    correlation = np.corrcoef(world.meadow.fertility.ravel(), world.meadow.grass.ravel())[0, 1]
    print(f"correlation of fertility and grass: {correlation:.4f}")
    kills = sorted((pack.kills for pack in world.packs), reverse=True)
    print(f"kills per pack: best {kills[0]}, median {np.median(kills):g}, worst {kills[-1]}")
    heading = np.hypot(np.cos(herd.heading).mean(), np.sin(herd.heading).mean())
    print(f"final herd: {len(herd)} animals, alignment {heading:.4f}, total energy {herd.energy.sum():.5g}")


def main():
    """Read the scale, run the ecosystem and report."""
    parser = argparse.ArgumentParser(description="grazers and hunters on a meadow")
    parser.add_argument("scale", nargs="?", type=float, default=1.0, help="length of the run, 1 for the full one")
    options = parser.parse_args()
    settings = Settings(days=max(24, round(900 * options.scale)))
    world = Ecosystem(settings)
    print(f"meadow of {settings.size} x {settings.size} cells, {settings.days} days")
    world.run()
    report(world)


if __name__ == "__main__":
    main()
