"""NumPy's own tests, with the functions under test driven through autojit."""
