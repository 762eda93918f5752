"""Benchmarks: our own programs, the running example, and a runner for an NPBench checkout."""
