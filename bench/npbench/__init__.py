"""Run the unmodified NumPy kernels of an NPBench checkout under autojit: `python -m bench.npbench --path CHECKOUT`."""
