"""Image filters: shifted sums, windows, thresholds, flood fills."""

import numpy as np


def median(image):
    """The middle of nine shifted copies, sorted."""
    h, w = image.shape
    stack = [image[dy : h - 2 + dy, dx : w - 2 + dx] for dy in range(3) for dx in range(3)]
    out = image.copy()
    out[1:-1, 1:-1] = np.sort(np.array(stack), axis=0)[4]
    return out


def rank_by_windows(image):
    """One window per pixel: median-like by partial sorting of each."""
    out = np.zeros_like(image)
    for y in range(1, image.shape[0] - 1):
        for x in range(1, image.shape[1] - 1):
            out[y, x] = np.sort(image[y - 1 : y + 2, x - 1 : x + 2].ravel())[4]
    return out


def sobel(image, threshold):
    """Gradients with a table of weights; edges where they are strong."""
    weights = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    h, w = image.shape
    gx = np.zeros((h - 2, w - 2))
    gy = np.zeros((h - 2, w - 2))
    for i in range(3):
        for j in range(3):
            part = image[i : h - 2 + i, j : w - 2 + j]
            gx += weights[i, j] * part
            gy += weights[j, i] * part
    size = np.hypot(gx, gy)
    return size, size > threshold * size.max()


def bilateral(image, radius, s_space, s_value):
    """Weights by distance and by value, over shifts; the border is padded."""
    h, w = image.shape
    padded = np.pad(image, radius, mode="edge")
    total, norm = np.zeros_like(image), np.zeros_like(image)
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            shifted = padded[radius + dy : radius + dy + h, radius + dx : radius + dx + w]
            weight = np.exp(-(dy**2 + dx**2) / (2 * s_space**2) - (shifted - image) ** 2 / (2 * s_value**2))
            total += weight * shifted
            norm += weight
    return total / norm


def box(image, k):
    """Means of windows by shifted sums; what does not fit is left."""
    h, w = image.shape
    out = np.zeros((h - k + 1, w - k + 1))
    for i in range(k):
        for j in range(k):
            out += image[i : i + h - k + 1, j : j + w - k + 1]
    out /= k * k
    return out


def box_by_windows(image, k):
    """The same, a window at a time."""
    out = np.empty((image.shape[0] - k + 1, image.shape[1] - k + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = image[i : i + k, j : j + k].mean()
    return out


def summed_area(image):
    """An integral image, cell by cell, and a rectangle from it."""
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1))
    for y in range(1, table.shape[0]):
        row = 0.0
        for x in range(1, table.shape[1]):
            row += image[y - 1, x - 1]
            table[y, x] = table[y - 1, x] + row
    return table, table[-1, -1] - table[2, -1] - table[-1, 2] + table[2, 2]


def otsu(image):
    """The threshold that separates best; empty classes are skipped."""
    histogram = np.zeros(16, dtype=int)
    for value in image.ravel():
        histogram[min(int(value * 16), 15)] += 1
    best, threshold = -1.0, 0
    levels = np.arange(16)
    for t in range(1, 16):
        low, high = histogram[:t].sum(), histogram[t:].sum()
        if low == 0 or high == 0:
            continue
        mean_low = (histogram[:t] * levels[:t]).sum() / low
        mean_high = (histogram[t:] * levels[t:]).sum() / high
        between = low * high * (mean_low - mean_high) ** 2
        if between > best:
            best, threshold = between, t
    return threshold, image >= threshold / 16


def erode(mask, times):
    """Shrinks until empty or enough; says which."""
    for k in range(times):
        inner = mask[1:-1, 1:-1] & mask[:-2, 1:-1] & mask[2:, 1:-1] & mask[1:-1, :-2] & mask[1:-1, 2:]
        mask = np.zeros_like(mask)
        mask[1:-1, 1:-1] = inner
        if not mask.any():
            return k, mask
    return times, mask


def flood(free):
    """Labels spread to neighbours until nothing changes."""
    labels = np.where(free, np.arange(1, free.size + 1).reshape(free.shape), 0)
    changed = True
    rounds = 0
    while changed:
        before = labels.copy()
        for axis in (0, 1):
            for shift in (1, -1):
                moved = np.roll(labels, shift, axis)
                labels = np.where(free, np.maximum(labels, moved), 0)
        changed = bool(np.any(labels != before))
        rounds += 1
    return labels, len(np.unique(labels[free])), rounds


def dither(image):
    """Floyd-Steinberg: each error moves on to pixels not yet seen."""
    h, w = image.shape
    for y in range(h):
        for x in range(w):
            old = image[y, x]
            new = 1.0 if old > 0.5 else 0.0
            image[y, x] = new
            error = old - new
            if x + 1 < w:
                image[y, x + 1] += error * 7 / 16
            if y + 1 < h:
                if x > 0:
                    image[y + 1, x - 1] += error * 3 / 16
                image[y + 1, x] += error * 5 / 16
                if x + 1 < w:
                    image[y + 1, x + 1] += error / 16


def julia(c, n, limit):
    """Escape times, with masks that shrink; stops when none is left."""
    axis = np.linspace(-1.5, 1.5, n)
    z = axis[None, :] + 1j * axis[:, None]
    count = np.zeros(z.shape, dtype=int)
    inside = np.ones(z.shape, dtype=bool)
    for k in range(limit):
        z[inside] = z[inside] ** 2 + c
        inside &= z.real**2 + z.imag**2 <= 4.0
        count[inside] = k + 1
        if not inside.any():
            break
    return count


PROGRAMS = {
    median: lambda rng, n: (rng.random((n, n + 1)),),
    rank_by_windows: lambda rng, n: (rng.random((n // 2, n // 2)),),
    sobel: lambda rng, n: (rng.random((n, n)), 0.5),
    bilateral: lambda rng, n: (rng.random((n, n)), 1, 1.5, 0.3),
    box: lambda rng, n: (rng.random((n, n)), 3),
    box_by_windows: lambda rng, n: (rng.random((n, n)), 3),
    summed_area: lambda rng, n: (rng.random((n // 2, n)),),
    otsu: lambda rng, n: (rng.random((n, n)) ** 2,),
    erode: lambda rng, n: (rng.random((n, n)) < 0.95, 4),
    flood: lambda rng, n: (rng.random((n, n)) < 0.5,),
    dither: lambda rng, n: (rng.random((n // 2, n // 2)),),
    julia: lambda rng, n: (complex(-0.4, 0.6), n, 12),
}
