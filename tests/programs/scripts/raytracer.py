"""A ray tracer for spheres over a chequered floor, with shadows, reflections and a camera that circles the scene.

All rays of an image are traced together as arrays of shape (rays, 3). No image is written; the script prints statistics
of every frame and of the whole sequence, and the last frame in coarse characters.

Usage: python raytracer.py [scale]
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field

import numpy as np

EPSILON = 1e-4
FAR = 1e9
RAMP = " .:-=+*#%@"
LUMA = np.array([0.2126, 0.7152, 0.0722])


def vec(*values):
    return np.array(values, dtype=float)


def dot(a, b):
    return np.sum(a * b, axis=-1)


def normalize(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def reflect(directions, normals):
    return directions - 2.0 * dot(directions, normals)[:, None] * normals


@dataclass
class Material:
    """How a surface looks; `mirror` is the share of reflected light seen head-on."""

    color: np.ndarray
    diffuse: float = 0.8
    specular: float = 0.4
    shininess: float = 40.0
    mirror: float = 0.0


@dataclass
class Light:
    position: np.ndarray
    color: np.ndarray
    power: float


@dataclass
class Sphere:
    name: str
    center: np.ndarray
    radius: float
    material: Material

    def intersect(self, origins, directions):
        """Distance to the nearest hit in front of every ray, FAR where there is none."""
        to_origin = origins - self.center
        b = dot(to_origin, directions)
        c = dot(to_origin, to_origin) - self.radius**2
        discriminant = b * b - c
        root = np.sqrt(np.maximum(discriminant, 0.0))
        near, far = -b - root, -b + root
        t = np.where(near > EPSILON, near, far)
        return np.where((discriminant > 0.0) & (t > EPSILON), t, FAR)

    def normals(self, points):
        return (points - self.center) / self.radius

    def colors(self, points):
        return np.broadcast_to(self.material.color, points.shape)


@dataclass
class Floor:
    """The plane y = height with squares in two colours."""

    name: str
    height: float
    material: Material
    other: np.ndarray
    square: float = 1.0

    def intersect(self, origins, directions):
        down = directions[:, 1]
        safe = np.where(np.abs(down) > 1e-9, down, 1e-9)
        t = (self.height - origins[:, 1]) / safe
        return np.where((t > EPSILON) & (t < 200.0), t, FAR)

    def normals(self, points):
        n = np.zeros_like(points)
        n[:, 1] = 1.0
        return n

    def colors(self, points):
        cell = np.floor(points[:, 0] / self.square) + np.floor(points[:, 2] / self.square)
        even = cell % 2 == 0
        return np.where(even[:, None], self.material.color, self.other)


@dataclass
class Camera:
    position: np.ndarray
    target: np.ndarray
    width: int
    height: int
    view: float = 52.0  # degrees across

    def rays(self):
        """One ray through the middle of every pixel, row by row from the top."""
        forward = normalize(self.target - self.position)
        right = normalize(np.cross(forward, vec(0, 1, 0)))
        up = np.cross(right, forward)
        half = math.tan(math.radians(self.view) / 2)
        x = (2.0 * (np.arange(self.width) + 0.5) / self.width - 1.0) * half
        y = (1.0 - 2.0 * (np.arange(self.height) + 0.5) / self.height) * half * self.height / self.width
        px, py = np.meshgrid(x, y)
        directions = forward + px.reshape(-1, 1) * right + py.reshape(-1, 1) * up
        origins = np.tile(self.position, (self.width * self.height, 1))
        return origins, normalize(directions)


@dataclass
class Scene:
    objects: list
    lights: list
    ambient: float = 0.12
    depth: int = 3
    counts: dict = field(default_factory=lambda: {"camera": 0, "reflected": 0, "shadow": 0})

    def sky(self, directions):
        """A gradient from the horizon to the zenith."""
        height = np.clip(directions[:, 1], 0.0, 1.0)[:, None]
        return (1.0 - height) * vec(0.83, 0.79, 0.71) + height * vec(0.18, 0.34, 0.66)

    def nearest(self, origins, directions):
        distances = np.stack([thing.intersect(origins, directions) for thing in self.objects])
        which = np.argmin(distances, axis=0)
        t = distances[which, np.arange(len(origins))]
        return t, np.where(t < FAR, which, -1)

    def lit(self, points, to_light, distance):
        """Whether nothing stands between the points and a light."""
        clear = np.ones(len(points), dtype=bool)
        self.counts["shadow"] += len(points)
        for thing in self.objects:
            clear &= thing.intersect(points, to_light) > distance
        return clear

    def shade(self, thing, points, directions):
        """Light scattered towards the eye, without mirror images."""
        material = thing.material
        normals = thing.normals(points)
        base = thing.colors(points)
        result = self.ambient * base
        raised = points + EPSILON * normals
        for light in self.lights:
            offset = light.position - points
            distance = np.linalg.norm(offset, axis=1)
            to_light = offset / distance[:, None]
            facing = np.maximum(dot(normals, to_light), 0.0)
            visible = self.lit(raised, to_light, distance) & (facing > 0.0)
            strength = np.where(visible, light.power / (1.0 + 0.02 * distance**2), 0.0)
            halfway = normalize(to_light - directions)
            glint = material.specular * np.maximum(dot(normals, halfway), 0.0) ** material.shininess
            result = result + (strength * material.diffuse * facing)[:, None] * base * light.color
            result = result + (strength * glint)[:, None] * light.color
        return result

    def trace(self, origins, directions, depth=0):
        """Colours seen along rays, with the distances and the numbers of the objects hit."""
        self.counts["reflected" if depth else "camera"] += len(origins)
        t, which = self.nearest(origins, directions)
        colors = self.sky(directions)
        for number, thing in enumerate(self.objects):
            hit = np.flatnonzero(which == number)
            if len(hit) == 0:
                continue
            incoming = directions[hit]
            points = origins[hit] + t[hit, None] * incoming
            local = self.shade(thing, points, incoming)
            mirror = thing.material.mirror
            if mirror > 0.0 and depth < self.depth:
                normals = thing.normals(points)
                grazing = 1.0 - np.clip(-dot(incoming, normals), 0.0, 1.0)
                share = (mirror + (1.0 - mirror) * grazing**5)[:, None]
                seen, _, _ = self.trace(points + EPSILON * normals, reflect(incoming, normals), depth + 1)
                local = (1.0 - share) * local + share * seen
            haze = np.exp(-0.012 * t[hit])[:, None]
            colors[hit] = haze * local + (1.0 - haze) * colors[hit]
        return colors, t, which


def build_scene(rng):
    """Three large balls and a ring of small ones in random colours."""
    floor = Floor("floor", 0.0, Material(vec(0.9, 0.88, 0.84), specular=0.1, mirror=0.08), vec(0.24, 0.27, 0.31), 1.3)
    objects = [
        floor,
        Sphere("steel", vec(0.0, 1.37, 0.1), 1.37, Material(vec(0.75, 0.77, 0.8), 0.35, 0.8, 160.0, mirror=0.62)),
        Sphere("red", vec(-2.35, 0.82, 0.9), 0.82, Material(vec(0.82, 0.16, 0.12), shininess=60.0, mirror=0.12)),
        Sphere("jade", vec(2.15, 0.95, -0.65), 0.95, Material(vec(0.1, 0.58, 0.38), 0.75, 0.5, 90.0, mirror=0.2)),
    ]
    for k in range(5):
        angle = 2.0 * math.pi * k / 5 + 0.35
        radius = float(rng.uniform(0.28, 0.5))
        center = vec(3.4 * math.cos(angle), radius, 3.1 * math.sin(angle))
        objects.append(Sphere(f"small {k + 1}", center, radius, Material(rng.uniform(0.2, 0.95, 3))))
    lights = [
        Light(vec(5.1, 7.3, 4.2), vec(1.0, 0.96, 0.88), 1.1),
        Light(vec(-6.3, 5.2, 2.4), vec(0.7, 0.8, 1.0), 0.6),
        Light(vec(0.7, 6.1, -7.4), vec(1.0, 0.75, 0.6), 0.45),
    ]
    return Scene(objects, lights)


def develop(colors):
    """Compress the brightness and apply the display's gamma."""
    return np.clip(colors / (1.0 + 0.35 * colors), 0.0, 1.0) ** (1.0 / 2.2)


