"""The op table: one row per NumPy function, by NumPy chapter."""
