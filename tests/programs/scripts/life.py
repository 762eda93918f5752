"""Conway's game of life with a census of its debris, and a cyclic automaton with a count of its spirals.

Usage: python life.py [scale]
"""

import sys

import numpy as np

STILL_LIFES = {
    "block": ["oo", "oo"],
    "beehive": [".oo.", "o..o", ".oo."],
    "loaf": [".oo.", "o..o", ".o.o", "..o."],
    "boat": ["oo.", "o.o", ".o."],
    "ship": ["oo.", "o.o", ".oo"],
    "tub": [".o.", "o.o", ".o."],
    "pond": [".oo.", "o..o", "o..o", ".oo."],
}
OSCILLATORS = {"blinker": ["ooo"], "toad": [".ooo", "ooo."]}
SPACESHIPS = {"glider": [".o.", "..o", "ooo"], "glider, other phase": ["o.o", ".oo", ".o."]}


def parse(rows):
    """Turn rows of text into an array of 0 and 1."""
    return np.array([[1 if mark == "o" else 0 for mark in row] for row in rows], dtype=np.uint8)


def orientations(pattern):
    """All different rotations and reflections of a pattern."""
    found = {}
    for flipped in (pattern, pattern[:, ::-1]):
        for turns in range(4):
            turned = np.rot90(flipped, turns)
            found[(turned.shape, turned.tobytes())] = turned
    return list(found.values())


def neighbours(board):
    """The number of live cells among the eight around each cell of a torus."""
    total = np.zeros_like(board)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy or dx:
                total += np.roll(np.roll(board, dy, axis=0), dx, axis=1)
    return total


def step(board):
    """The next generation."""
    around = neighbours(board)
    return ((around == 3) | ((board == 1) & (around == 2))).astype(np.uint8)


def count_pattern(board, pattern):
    """How often a pattern occurs with nothing but dead cells around it, in any orientation."""
    height, width = board.shape
    total = 0
    for oriented in orientations(pattern):
        framed = np.pad(oriented, 1)
        wrapped = np.pad(board, ((0, framed.shape[0] - 1), (0, framed.shape[1] - 1)), mode="wrap")
        match = np.ones(board.shape, dtype=bool)
        for y in range(framed.shape[0]):
            for x in range(framed.shape[1]):
                match &= wrapped[y : y + height, x : x + width] == framed[y, x]
        total += int(match.sum())
    return total


class Life:
    """A board of the game of life with its history."""

    def __init__(self, board):
        self.board = board
        self.generation = 0
        self.populations = [int(board.sum())]
        self.births = []
        self.deaths = []
        self.heat = np.zeros(board.shape, dtype=np.int64)

    def advance(self):
        """Play one generation and note what changed."""
        new = step(self.board)
        changed = new != self.board
        self.births.append(int((changed & (new == 1)).sum()))
        self.deaths.append(int((changed & (new == 0)).sum()))
        self.heat += changed
        self.board = new
        self.generation += 1
        self.populations.append(int(new.sum()))

    def census(self):
        """Count the well-known objects on the board."""
        counts = {}
        for family in (STILL_LIFES, OSCILLATORS, SPACESHIPS):
            for name, rows in family.items():
                counts[name] = count_pattern(self.board, parse(rows))
        return counts


def block_entropy(board):
    """The entropy, in bits, of the 16 possible squares of two by two cells."""
    right = np.roll(board, -1, axis=1)
    code = board + 2 * right + 4 * np.roll(board, -1, axis=0) + 8 * np.roll(right, -1, axis=0)
    counts = np.bincount(code.ravel(), minlength=16)
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum())


def place(board, pattern, y, x):
    """Put a pattern on the board with its upper left corner at a cell."""
    board[y : y + pattern.shape[0], x : x + pattern.shape[1]] = pattern


def check_known_objects():
    """Known objects have to have their known periods and displacements."""
    results = []
    for name, rows, period, shift in [
        ("block", STILL_LIFES["block"], 1, (0, 0)),
        ("blinker", OSCILLATORS["blinker"], 2, (0, 0)),
        ("toad", OSCILLATORS["toad"], 2, (0, 0)),
        ("glider", SPACESHIPS["glider"], 4, (1, 1)),
    ]:
        board = np.zeros((24, 24), dtype=np.uint8)
        place(board, parse(rows), 9, 9)
        later = board
        for _ in range(period):
            later = step(later)
        good = np.array_equal(later, np.roll(board, shift, axis=(0, 1)))
        results.append(f"{name} {'ok' if good else 'WRONG'}")
    print("known objects: " + ", ".join(results))


