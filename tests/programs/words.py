"""Python work around array work: strings, prints, dictionaries, generators, closures, try."""

import numpy as np


def report(table, names):
    """A text table, one formatted line per row."""
    text = "name    mean    max\n"
    for name, row in zip(names, table):
        centred = row - row.mean()
        text += f"{name:<6s} {row.mean():7.3f} {np.abs(centred).max():7.3f}\n"
    text += "-" * 20
    return text


def bars(x, width):
    """A bar chart printed line by line."""
    scaled = (x - x.min()) / (x.max() - x.min()) * width
    for i, value in enumerate(scaled):
        bar = "#" * int(value)
        print(f"{i:2d} |{bar:<{width}}| {x[i]:.2f}")


def encode(x):
    """Letters by levels, joined; digits for the rest."""
    letters = []
    for value in np.clip(np.floor(x * 26), 0, 30).astype(int):
        letters.append(chr(ord("a") + value) if value < 26 else str(value - 26))
    word = "".join(letters)
    return word, word.count("a"), {letter: word.count(letter) for letter in sorted(set(word))}


def count_words(ids, vocabulary):
    """Counts in a dictionary, with an array per key."""
    sums = {}
    for i, key in enumerate(ids):
        word = vocabulary[key]
        if word not in sums:
            sums[word] = np.zeros(3)
        sums[word][i % 3] += i
    return sums


def batches(x, size):
    """Yields slices, the last one shorter."""
    for start in range(0, len(x), size):
        yield x[start : start + size]


def mean_of_batches(x, size):
    """A generator as iterable; its slices have two lengths."""
    means = []
    total = 0.0
    for batch in batches(x, size):
        batch *= 2
        means.append(batch.mean())
        total += batch.sum()
    return means, total


def of_expressions(A):
    """Generator expressions, comprehensions and builtins over rows."""
    norms = [float(np.sqrt((row**2).sum())) for row in A]
    largest = max(abs(row).max() for row in A)
    total = sum(row[i] for i, row in enumerate(A))
    index = {i: row.argmax() for i, row in enumerate(A) if row.sum() > 0}
    return norms, largest, total, index, any((row < -1).all() for row in A), all(row.any() for row in A)


def late_closures(x):
    """Functions that see the loop's variable as it is at the end, and one that holds it."""
    late, held = [], []
    for k in range(4):
        y = x * k
        late.append(lambda: (k, y.sum()))
        held.append(lambda k=k, y=y: (k, y.sum()))
    return [f() for f in late], [f() for f in held]


def rescued(x, divisors):
    """Exceptions caught inside the loop, `finally` and partial effects."""
    failures = []
    tries = 0
    for i, d in enumerate(divisors):
        try:
            x[i] += 1.0
            x[i * 3] /= 2.0
            x[i] = x[i] // int(d) if d > 0 else 1 // int(d)
        except (IndexError, ZeroDivisionError) as error:
            failures.append((i, type(error).__name__, str(error)))
        finally:
            tries += 1
    return failures, tries


def fails_at_last(x, n):
    """An index past the end at some iteration; what was done before stays."""
    for i in range(n):
        x[i] = x[i] * 2 + 1
    return x.sum()


def raises_on_data(x, log):
    """The user's own exception, from a condition on elements."""
    for i in range(len(x)):
        x[i] *= -1
        log.append(i)
        if x[i] > 1.2:
            raise ValueError(f"element {i} is {x[i]:.3f}")
    return x.min()


def parse(lines):
    """Numbers from text into an array, bad lines counted."""
    out = np.full((len(lines), 2), np.nan)
    bad = 0
    for row, line in enumerate(lines):
        try:
            out[row] = [float(word) for word in line.split(",")]
        except ValueError:
            bad += 1
    ok = ~np.isnan(out).any(axis=1)
    return out[ok].sum(axis=0), bad, int(ok.sum())


class Tally:
    """Counts what it is told; a stateful object in a loop."""

    def __init__(self):
        self.seen = []

    def add(self, value):
        self.seen.append(round(float(value), 6))
        return len(self.seen)


def with_an_object(x, steps):
    """A method with effects between array statements."""
    tally = Tally()
    number = 0
    for _ in range(steps):
        x[1:-1] = 0.5 * x[1:-1] + 0.25 * (x[2:] + x[:-2])
        if x.max() - x.min() < 0.5 and number:
            break
        number = tally.add(x.mean())
    return tally.seen, number


def split_line(rng, good):
    return f"{rng.integers(9)},{rng.integers(9)}" if good else "none,1"


PROGRAMS = {
    report: lambda rng, n: (rng.normal(size=(4, n)), ["alpha", "beta", "gamma", "d"]),
    bars: lambda rng, n: (rng.random(n), 12),
    encode: lambda rng, n: (1.1 * rng.random(n),),
    count_words: lambda rng, n: (rng.integers(0, 3, n), ["one", "two", "three"]),
    mean_of_batches: lambda rng, n: (rng.normal(size=2 * n + 1), 5),
    of_expressions: lambda rng, n: (rng.normal(size=(n // 2, n // 2)),),
    late_closures: lambda rng, n: (rng.normal(size=n),),
    rescued: lambda rng, n: (rng.integers(0, 9, n).astype(float), rng.integers(0, 4, n)),
    fails_at_last: lambda rng, n: (rng.normal(size=n), n + int(rng.integers(0, 2))),
    raises_on_data: lambda rng, n: (rng.normal(size=n), []),
    parse: lambda rng, n: ([split_line(rng, rng.random() < 0.7) for _ in range(n)],),
    with_an_object: lambda rng, n: (rng.normal(size=n), 10),
}
