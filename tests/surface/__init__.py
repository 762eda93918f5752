"""What becomes of every public NumPy function: observed by calling each through autojit."""
