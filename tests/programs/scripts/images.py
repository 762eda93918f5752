"""Find bright objects in noisy synthetic micrographs.

Every scene has soft discs and bars on an uneven background, with sensor noise and dead pixels. The script cleans
the picture with several filters, separates the objects from the background, labels and measures them, compares
them with what was drawn, and traces the edges.

Usage: python images.py [scale]
"""

import argparse

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


class Scene:
    """A synthetic picture together with what is really in it."""

    def __init__(self, side, count, rng):
        self.side = side
        rows, columns = np.mgrid[0:side, 0:side].astype(float)
        background = 0.15 + 0.12 * columns / side + 0.05 * np.sin(2 * np.pi * rows / side)
        self.clean = background.copy()
        self.truth = np.zeros((side, side), dtype=bool)
        self.objects = []
        tries = 0
        while len(self.objects) < count and tries < 50 * count:
            tries += 1
            self._try_object(rows, columns, rng)
        noisy = self.clean + 0.06 * rng.standard_normal((side, side))
        dead = rng.random((side, side))
        noisy[dead < 0.01] = 0.0
        noisy[dead > 0.99] = 1.0
        self.noisy = noisy

    def _try_object(self, rows, columns, rng):
        """Add a disc or a bar if it touches nothing that is there already."""
        size = rng.uniform(5.0, 12.0)
        y, x = rng.uniform(size + 4, self.side - size - 4, 2)
        for other in self.objects:
            if np.hypot(other["y"] - y, other["x"] - x) < other["size"] + size + 6:
                return
        if rng.random() < 0.6:
            kind = "disc"
            depth = size - np.hypot(rows - y, columns - x)
        else:
            kind = "bar"
            angle = rng.uniform(0, np.pi)
            along = (columns - x) * np.cos(angle) + (rows - y) * np.sin(angle)
            across = -(columns - x) * np.sin(angle) + (rows - y) * np.cos(angle)
            depth = np.minimum(size - np.abs(along), 0.45 * size - np.abs(across))
        level = rng.uniform(0.55, 0.85)
        cover = 1.0 / (1.0 + np.exp(-np.clip(2.0 * depth, -40, 40)))
        self.clean = self.clean * (1 - cover) + level * cover
        self.truth |= depth > 0
        self.objects.append({"kind": kind, "y": y, "x": x, "size": size, "level": level})


def gaussian_kernel(sigma):
    """A normalised Gaussian cut off at three standard deviations."""
    reach = int(3 * sigma + 0.5)
    offsets = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (offsets / sigma) ** 2)
    return weights / weights.sum()


def filter_separable(image, kernel):
    """Correlate rows and columns with the same kernel, reflecting at the border."""
    reach = len(kernel) // 2
    height, width = image.shape
    padded = np.pad(image, ((reach, reach), (0, 0)), mode="reflect")
    result = np.zeros_like(image)
    for i, weight in enumerate(kernel):
        result += weight * padded[i : i + height]
    padded = np.pad(result, ((0, 0), (reach, reach)), mode="reflect")
    result = np.zeros_like(image)
    for i, weight in enumerate(kernel):
        result += weight * padded[:, i : i + width]
    return result


def median_filter(image, size=3):
    """The median of the square window around each pixel."""
    reach = size // 2
    windows = sliding_window_view(np.pad(image, reach, mode="reflect"), (size, size))
    return np.median(windows, axis=(2, 3))


def bilateral_filter(image, reach, sigma_space, sigma_value):
    """Smooth within regions of similar brightness and leave the edges."""
    height, width = image.shape
    padded = np.pad(image, reach, mode="reflect")
    total = np.zeros_like(image)
    weights = np.zeros_like(image)
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            shifted = padded[reach + dy : reach + dy + height, reach + dx : reach + dx + width]
            weight = np.exp(-(dy * dy + dx * dx) / (2 * sigma_space**2))
            weight = weight * np.exp(-((shifted - image) ** 2) / (2 * sigma_value**2))
            total += weight * shifted
            weights += weight
    return total / weights


def box_mean(image, reach):
    """Local means by way of the summed-area table."""
    size = 2 * reach + 1
    padded = np.pad(image, reach, mode="reflect")
    table = np.zeros((padded.shape[0] + 1, padded.shape[1] + 1))
    table[1:, 1:] = padded.cumsum(axis=0).cumsum(axis=1)
    return (table[size:, size:] - table[:-size, size:] - table[size:, :-size] + table[:-size, :-size]) / size**2


