"""Parallel-beam tomography of an ellipse phantom.

Line integrals are computed from the pixel image by bilinear interpolation along rotated rays, and exactly from the
ellipses for comparison. The slice is reconstructed by filtered back-projection with several windows, and by SIRT and
SART when there are few views, a limited range of angles or few photons.

Usage: python tomography.py [scale]
"""

import sys
from dataclasses import dataclass

import numpy as np


@dataclass
class Ellipse:
    """An ellipse in the square [-1, 1]^2; `tilt` in degrees, `density` is added to what lies below."""

    name: str
    density: float
    a: float
    b: float
    x: float = 0.0
    y: float = 0.0
    tilt: float = 0.0

    def contains(self, X, Y):
        c, s = np.cos(np.radians(self.tilt)), np.sin(np.radians(self.tilt))
        along = (X - self.x) * c + (Y - self.y) * s
        across = -(X - self.x) * s + (Y - self.y) * c
        return (along / self.a) ** 2 + (across / self.b) ** 2 <= 1.0

    def line_integral(self, theta, s):
        """The exact integral along the line x cos(theta) + y sin(theta) = s."""
        phi = theta - np.radians(self.tilt)
        width2 = (self.a * np.cos(phi)) ** 2 + (self.b * np.sin(phi)) ** 2
        offset = s - self.x * np.cos(theta) - self.y * np.sin(theta)
        inside = np.clip(width2 - offset**2, 0.0, None)
        return 2.0 * self.density * self.a * self.b * np.sqrt(inside) / width2


PHANTOM = [
    Ellipse("body", 1.0, 0.82, 0.62),
    Ellipse("left lung", -0.65, 0.24, 0.38, -0.37, 0.06, 8.0),
    Ellipse("right lung", -0.65, 0.26, 0.40, 0.38, 0.05, -10.0),
    Ellipse("heart", 0.25, 0.15, 0.19, -0.08, 0.12, 25.0),
    Ellipse("spine", 0.80, 0.09, 0.10, 0.0, -0.42),
    Ellipse("nodule", 0.45, 0.045, 0.04, 0.42, 0.17),
    Ellipse("spot", 0.45, 0.03, 0.03, -0.40, -0.10),
    Ellipse("vessel", 0.30, 0.03, 0.09, -0.30, 0.22, 60.0),
]


def draw(phantom, n, oversample=4):
    """The phantom on an n x n grid, each pixel averaged over finer samples."""
    m = n * oversample
    x = (np.arange(m) + 0.5) * 2.0 / m - 1.0
    X, Y = np.meshgrid(x, x)
    fine = np.zeros((m, m))
    for ellipse in phantom:
        fine[ellipse.contains(X, Y)] += ellipse.density
    return fine.reshape(n, oversample, n, oversample).mean(axis=(1, 3))


def exact_sinogram(phantom, angles, detectors):
    theta, s = angles[:, None], detectors[None, :]
    return sum(ellipse.line_integral(theta, s) for ellipse in phantom)


def bilinear(image, row, col):
    """Values between the pixels; zero outside the image."""
    rows, cols = image.shape
    padded = np.pad(image, 1)
    r = np.clip(row + 1, 0, rows + 0.999)
    c = np.clip(col + 1, 0, cols + 0.999)
    r0, c0 = r.astype(int), c.astype(int)
    fr, fc = r - r0, c - c0
    upper = (1 - fc) * padded[r0, c0] + fc * padded[r0, c0 + 1]
    lower = (1 - fc) * padded[r0 + 1, c0] + fc * padded[r0 + 1, c0 + 1]
    return (1 - fr) * upper + fr * lower


