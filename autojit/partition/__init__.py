"""Partition: which nodes compile, which of them run together, in which steps a graph runs."""