def psnr(image, reference):
    """The peak signal-to-noise ratio in decibels."""
    return -10 * np.log10(np.mean((image - reference) ** 2))


def to_bytes(image):
    """Quantise to 256 grey levels."""
    return np.clip(np.round(255 * image), 0, 255).astype(np.uint8)


def otsu(grey):
    """The grey level that best separates two classes."""
    counts = np.bincount(grey.ravel(), minlength=256).astype(float)
    share = counts / counts.sum()
    below = np.cumsum(share)
    moment = np.cumsum(share * np.arange(256))
    spread = np.zeros(256)
    valid = (below > 1e-9) & (below < 1 - 1e-9)
    spread[valid] = (moment[-1] * below[valid] - moment[valid]) ** 2 / (below[valid] * (1 - below[valid]))
    return int(np.argmax(spread))


def equalise(grey):
    """Histogram equalisation through a lookup table."""
    counts = np.bincount(grey.ravel(), minlength=256)
    table = (255 * np.cumsum(counts) // grey.size).astype(np.uint8)
    return table[grey]


def entropy(grey):
    """The entropy of the grey levels in bits."""
    counts = np.bincount(grey.ravel(), minlength=256)
    share = counts[counts > 0] / grey.size
    return -np.sum(share * np.log2(share))


def erode(mask):
    """Erosion by a plus of five pixels."""
    padded = np.pad(mask, 1, constant_values=False)
    result = mask & padded[:-2, 1:-1] & padded[2:, 1:-1]
    return result & padded[1:-1, :-2] & padded[1:-1, 2:]


def dilate(mask):
    """Dilation by a plus of five pixels."""
    padded = np.pad(mask, 1, constant_values=False)
    result = mask | padded[:-2, 1:-1] | padded[2:, 1:-1]
    return result | padded[1:-1, :-2] | padded[1:-1, 2:]


def label(mask):
    """Number the connected regions, by spreading the largest pixel number through each."""
    numbers = np.where(mask, np.arange(1, mask.size + 1).reshape(mask.shape), 0)
    while True:
        padded = np.pad(numbers, 1)
        spread = numbers
        for dy in range(3):
            for dx in range(3):
                spread = np.maximum(spread, padded[dy : dy + mask.shape[0], dx : dx + mask.shape[1]])
        spread = np.where(mask, spread, 0)
        if np.array_equal(spread, numbers):
            break
        numbers = spread
    found, inverse = np.unique(numbers, return_inverse=True)
    offset = 0 if found[0] == 0 else 1
    return inverse.reshape(mask.shape) + offset, len(found) - 1 + offset


def measure(labels, count, image):
    """Area, centre, brightness and elongation of every region."""
    regions = []
    for number in range(1, count + 1):
        y, x = np.nonzero(labels == number)
        region = {"area": len(y), "y": y.mean(), "x": x.mean(), "level": image[y, x].mean()}
        if len(y) > 2:
            values = np.linalg.eigvalsh(np.cov(np.stack([y, x])))
            region["elongation"] = float(np.sqrt(max(values[1], 1e-12) / max(values[0], 1e-12)))
        else:
            region["elongation"] = 1.0
        regions.append(region)
    return regions


def depth_map(mask):
    """How many erosions each pixel survives."""
    depth = np.zeros(mask.shape, dtype=int)
    while mask.any():
        depth += mask
        mask = erode(mask)
    return depth


def sobel(image):
    """Horizontal and vertical derivatives."""
    p = np.pad(image, 1, mode="edge")
    gx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    gy = p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:] - p[:-2, :-2] - 2 * p[:-2, 1:-1] - p[:-2, 2:]
    return gx / 8, gy / 8