def camera_path(frames, width, height):
    for k in range(frames):
        angle = 0.4 + 1.9 * k / frames
        position = vec(7.3 * math.cos(angle), 2.3 + 1.1 * math.sin(1.7 * angle), 7.3 * math.sin(angle))
        yield Camera(position, vec(0.1, 0.85, 0.0), width, height)


def checksum(image):
    """A weighted sum that notices pixels in the wrong place."""
    rows, columns = np.indices(image.shape[:2])
    weights = 1.0 + (7 * rows + 13 * columns) % 101
    return float((image.sum(axis=2) * weights).sum() / weights.sum())


def sharpness(gray):
    """Mean length of the gradient."""
    gy, gx = np.gradient(gray)
    return float(np.hypot(gx, gy).mean())


def picture(gray, columns=64):
    """The image in characters, averaged over blocks."""
    size = gray.shape[1] // columns
    rows = gray.shape[0] // (2 * size)
    blocks = gray[: rows * 2 * size, : columns * size].reshape(rows, 2 * size, columns, size).mean(axis=(1, 3))
    low, high = blocks.min(), blocks.max()
    levels = np.minimum(((blocks - low) / (high - low) * len(RAMP)).astype(int), len(RAMP) - 1)
    return ["".join(RAMP[level] for level in row) for row in levels]


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    width, height = 256, 160
    frames = max(1, int(round(36 * scale)))
    scene = build_scene(np.random.default_rng(77))
    print(f"{frames} frames of {width} x {height}, {len(scene.objects)} objects, {len(scene.lights)} lights")

    histogram = np.zeros(8)
    seen = np.zeros(len(scene.objects) + 1)
    previous, changes = None, []
    print("frame      red    green     blue   spread     sharp distance  checksum")
    for number, camera in enumerate(camera_path(frames, width, height)):
        colors, distances, which = scene.trace(*camera.rays())
        image = develop(colors).reshape(height, width, 3)
        gray = image @ LUMA
        red, green, blue = image.mean(axis=(0, 1))
        print(
            f"{number:5d} {red:8.5f} {green:8.5f} {blue:8.5f} {gray.std():8.5f} {sharpness(gray):9.6f} "
            f"{distances[which >= 0].mean():8.4f} {checksum(image):9.6f}"
        )
        histogram += np.histogram(gray, bins=8, range=(0.0, 1.0))[0]
        seen += np.bincount(which + 1, minlength=len(seen))
        if previous is not None:
            changes.append(np.abs(gray - previous).mean())
        previous = gray

    print("brightness over all frames")
    for k, share in enumerate(histogram / histogram.sum()):
        print(f"  {k / 8:.3f} .. {(k + 1) / 8:.3f} {share:8.4%} {'#' * int(round(60 * share))}")
    print("share of the pixels")
    for name, share in zip(["sky"] + [thing.name for thing in scene.objects], seen / seen.sum()):
        print(f"  {name:<8} {share:8.4%}")
    if changes:
        print(f"change between frames: mean {np.mean(changes):.5f}, largest {max(changes):.5f}")
    pixels = frames * width * height
    print("rays per pixel: " + ", ".join(f"{kind} {count / pixels:.3f}" for kind, count in scene.counts.items()))
    print("\n".join(picture(previous)))


if __name__ == "__main__":
    main()
