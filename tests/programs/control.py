"""Ways through loops: early exits, `else`, zero trips, names after the loop, masks with nothing in them."""

import numpy as np


def first_above(x, limit):
    """Returns from within; None when it falls through."""
    for i, value in enumerate(x):
        if value > limit:
            return i, value
    return None


def search_matrix(A, wanted):
    """Leaves two loops with `else: continue`."""
    seen = 0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            seen += 1
            if A[i, j] == wanted:
                break
        else:
            continue
        break
    else:
        return -1, -1, seen
    return i, j, seen


def all_close_rows(A, B, tolerance):
    """`for`-`else` with arrays compared as a whole."""
    for row, (a, b) in enumerate(zip(A, B)):
        if not np.allclose(a, b, atol=tolerance):
            print("row", row, "differs")
            break
    else:
        print("all rows agree")
        row = -1
    return row


def countdown(x, n):
    """`while`-`else`, `continue` before the counter's use, the counter afterwards."""
    kept = 0
    while n > 0:
        n -= 1
        if x[n] < 0:
            continue
        kept += 1
        if kept > 5:
            break
        x[n] = kept
    else:
        kept = -kept
    return kept, n


def zero_trips(x, n):
    """Loops that do not run at all, forwards, backwards, over nothing."""
    last = None
    for i in range(n, 0):
        x[i] = np.nan
        last = i
    for j in range(0, n, -1):
        x[j] = np.nan
        last = j
    for value in x[:0]:
        last = value
    for row in np.zeros((0, 3)):
        last = row
    while n < 0:
        n += 1
    return last, n


def variable_afterwards(x, n):
    """The loop's variable and what the body bound last, after the loop."""
    for i in range(2, n, 3):
        y = x[i] * i
        for j in range(i):
            z = y + j
    return i, y, j, z, x[i]


def unbound_afterwards(x, n):
    """A name that no iteration bound."""
    for i in range(n):
        y = x + i
    return y, i


def masks_of_nothing(x, steps):
    """Means of what a mask leaves, with nothing left at times."""
    means = []
    for k in range(steps):
        chosen = x[x > 0.25 * k]
        means.append(chosen.mean() if chosen.size else -1.0)
        x[x > 2 - 0.25 * k] = 0.0
        x[(x < 0.1) & (x > 0)] += 0.5
    return means


def clip_by_hand(x, low, high):
    """Conditional expressions, chained comparisons, `and`, `or`, `not` on elements."""
    changed = 0
    for i in range(len(x)):
        old = x[i]
        x[i] = low if old < low else high if old > high else old
        changed += not low <= old <= high
        if (old < low or old > high) and not i % 2:
            x[i] = -x[i]
    return changed


def builtins_on_elements(x):
    """`min`, `max`, `abs`, `int`, `round`, `float`, `bool`, `divmod` of elements; their kinds."""
    kinds = []
    total = 0
    for i in range(len(x) - 1):
        a, b = x[i], x[i + 1]
        total += int(max(a, b)) + round(float(min(a, b))) + int(bool(a > b))
        kinds.append((abs(a), max(a, 0), min(0.5, b), round(a, 2), round(b), divmod(a, 0.5)[0], float(a) + 1, -a))
    return total, kinds


def tournament(scores):
    """A list that shrinks while arrays are compared; `while len(...)`."""
    alive = list(range(scores.shape[0]))
    rounds = []
    while len(alive) > 1:
        winners = []
        for p, q in zip(alive[::2], alive[1::2]):
            winners.append(p if scores[p].sum() >= scores[q].sum() else q)
        if len(alive) % 2:
            winners.append(alive[-1])
        rounds.append(len(winners))
        alive = winners
    return alive[0], rounds


def dtype_settles(n):
    """Names that change their kind in the first iteration."""
    x = np.arange(5)
    total = 0
    for i in range(n):
        x = x * 0.5 + i
        total = total + x[0]
    return x, total


def aliases(a, b, n):
    """Names that mean the same array, then another, then a view."""
    c = a
    for i in range(n):
        c += i
        b[:] = a + c
        c = b if i == 1 else c
    d = c[1:]
    for i in range(n):
        d -= a[:-1]
        d = d[::-1]
    return c, d


def triangle(n, x):
    """Bounds from outer indices, negative steps, both halves of a matrix."""
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(i, -1, -2):
            A[i, j] = x[i] - j
        for j in range(i + 1, n):
            if j == 2 * i:
                break
            A[i, j] = A[i, i] * x[j]
    return A


PROGRAMS = {
    first_above: lambda rng, n: (rng.normal(size=n), 1.0 + float(rng.random())),
    search_matrix: lambda rng, n: (rng.integers(0, 90, (n, n)), 7),
    all_close_rows: lambda rng, n: (np.ones((n, 3)), 1 + 0.1 * (rng.random((n, 3)) < 0.05), 1e-3),
    countdown: lambda rng, n: (rng.normal(size=n), n),
    zero_trips: lambda rng, n: (rng.normal(size=n), n),
    variable_afterwards: lambda rng, n: (rng.normal(size=n), n),
    unbound_afterwards: lambda rng, n: (rng.normal(size=n), int(rng.integers(0, 3))),
    masks_of_nothing: lambda rng, n: (rng.random(n) * 1.5, 7),
    clip_by_hand: lambda rng, n: (rng.normal(size=n), -0.5, 0.5),
    builtins_on_elements: lambda rng, n: (3 * rng.normal(size=n // 2),),
    tournament: lambda rng, n: (rng.random((n, 3)),),
    dtype_settles: lambda rng, n: (n,),
    aliases: lambda rng, n: (rng.integers(0, 5, n).astype(float), rng.integers(0, 5, n).astype(float), 3),
    triangle: lambda rng, n: (n, rng.normal(size=n)),
}
