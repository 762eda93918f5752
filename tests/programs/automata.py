"""Cellular automata: integer grids, neighbours by slices and by single cells."""

import numpy as np


def life(grid, steps):
    """Conway's game on a torus, neighbours by rolling."""
    for _ in range(steps):
        count = np.zeros_like(grid)
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                if dy or dx:
                    count += np.roll(np.roll(grid, dy, 0), dx, 1)
        grid = ((count == 3) | ((grid == 1) & (count == 2))).astype(grid.dtype)
    return grid


def life_in_place(grid, steps):
    """Conway's game with dead borders, neighbours by slices; stops when nothing moves."""
    generations = 0
    for _ in range(steps):
        n = grid[:-2, :-2] + grid[:-2, 1:-1] + grid[:-2, 2:] + grid[1:-1, :-2] + grid[1:-1, 2:]
        n = n + grid[2:, :-2] + grid[2:, 1:-1] + grid[2:, 2:]
        birth = (n == 3) & (grid[1:-1, 1:-1] == 0)
        stay = ((n == 2) | (n == 3)) & (grid[1:-1, 1:-1] == 1)
        before = grid.copy()
        grid[...] = 0
        grid[1:-1, 1:-1][birth | stay] = 1
        generations += 1
        if np.array_equal(before, grid):
            break
    return generations


def life_cell_by_cell(grid):
    """One generation with loops over cells and clipped neighbourhoods."""
    rows, columns = grid.shape
    fresh = np.zeros_like(grid)
    for y in range(rows):
        for x in range(columns):
            around = grid[max(y - 1, 0) : y + 2, max(x - 1, 0) : x + 2].sum() - grid[y, x]
            if around == 3 or (around == 2 and grid[y, x]):
                fresh[y, x] = 1
    return fresh


def wolfram(rule, cells, steps):
    """An elementary automaton; the rule's bits are a table."""
    table = np.array([(rule >> k) & 1 for k in range(8)], dtype=np.uint8)
    history = np.zeros((steps + 1, cells.size), dtype=np.uint8)
    history[0] = cells
    for t in range(steps):
        row = history[t]
        index = 4 * np.roll(row, 1) + 2 * row + np.roll(row, -1)
        history[t + 1] = table[index]
    return history, int(history.sum())


def wolfram_cell_by_cell(rule, cells, steps):
    """The same with Python's integers and a swap of two rows."""
    n = len(cells)
    new = np.empty_like(cells)
    for _ in range(steps):
        for i in range(n):
            pattern = (int(cells[i - 1]) << 2) | (int(cells[i]) << 1) | int(cells[(i + 1) % n])
            new[i] = (rule >> pattern) & 1
        cells, new = new, cells
    return cells


def forest_fire(forest, growth, lightning):
    """Trees (1) grow, burn (2) and are gone (0); the random fields are given, one per step."""
    burnt = []
    for grow, strike in zip(growth, lightning):
        fire = forest == 2
        near = np.zeros_like(fire)
        near[1:] |= fire[:-1]
        near[:-1] |= fire[1:]
        near[:, 1:] |= fire[:, :-1]
        near[:, :-1] |= fire[:, 1:]
        tree = forest == 1
        forest[tree & (near | (strike < 0.02))] = 2
        forest[fire] = 0
        forest[(forest == 0) & ~fire & (grow < 0.1)] = 1
        burnt.append(int(np.count_nonzero(fire)))
    return burnt


def sandpile(sand):
    """Piles above three topple until none is left; returns how often."""
    topples = 0
    while (sand > 3).any():
        over = sand // 4
        topples += int(over.sum())
        sand -= 4 * over
        sand[1:] += over[:-1]
        sand[:-1] += over[1:]
        sand[:, 1:] += over[:, :-1]
        sand[:, :-1] += over[:, 1:]
    return topples


def ant(board, steps):
    """Langton's ant, which walks off the board when it can; Python's integers decide where it is."""
    y, x = board.shape[0] // 2, board.shape[1] // 2
    dy, dx = -1, 0
    for step in range(steps):
        if not (0 <= y < board.shape[0] and 0 <= x < board.shape[1]):
            return step
        if board[y, x]:
            dy, dx = -dx, dy
        else:
            dy, dx = dx, -dy
        board[y, x] = not board[y, x]
        y += dy
        x += dx
    return steps


def ising(spins, uniforms, beta):
    """Checkerboard updates of a spin lattice with given random numbers."""
    energies = np.empty(len(uniforms))
    parity = np.add.outer(np.arange(spins.shape[0]), np.arange(spins.shape[1])) % 2
    for t, u in enumerate(uniforms):
        for colour in range(2):
            field = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
            flip = (parity == colour) & (u < np.exp(-2 * beta * spins * field))
            spins[flip] *= -1
        energies[t] = -(spins * (np.roll(spins, 1, 0) + np.roll(spins, 1, 1))).sum() / spins.size
    return energies


def bits(rng, *shape):
    return rng.integers(0, 2, shape)


PROGRAMS = {
    life: lambda rng, n: (bits(rng, n, n), 4),
    life_in_place: lambda rng, n: (bits(rng, n, n + 1), 9),
    life_cell_by_cell: lambda rng, n: (bits(rng, n, n),),
    wolfram: lambda rng, n: (int(rng.integers(256)), bits(rng, n), n // 2),
    wolfram_cell_by_cell: lambda rng, n: (int(rng.integers(256)), bits(rng, n), 4),
    forest_fire: lambda rng, n: (rng.integers(0, 3, (n, n)), rng.random((5, n, n)), rng.random((5, n, n))),
    sandpile: lambda rng, n: (rng.integers(0, 8, (n, n)),),
    ant: lambda rng, n: (bits(rng, n, n).astype(bool), 60),
    ising: lambda rng, n: (2 * bits(rng, n, n) - 1, rng.random((4, n, n)), 0.4),
}
