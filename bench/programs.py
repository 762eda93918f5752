"""NumPy programs as users write them, with makers of their inputs. Nothing here knows autojit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Program:
    """A program and its inputs.

    Attributes:
        run: The NumPy function.
        make: `make(size) -> arguments`, the same ones for the same size.
        size: The size to measure at.
        small: A size for tests.
    """

    run: Callable[..., Any]
    make: Callable[[int], tuple[Any, ...]]
    size: int
    small: int


def _rng() -> np.random.Generator:
    return np.random.default_rng(12)


def running_example(x, y):
    return np.mean(x**2 * 3 + y)


def heat_step(u, alpha, dt):
    new = u.copy()
    new[1:-1, 1:-1] += alpha * dt * (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    )
    return new


def jacobi(u, un, steps):
    for _ in range(steps):
        un[:] = u
        u[1:-1, 1:-1] = 0.25 * (un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1])
    return np.abs(u - un).max()


def pairwise_distances(points, centers):
    difference = points[:, np.newaxis, :] - centers[np.newaxis, :, :]
    return np.sqrt((difference * difference).sum(axis=-1))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def log_sum_exp(x):
    top = x.max(axis=1)
    return top + np.log(np.exp(x - top[:, None]).sum(axis=1))


def layer_norm(x, gain, bias, epsilon):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gain + bias


def normal_cdf(z):
    # Abramowitz and Stegun, formula 7.1.26
    x = np.abs(z) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * x)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    erf = np.sign(z) * (1 - series * np.exp(-x * x))
    return 0.5 * (1 + erf)


def black_scholes(spot, strike, years, rate, sigma):
    root = sigma * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / root
    d2 = d1 - root
    discounted = strike * np.exp(-rate * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    return call, call - spot + discounted


def kmeans_step(points, centers):
    distances = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1)
    new = centers.copy()
    for k in range(centers.shape[0]):
        members = nearest == k
        count = members.sum()
        if count > 0:
            new[k] = (points * members[:, None]).sum(axis=0) / count
    return new, nearest


def nbody_step(position, velocity, mass, dt, softening):
    separation = position[None, :, :] - position[:, None, :]
    inverse = ((separation**2).sum(axis=2) + softening**2) ** -1.5
    acceleration = (separation * (inverse * mass[None, :])[:, :, None]).sum(axis=1)
    velocity += acceleration * dt
    position += velocity * dt


def blur(image, kernel):
    reach = kernel.shape[0] // 2
    padded = np.pad(image, reach, mode="edge")
    result = np.zeros_like(image)
    for i in range(kernel.shape[0]):
        for j in range(kernel.shape[1]):
            result += kernel[i, j] * padded[i : i + image.shape[0], j : j + image.shape[1]]
    return result


def mandelbrot_step(z, c, count):
    z[:] = z * z + c
    inside = z.real**2 + z.imag**2 < 4.0
    z[:] = np.where(inside, z, 2.0)
    count += inside
    return int(inside.sum())


def moving_average(x, width):
    total = np.cumsum(x)
    total[width:] = total[width:] - total[:-width]
    return total[width - 1 :] / width


def least_squares_step(a, b, w, rate):
    residual = a @ w - b
    gradient = a.T @ residual / a.shape[0]
    w -= rate * gradient
    return float((residual**2).mean())


def standardize(x):
    x = x - x.mean(axis=0)
    deviation = x.std(axis=0)
    deviation[deviation == 0] = 1.0
    return x / deviation


def _plane(n: int) -> np.ndarray:
    return _rng().standard_normal((n, n))


def _make_black_scholes(n: int) -> tuple[Any, ...]:
    rng = _rng()
    return rng.uniform(10, 50, n), rng.uniform(10, 50, n), rng.uniform(0.2, 2, n), 0.02, 0.3


def _make_nbody(n: int) -> tuple[Any, ...]:
    rng = _rng()
    return rng.standard_normal((n, 3)), rng.standard_normal((n, 3)), rng.uniform(0.5, 1.5, n), 0.01, 0.1


def _make_mandelbrot(n: int) -> tuple[Any, ...]:
    c = np.linspace(-2, 0.5, n)[None, :] + 1j * np.linspace(-1.25, 1.25, n)[:, None]
    return np.zeros_like(c), c, np.zeros(c.shape, np.int64)


def _make_least_squares(n: int) -> tuple[Any, ...]:
    rng = _rng()
    return rng.standard_normal((n, 64)), rng.standard_normal(n), np.zeros(64), 0.1


def _make_blur(n: int) -> tuple[Any, ...]:
    line = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16
    return np.abs(_plane(n)), np.outer(line, line)


PROGRAMS: dict[str, Program] = {
    program.run.__name__: program
    for program in (
        Program(running_example, lambda n: (_plane(n), _plane(n)), 4096, 32),
        Program(heat_step, lambda n: (_plane(n), 0.1, 0.5), 2048, 32),
        Program(jacobi, lambda n: (_plane(n), np.zeros((n, n)), 20), 512, 24),
        Program(pairwise_distances, lambda n: (_rng().random((n, 8)), _rng().random((256, 8))), 4096, 50),
        Program(softmax, lambda n: (_plane(n),), 2048, 24),
        Program(log_sum_exp, lambda n: (_plane(n),), 2048, 24),
        Program(layer_norm, lambda n: (_plane(n), np.ones(n), np.zeros(n), 1e-5), 2048, 24),
        Program(black_scholes, _make_black_scholes, 1_000_000, 200),
        Program(kmeans_step, lambda n: (_rng().random((n, 4)), _rng().random((8, 4))), 50_000, 200),
        Program(nbody_step, _make_nbody, 600, 20),
        Program(blur, _make_blur, 1024, 24),
        Program(mandelbrot_step, _make_mandelbrot, 1000, 20),
        Program(moving_average, lambda n: (_rng().standard_normal(n), 50), 2_000_000, 200),
        Program(least_squares_step, _make_least_squares, 20_000, 100),
        Program(standardize, lambda n: (_plane(n),), 2048, 24),
    )
}