def methuselah(generations):
    """Follow the R pentomino and print its population at some ages."""
    board = np.zeros((320, 320), dtype=np.uint8)
    place(board, parse([".oo", "oo.", ".o."]), 158, 158)
    game = Life(board)
    for _ in range(generations):
        game.advance()
    marks = sorted({generations * part // 4 for part in range(5)})
    print("R pentomino: " + ", ".join(f"{mark}: {game.populations[mark]}" for mark in marks))
    rows = np.flatnonzero(game.heat.any(axis=1))
    columns = np.flatnonzero(game.heat.any(axis=0))
    print(f"  touched {len(rows)} rows and {len(columns)} columns, {int((game.heat > 0).sum())} cells")


class CyclicAutomaton:
    """Each state is eaten by the next one, in a circle of states."""

    def __init__(self, size, states, threshold, rng):
        self.states = states
        self.threshold = threshold
        self.cells = rng.integers(0, states, (size, size))

    def advance(self):
        """One step for all cells; returns how many changed."""
        successor = (self.cells + 1) % self.states
        eaters = np.zeros(self.cells.shape, dtype=np.int64)
        for shift in (-1, 1):
            for axis in (0, 1):
                eaters += np.roll(self.cells, shift, axis=axis) == successor
        change = eaters >= self.threshold
        self.cells = np.where(change, successor, self.cells)
        return int(change.sum())

    def defects(self, radius=3):
        """Squares around whose border the state winds, one way or the other: the surroundings of spirals."""
        ring = [(-radius, x) for x in range(-radius, radius)]
        ring += [(y, radius) for y in range(-radius, radius)]
        ring += [(radius, x) for x in range(radius, -radius, -1)]
        ring += [(y, -radius) for y in range(radius, -radius, -1)]
        winding = np.zeros(self.cells.shape, dtype=np.int64)
        smooth = np.ones(self.cells.shape, dtype=bool)
        for here, there in zip(ring, ring[1:] + ring[:1]):
            first = np.roll(self.cells, here, axis=(0, 1))
            second = np.roll(self.cells, there, axis=(0, 1))
            difference = (second - first + self.states // 2) % self.states - self.states // 2
            winding += difference
            smooth &= np.abs(difference) <= 1
        return int((smooth & (winding > 0)).sum()), int((smooth & (winding < 0)).sum())

    def boundary_share(self):
        """The share of neighbouring pairs in different states."""
        unequal = (self.cells != np.roll(self.cells, 1, axis=0)).mean()
        unequal += (self.cells != np.roll(self.cells, 1, axis=1)).mean()
        return unequal / 2


def draw(board, rows, columns):
    """Print a coarse picture of a board, denser characters for more live cells."""
    height, width = board.shape
    y = np.linspace(0, height, rows + 1).astype(int)
    x = np.linspace(0, width, columns + 1).astype(int)
    for top, bottom in zip(y[:-1], y[1:]):
        line = ""
        for left, right in zip(x[:-1], x[1:]):
            live = int(board[top:bottom, left:right].sum())
            line += " .:+*#@"[min(6, live * 30 // max(1, (bottom - top) * (right - left)))]
        print("  |" + line + "|")


def soup(size, generations, rng):
    """Let a random soup burn out and take the census of the ash."""
    game = Life((rng.random((size, size)) < 0.35).astype(np.uint8))
    print(f"soup of {size} x {size} cells, {generations} generations")
    print(f"  entropy of 2 x 2 squares at the start: {block_entropy(game.board):.5f} bits")
    for number in range(1, generations + 1):
        game.advance()
        if number % max(1, generations // 5) == 0:
            born, died = game.births[-1], game.deaths[-1]
            print(f"  generation {number:4d}: population {game.populations[-1]:6d}, born {born:5d}, died {died:5d}")
    print(f"  entropy of 2 x 2 squares at the end: {block_entropy(game.board):.5f} bits")
    census = game.census()
    for name, count in sorted(census.items(), key=lambda item: (-item[1], item[0])):
        if count:
            print(f"  {name:20s} {count:5d}")
    quiet = int((game.heat == 0).sum())
    print(f"  busiest cell changed {game.heat.max()} times, {quiet} cells never did")
    draw(game.board, 6, 40)


def main():
    """Run the checks, the soup and the cyclic automaton."""
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(1970)
    check_known_objects()
    methuselah(max(40, round(800 * scale)))
    size = max(48, round(800 * scale**0.5))
    soup(size, max(40, round(1300 * scale**0.5)), rng)

    cyclic = CyclicAutomaton(max(48, round(256 * scale**0.5)), 12, 1, rng)
    steps = max(30, round(300 * scale**0.5))
    print(f"cyclic automaton with {cyclic.states} states, {steps} steps")
    for number in range(1, steps + 1):
        changed = cyclic.advance()
        if number % max(1, steps // 4) == 0:
            left, right = cyclic.defects()
            share = cyclic.boundary_share()
            print(f"  step {number:3d}: {changed:6d} changed, defects {left} and {right}, boundaries {share:.5f}")
    shares = np.bincount(cyclic.cells.ravel(), minlength=cyclic.states) / cyclic.cells.size
    print("  shares of the states: " + " ".join(f"{share:.3f}" for share in shares))


if __name__ == "__main__":
    main()
