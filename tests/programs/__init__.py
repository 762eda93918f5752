"""NumPy programs as users write them: plain functions, and a generator of inputs for each in `PROGRAMS`."""
