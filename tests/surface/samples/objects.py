"""Functions that call functions, and polynomials as objects."""

SAMPLES: dict[str, tuple[str, ...]] = {
    "np.vectorize": ("np.vectorize(lambda y: y + 1)(v)", "np.vectorize(lambda y, l: y if y > l else l)(v, s)"),
    "np.apply_along_axis": ("(np.sum, 0, a)", "(lambda y: y - y.mean(), 1, a)", "(np.sort, 1, a)"),
    "np.apply_over_axes": ("(np.sum, c, [0, 2])",),
    "np.frompyfunc": ("np.frompyfunc(lambda y: y + 1, 1, 1)(i).astype(int)",),
    "np.poly1d": ("np.poly1d(v)(x)", "np.poly1d([1, 2, 3])(v)"),
    "np.ndarray": ("y = np.ndarray((2, 3)); y[...] = 1; y",),
}
