"""Whole numbers: sieves, hashes, bits, counters; NumPy's wrap around, Python's do not."""

import numpy as np


def sieve(n):
    """Strides that depend on the loop."""
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    p = 2
    while p * p <= n:
        if prime[p]:
            prime[p * p :: p] = False
        p += 1
    return np.nonzero(prime)[0]


def collatz(starts):
    """Steps until one, by element, in Python's integers."""
    steps = np.zeros(len(starts), dtype=int)
    for i in range(len(starts)):
        x = int(starts[i])
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps[i] += 1
    return steps, steps.argmax()


def collatz_together(x):
    """The same for all at once, with masks."""
    steps = np.zeros_like(x)
    active = x > 1
    while active.any():
        even = x % 2 == 0
        x = np.where(active, np.where(even, x // 2, 3 * x + 1), x)
        steps[active] += 1
        active = x > 1
    return steps


def crc32(data):
    """A checksum bit by bit, in Python's integers."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= int(byte)
        for _ in range(8):
            crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def crc32_by_table(data):
    """The same with a table made by array operations of uint32."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    crc = np.uint32(0xFFFFFFFF)
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> np.uint32(8))
    return crc ^ np.uint32(0xFFFFFFFF)


def xorshift(seed, n):
    """Python's integers need a mask."""
    x = seed
    out = np.empty(n, dtype=np.uint32)
    for i in range(n):
        x ^= (x << 13) & 0xFFFFFFFF
        x ^= x >> 17
        x ^= (x << 5) & 0xFFFFFFFF
        out[i] = x
    return out


def xorshift_of_arrays(state, n):
    """uint32 wraps by itself."""
    total = np.zeros_like(state)
    for _ in range(n):
        state ^= state << np.uint32(13)
        state ^= state >> np.uint32(17)
        state ^= state << np.uint32(5)
        total += state
    return total


def congruential(x, n):
    """int64 that overflows, as an array and as Python's integer beside it."""
    exact = int(x[0])
    for _ in range(n):
        x *= 6364136223846793005
        x += 1442695040888963407
        exact = (exact * 6364136223846793005 + 1442695040888963407) % 2**64
    return exact


def popcount(x):
    """Bits by clearing the lowest, until all are zero."""
    count = np.zeros_like(x)
    while np.any(x):
        count += x != 0
        x &= np.where(x != 0, x - 1, 0)
    return count


def gcds(a, b):
    """Euclid per pair; the names change places."""
    out = np.empty_like(a)
    for i in range(len(a)):
        p, q = a[i], b[i]
        while q != 0:
            p, q = q, p % q
        out[i] = abs(p)
    return out


def histogram(x, low, high, bins):
    """Counts, with outliers and the right edge by hand."""
    counts = np.zeros(bins, dtype=np.int32)
    outside = 0
    for value in x:
        k = int((value - low) / (high - low) * bins) if value >= low else -1
        if k == bins and value == high:
            k -= 1
        if 0 <= k < bins:
            counts[k] += 1
        else:
            outside += 1
    return counts, outside


def prefix_sums(x):
    """Running sums by doubling strides, and one by one; the same numbers."""
    fast = x.copy()
    stride = 1
    while stride < len(x):
        fast[stride:] = fast[stride:] + fast[:-stride]
        stride *= 2
    slow = np.empty_like(x)
    total = x.dtype.type(0)
    for i in range(len(x)):
        total += x[i]
        slow[i] = total
    return fast, slow, bool((fast == slow).all())


def insertion_sort(x):
    """`while` with two conditions, the second only safe after the first."""
    moves = 0
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
            moves += 1
        x[j + 1] = key
    return moves


def binary_search(x, wanted):
    """Returns from within `while`; -1 when it falls through."""
    found = np.empty(len(wanted), dtype=int)
    for k, w in enumerate(wanted):
        low, high = 0, len(x) - 1
        while low <= high:
            middle = (low + high) >> 1
            if x[middle] == w:
                found[k] = middle
                break
            if x[middle] < w:
                low = middle + 1
            else:
                high = middle - 1
        else:
            found[k] = ~low
    return found


def fibonacci(n, modulus):
    """Powers of a matrix by squaring, driven by the bits of n."""
    result, base = np.eye(2, dtype=np.int64), np.array([[1, 1], [1, 0]], dtype=np.int64)
    while n:
        if n & 1:
            result = result @ base % modulus
        base = base @ base % modulus
        n >>= 1
    return result[0, 1]


PROGRAMS = {
    sieve: lambda rng, n: (8 * n + int(rng.integers(9)),),
    collatz: lambda rng, n: (rng.integers(1, 30, n // 2),),
    collatz_together: lambda rng, n: (rng.integers(1, 60, n),),
    crc32: lambda rng, n: (rng.integers(0, 256, n).astype(np.uint8),),
    crc32_by_table: lambda rng, n: (rng.integers(0, 256, n).astype(np.uint8),),
    xorshift: lambda rng, n: (int(rng.integers(1, 2**32)), n),
    xorshift_of_arrays: lambda rng, n: (rng.integers(1, 2**32, n).astype(np.uint32), 5),
    congruential: lambda rng, n: (rng.integers(0, 2**40, n), 6),
    popcount: lambda rng, n: (rng.integers(0, 256, n).astype(np.uint8),),
    gcds: lambda rng, n: (rng.integers(-40, 60, n), rng.integers(0, 60, n)),
    histogram: lambda rng, n: (rng.integers(-4, 13, 2 * n) / 4.0, 0.0, 2.0, 7),
    prefix_sums: lambda rng, n: (rng.integers(-9, 9, n),),
    insertion_sort: lambda rng, n: (rng.integers(0, 40, n),),
    binary_search: lambda rng, n: (np.sort(rng.integers(0, 40, n)), rng.integers(-3, 44, n // 2)),
    fibonacci: lambda rng, n: (int(rng.integers(1, 10**6)), 10**6 + 7),
}
