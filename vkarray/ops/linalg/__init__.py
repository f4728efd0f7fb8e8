"""Linear algebra: one file per factorisation, and the functions that stand on it. `vkarray.linalg` is the index."""
