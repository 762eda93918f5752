"""`np.random`: the functions of the global generator, and the methods of a `Generator`, as `rng`."""

_DRAWS: dict[str, str] = {
    "beta": "(2.0, 3.0, 4)", "binomial": "(5, 0.5, 4)", "bytes": "(3)", "chisquare": "(2.0, 4)",
    "choice": "(v, 3)", "dirichlet": "(u, 2)", "exponential": "(1.5, 4)", "f": "(2.0, 3.0, 4)",
    "gamma": "(2.0, 1.0, 4)", "geometric": "(0.5, 4)", "gumbel": "(size=4)",
    "hypergeometric": "(5, 4, 3, 4)", "laplace": "(size=4)", "logistic": "(size=4)",
    "lognormal": "(size=4)", "logseries": "(0.5, 4)", "multinomial": "(5, [0.5, 0.5])",
    "multivariate_normal": "(m[0], m)", "negative_binomial": "(5, 0.5, 4)", "noncentral_chisquare": "(2.0, 1.0, 4)",
    "noncentral_f": "(2.0, 3.0, 1.0, 4)", "normal": "(size=4)", "pareto": "(2.0, 4)", "permutation": "(v)",
    "poisson": "(2.0, 4)", "power": "(2.0, 4)", "random": "(4)", "rayleigh": "(size=4)",
    "shuffle": "(v)", "standard_cauchy": "(4)", "standard_exponential": "(4)", "standard_gamma": "(2.0, 4)",
    "standard_normal": "(4)", "standard_t": "(3.0, 4)", "triangular": "(0, 1, 2, 4)", "uniform": "(size=4)",
    "vonmises": "(0.0, 1.0, 4)", "wald": "(1.0, 1.0, 4)", "weibull": "(2.0, 4)", "zipf": "(2.0, 4)",
}  # fmt: skip
_LEGACY = {
    "rand": "(4)", "randn": "(2, 2)", "randint": "(0, 9, 4)", "random_integers": "(9)", "random_sample": "(4)", "ranf": "(4)", "sample": "(4)",
}  # fmt: skip
_NEW = {
    "integers": "(0, 9, 4)", "permuted": "(a, axis=1)", "multivariate_hypergeometric": "([3, 4], 2)",
}  # fmt: skip


def _work(name: str) -> str:
    """Array work after a draw: a region without any is left to NumPy."""
    return "" if name in ("bytes", "shuffle") else " * 2"


SAMPLES: dict[str, tuple[str, ...]] = {}
for _name, _call in (_DRAWS | _LEGACY).items():
    SAMPLES[f"np.random.{_name}"] = (f"np.random.seed(3); np.random.{_name}{_call}{_work(_name)}",)
for _name, _call in (_DRAWS | _NEW).items():
    SAMPLES[f"np.random.Generator.{_name}"] = (f"rng.{_name}{_call}{_work(_name)}",)
SAMPLES |= {
    "np.random.seed": ("np.random.seed(3); np.random.rand(3) * 2",),
    "np.random.get_state": ("np.random.seed(3); np.random.get_state()[1]",),
    "np.random.set_state": (
        "np.random.seed(3); y = np.random.get_state(); np.random.rand(); np.random.set_state(y); np.random.rand()",
    ),
    "np.random.default_rng": ("np.random.default_rng(3).random(4) * 2",),
    "np.random.Generator.spawn": ("rng.spawn(2)[0].random()",),
    "np.random.Generator.bit_generator": ("rng.bit_generator.state['bit_generator']",),
}