class Scanner:
    """Geometry of the scan with the operators from images to sinograms and back."""

    def __init__(self, n, angles, bins=None):
        self.n = n
        self.angles = np.asarray(angles)
        self.bins = bins or int(np.ceil(n * 1.2)) | 1
        self.pixel = 2.0 / n
        self.detectors = (np.arange(self.bins) - self.bins // 2) * self.pixel
        self.steps = (np.arange(int(1.42 * n)) - 0.71 * n) * self.pixel
        x = (np.arange(n) + 0.5) * self.pixel - 1.0
        self.X, self.Y = np.meshgrid(x, x)

    def project(self, image):
        """Forward projection of all the angles."""
        sinogram = np.empty((len(self.angles), self.bins))
        s, t = self.detectors[:, None], self.steps[None, :]
        for i, theta in enumerate(self.angles):
            x = s * np.cos(theta) - t * np.sin(theta)
            y = s * np.sin(theta) + t * np.cos(theta)
            values = bilinear(image, (y + 1.0) / self.pixel - 0.5, (x + 1.0) / self.pixel - 0.5)
            sinogram[i] = values.sum(axis=1) * self.pixel
        return sinogram

    def back_project(self, sinogram):
        """Smear the projections back over the image; the detector readings are interpolated linearly."""
        image = np.zeros((self.n, self.n))
        for theta, view in zip(self.angles, sinogram):
            position = (self.X * np.cos(theta) + self.Y * np.sin(theta)) / self.pixel + self.bins // 2
            position = np.clip(position, 0, self.bins - 1.001)
            left = position.astype(int)
            fraction = position - left
            image += (1 - fraction) * view[left] + fraction * view[left + 1]
        return image

    def subset(self, which):
        return Scanner(self.n, self.angles[which], self.bins)


# windows over the ramp, as functions of the frequency relative to the highest one
WINDOWS = {
    "ramp": lambda f: np.ones_like(f),
    "shepp-logan": lambda f: np.sinc(f / 2),
    "cosine": lambda f: np.cos(np.pi * f / 2),
    "hamming": lambda f: 0.54 + 0.46 * np.cos(np.pi * f),
    "hann": lambda f: 0.5 + 0.5 * np.cos(np.pi * f),
}


def filter_views(sinogram, pixel, window):
    """The ramp filter, from its samples in space so that the mean comes out right."""
    bins = sinogram.shape[1]
    length = 1 << int(np.ceil(np.log2(2 * bins)))
    k = np.fft.fftfreq(length, 1 / length)
    kernel = np.zeros(length)
    kernel[0] = 0.25
    odd = k % 2 == 1
    kernel[odd] = -1.0 / (np.pi * k[odd]) ** 2
    response = np.fft.rfft(kernel).real / pixel
    response *= WINDOWS[window](np.linspace(0.0, 1.0, len(response)))
    return np.fft.irfft(np.fft.rfft(sinogram, length, axis=1) * response, length, axis=1)[:, :bins]


def filtered_back_projection(scanner, sinogram, window="shepp-logan"):
    filtered = filter_views(sinogram, scanner.pixel, window)
    return scanner.back_project(filtered) * np.pi / len(scanner.angles)


def safe_inverse(a, floor=1e-6):
    return np.where(a > floor, 1.0 / np.maximum(a, floor), 0.0)


def sirt(scanner, sinogram, iterations, truth, relax=1.0):
    """Simultaneous iterations from a blank image; returns it with the errors after each of them."""
    image = np.zeros((scanner.n, scanner.n))
    row = safe_inverse(scanner.project(np.ones_like(image)))
    col = safe_inverse(scanner.back_project(np.ones_like(sinogram)))
    trace = []
    for _ in range(iterations):
        residual = sinogram - scanner.project(image)
        image = np.clip(image + relax * col * scanner.back_project(row * residual), 0.0, None)
        trace.append((np.linalg.norm(residual) / np.linalg.norm(sinogram), rmse(image, truth)))
    return image, trace


def sart(scanner, sinogram, sweeps, truth, subsets=6, relax=0.7):
    """The same with a correction after each interleaved subset of the views."""
    image = np.zeros((scanner.n, scanner.n))
    parts = []
    for k in range(subsets):
        part = scanner.subset(slice(k, None, subsets))
        row = safe_inverse(part.project(np.ones_like(image)))
        col = safe_inverse(part.back_project(np.ones((len(part.angles), part.bins))))
        parts.append((part, sinogram[k::subsets], row, col))
    trace = []
    for _ in range(sweeps):
        squares = 0.0
        for part, views, row, col in parts:
            residual = views - part.project(image)
            squares += np.sum(residual**2)
            image = np.clip(image + relax * col * part.back_project(row * residual), 0.0, None)
        trace.append((np.sqrt(squares) / np.linalg.norm(sinogram), rmse(image, truth)))
    return image, trace


def rmse(image, truth):
    return float(np.sqrt(np.mean((image - truth) ** 2)))


def box_mean(image, width):
    """Means over all the width x width windows, from the summed area table."""
    table = np.pad(image, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
    total = table[width:, width:] - table[:-width, width:] - table[width:, :-width] + table[:-width, :-width]
    return total / width**2


def similarity(image, truth, width=7):
    """Mean structural similarity with flat windows."""
    mx, my = box_mean(image, width), box_mean(truth, width)
    vx = box_mean(image**2, width) - mx**2
    vy = box_mean(truth**2, width) - my**2
    cov = box_mean(image * truth, width) - mx * my
    span = truth.max() - truth.min()
    c1, c2 = (0.01 * span) ** 2, (0.03 * span) ** 2
    return float(np.mean((2 * mx * my + c1) * (2 * cov + c2) / ((mx**2 + my**2 + c1) * (vx + vy + c2))))


def quality(image, truth):
    error = rmse(image, truth)
    return {
        "rmse": error,
        "psnr": 20 * np.log10((truth.max() - truth.min()) / error),
        "ssim": similarity(image, truth),
        "corr": float(np.corrcoef(image.ravel(), truth.ravel())[0, 1]),
    }


def show(label, image, truth):
    q = quality(image, truth)
    print(f"  {label:<22} rmse {q['rmse']:.5f}, psnr {q['psnr']:.3f} dB, ssim {q['ssim']:.4f}, corr {q['corr']:.5f}")


def print_trace(label, trace):
    """The first iteration, the last one and those at powers of two."""
    for k, (residual, error) in enumerate(trace, start=1):
        if k & (k - 1) == 0 or k == len(trace):
            print(f"  {label} {k:2d}: residual {residual:.5f}, rmse {error:.5f}")


def photon_noise(sinogram, photons, rng):
    """What a detector would read with so many photons sent along each ray."""
    counts = rng.poisson(photons * np.exp(-sinogram))
    return -np.log(np.maximum(counts, 1) / photons)


def centre_of_rotation(sinogram, angles, detectors):
    """Fit the centre of mass of the views with offset + a cos + b sin; the offset is that of the axis."""
    centre = sinogram @ detectors / sinogram.sum(axis=1)
    design = np.column_stack([np.ones_like(angles), np.cos(angles), np.sin(angles)])
    solution, *_ = np.linalg.lstsq(design, centre, rcond=None)
    return solution


def report_regions(images, truth, n):
    x = (np.arange(n) + 0.5) * 2.0 / n - 1.0
    X, Y = np.meshgrid(x, x)
    print("  means inside the ellipses: truth, " + ", ".join(images))
    for e in PHANTOM[1:]:
        core = Ellipse(e.name, 1.0, 0.7 * e.a, 0.7 * e.b, e.x, e.y, e.tilt).contains(X, Y)
        values = " ".join(f"{image[core].mean():8.4f}" for image in images.values())
        print(f"    {e.name:<11} {truth[core].mean():8.4f} {values}")


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(1972)
    n = 128
    views = max(18, round(240 * scale))
    iterations = max(2, round(48 * scale))
    truth = draw(PHANTOM, n)
    scanner = Scanner(n, np.arange(views) * np.pi / views)
    print(f"phantom of {n} x {n} pixels, {views} views of {scanner.bins} bins, mean density {truth.mean():.5f}")

    sinogram = scanner.project(truth)
    exact = exact_sinogram(PHANTOM, scanner.angles, scanner.detectors)
    gap = np.abs(sinogram - exact)
    print(f"line integrals: largest {exact.max():.5f}, error {rmse(sinogram, exact):.5f}, at most {gap.max():.4f}")
    mass = exact.sum(axis=1) * scanner.pixel
    print(f"every view holds the same mass: {np.ptp(mass) < 0.01 * mass.mean()}, {mass.mean():.4f}")
    offset, cx, cy = centre_of_rotation(np.roll(exact, 2, axis=1), scanner.angles, scanner.detectors)
    print(f"axis found off by {offset / scanner.pixel:.3f} bins, centre of mass ({cx:+.4f}, {cy:+.4f})")

    print("filtered back-projection, exact data")
    for window in WINDOWS:
        show(window, filtered_back_projection(scanner, exact, window), truth)
    for step in (2, 4, 8):
        few = scanner.subset(slice(None, None, step))
        show(f"{len(few.angles)} views", filtered_back_projection(few, exact[::step]), truth)

    print("filtered back-projection, counted photons")
    for photons in (1e3, 1e4, 1e5):
        noisy = photon_noise(exact, photons, rng)
        for window in ("ramp", "hann"):
            show(f"{photons:g}, {window}", filtered_back_projection(scanner, noisy, window), truth)

    sparse = scanner.subset(slice(None, None, 3))
    noisy = photon_noise(exact[::3], 2e4, rng)
    print(f"iterations with {len(sparse.angles)} views and 20000 photons")
    images = {"fbp": filtered_back_projection(sparse, noisy, "hann")}
    images["sirt"], trace = sirt(sparse, noisy, iterations, truth)
    print_trace("sirt", trace)
    images["sart"], trace = sart(sparse, noisy, max(1, iterations // 3), truth)
    print_trace("sart", trace)
    for name, image in images.items():
        show(name, image, truth)
    report_regions(images, truth, n)

    limited = scanner.subset(slice(0, 2 * views // 3, 3))
    print(f"limited to 120 degrees, {len(limited.angles)} views")
    data = exact_sinogram(PHANTOM, limited.angles, limited.detectors)
    show("fbp", filtered_back_projection(limited, data) * 2 / 3, truth)
    show("sirt", sirt(limited, data, iterations, truth)[0], truth)


if __name__ == "__main__":
    main()