def edges(image, low, high):
    """Thin edges: crests of the gradient that are strong, or weak and joined to strong ones."""
    gx, gy = sobel(image)
    strength = np.hypot(gx, gy)
    sector = np.round(np.arctan2(gy, gx) / (np.pi / 4)).astype(int) % 4
    padded = np.pad(strength, 1)
    height, width = image.shape
    crest = np.zeros(image.shape, dtype=bool)
    for number, (dy, dx) in enumerate([(0, 1), (1, 1), (1, 0), (1, -1)]):
        ahead = padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width]
        behind = padded[1 - dy : 1 - dy + height, 1 - dx : 1 - dx + width]
        crest |= (sector == number) & (strength > ahead) & (strength > behind)
    weak = crest & (strength > low)
    edge = crest & (strength > high)
    while True:
        grown = weak & dilate(dilate(edge))
        if grown.sum() == edge.sum():
            return edge, strength
        edge = grown


def match_objects(objects, regions):
    """Pair drawn objects with found regions; returns the distances of the pairs and the misses."""
    distances, missed = [], 0
    for thing in objects:
        gaps = [np.hypot(region["y"] - thing["y"], region["x"] - thing["x"]) for region in regions]
        if gaps and min(gaps) < 0.6 * thing["size"]:
            distances.append(min(gaps))
        else:
            missed += 1
    return distances, missed


def analyse(number, scene):
    """Everything about one scene; prints a few lines and returns the main figures."""
    median = median_filter(scene.noisy)
    smooth = filter_separable(median, gaussian_kernel(1.0))
    kept = bilateral_filter(median, 3, 2.0, 0.15)
    results = {"noisy": scene.noisy, "median": median, "gaussian": smooth, "bilateral": kept}
    ratios = {name: psnr(image, scene.clean) for name, image in results.items()}
    print(f"scene {number}: {len(scene.objects)} objects on {scene.side} x {scene.side} pixels")
    print("  dB: " + ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items()))

    grey = to_bytes(kept)
    level = otsu(grey)
    local = kept - box_mean(kept, min(25, scene.side // 4))
    mask = (grey > level) & (local > -0.05)
    mask = dilate(erode(mask))
    labels, count = label(mask)
    regions = [region for region in measure(labels, count, kept) if region["area"] >= 12]
    overlap = 2 * (mask & scene.truth).sum() / (mask.sum() + scene.truth.sum())
    distances, missed = match_objects(scene.objects, regions)
    print(f"  threshold {level}, entropy {entropy(grey):.4f}, equalised {entropy(equalise(grey)):.4f} bits")
    print(f"  {len(regions)} regions, {missed} objects missed, overlap {overlap:.4f}")
    if distances:
        print(f"  centres off by {np.mean(distances):.4f} on average, {np.max(distances):.4f} at worst")
    edge, strength = edges(smooth, 0.03, 0.07)
    print(f"  {int(edge.sum())} edge pixels, mean gradient on them {strength[edge].mean():.5f}")
    return {"overlap": overlap, "regions": regions, "depth": depth_map(mask), "grey": grey}


def main():
    """Analyse some scenes and sum up."""
    parser = argparse.ArgumentParser(description="find objects in synthetic pictures")
    parser.add_argument("scale", nargs="?", type=float, default=1.0, help="area of the pictures, 1 for the full one")
    scale = parser.parse_args().scale
    side = max(72, round(760 * scale**0.5))
    rng = np.random.default_rng(271828)
    results = []
    for number in range(1, 5):
        scene = Scene(side, max(4, round(200 * (side / 760) ** 2)), rng)
        results.append(analyse(number, scene))

    areas = np.array([region["area"] for result in results for region in result["regions"]])
    elongations = np.array([region["elongation"] for result in results for region in result["regions"]])
    print(f"all regions: {len(areas)}, area {areas.mean():.4f} on average, {areas.min()} to {areas.max()}")
    print(f"elongated ones: {int((elongations > 1.5).sum())}, mean elongation {elongations.mean():.4f}")
    depths = np.concatenate([result["depth"].ravel() for result in results])
    print("pixels by depth: " + " ".join(str(count) for count in np.bincount(depths)[1:]))
    greys = np.concatenate([result["grey"].ravel() for result in results])
    counts, bounds = np.histogram(greys, bins=8, range=(0, 256))
    for low, count in zip(bounds[:-1], counts):
        print(f"  grey from {low:3.0f}: {count:7d} {'#' * int(50 * count / counts.max())}")
    print(f"mean overlap with the truth: {np.mean([result['overlap'] for result in results]):.4f}")


if __name__ == "__main__":
    main()
