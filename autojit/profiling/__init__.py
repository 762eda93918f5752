"""Profiles: what happens in decorated functions, in time, for TensorBoard and as a table."""
