"""Conway's game of life, twice: with roll and with slices."""


def neighbours(np, grid):
    return sum(
        np.roll(np.roll(grid, dy, axis=0), dx, axis=1) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0)
    )


def step(np, grid):
    n = neighbours(np, grid)
    return ((n == 3) | ((grid == 1) & (n == 2))).astype(int)


def iterate(np, Z):
    N = (Z[0:-2, 0:-2] + Z[0:-2, 1:-1] + Z[0:-2, 2:] +
         Z[1:-1, 0:-2]                + Z[1:-1, 2:] +
         Z[2:  , 0:-2] + Z[2:  , 1:-1] + Z[2:  , 2:])  # fmt: skip
    birth = (N == 3) & (Z[1:-1, 1:-1] == 0)
    survive = ((N == 2) | (N == 3)) & (Z[1:-1, 1:-1] == 1)
    Z[...] = 0
    Z[1:-1, 1:-1][birth | survive] = 1
    return Z


def main(np):
    grid = np.zeros((12, 12), dtype=int)
    glider = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]
    grid[1:4, 1:4] = glider
    start = grid.copy()
    for _ in range(48):
        grid = step(np, grid)
    Z = np.array(
        [[0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 1, 0, 1, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0], [0] * 6]
    )
    for _ in range(4):
        iterate(np, Z)
    rows, cols = np.where(Z)
    text = "\n".join("".join("#" if cell else "." for cell in row) for row in Z)
    return {
        "back": np.array_equal(grid, start),
        "alive": grid.sum(),
        "cells": list(zip(rows.tolist(), cols.tolist())),
        "Z": Z,
        "text": text,
        "any": (Z > 1).any(),
        "dtype": str(Z.dtype),
        "print": str(Z),
    }
