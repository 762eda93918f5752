"""Passes: pure functions from graph to graph, one per file, and the pipeline that runs them."""
