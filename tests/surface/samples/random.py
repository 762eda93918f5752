"""`np.random`: the functions of the global generator, and the methods of a `Generator`, as `rng`."""

_DRAWS: dict[str, tuple[str, str]] = {
    "beta": ("(2.0, 3.0, 4)",) * 2, "binomial": ("(5, 0.5, 4)",) * 2, "bytes": ("(3)",) * 2, "chisquare": ("(2.0, 4)",) * 2,
    "choice": ("(v, 3)",) * 2, "dirichlet": ("(u, 2)",) * 2, "exponential": ("(1.5, 4)",) * 2, "f": ("(2.0, 3.0, 4)",) * 2,
    "gamma": ("(2.0, 1.0, 4)",) * 2, "geometric": ("(0.5, 4)",) * 2, "gumbel": ("(size=4)",) * 2,
    "hypergeometric": ("(5, 4, 3, 4)",) * 2, "laplace": ("(size=4)",) * 2, "logistic": ("(size=4)",) * 2,
    "lognormal": ("(size=4)",) * 2, "logseries": ("(0.5, 4)",) * 2, "multinomial": ("(5, [0.5, 0.5])",) * 2,
    "multivariate_normal": ("(m[0], m)",) * 2, "negative_binomial": ("(5, 0.5, 4)",) * 2, "noncentral_chisquare": ("(2.0, 1.0, 4)",) * 2,
    "noncentral_f": ("(2.0, 3.0, 1.0, 4)",) * 2, "normal": ("(size=4)",) * 2, "pareto": ("(2.0, 4)",) * 2, "permutation": ("(v)",) * 2,
    "poisson": ("(2.0, 4)",) * 2, "power": ("(2.0, 4)",) * 2, "random": ("(4)",) * 2, "rayleigh": ("(size=4)",) * 2,
    "shuffle": ("(v)",) * 2, "standard_cauchy": ("(4)",) * 2, "standard_exponential": ("(4)",) * 2, "standard_gamma": ("(2.0, 4)",) * 2,
    "standard_normal": ("(4)",) * 2, "standard_t": ("(3.0, 4)",) * 2, "triangular": ("(0, 1, 2, 4)",) * 2, "uniform": ("(size=4)",) * 2,
    "vonmises": ("(0.0, 1.0, 4)",) * 2, "wald": ("(1.0, 1.0, 4)",) * 2, "weibull": ("(2.0, 4)",) * 2, "zipf": ("(2.0, 4)",) * 2,
}  # fmt: skip
_LEGACY = {
    "rand": "(4)", "randn": "(2, 2)", "randint": "(0, 9, 4)", "random_integers": "(9)", "random_sample": "(4)", "ranf": "(4)", "sample": "(4)",
}  # fmt: skip
_NEW = {
    "integers": "(0, 9, 4)", "permuted": "(a, axis=1)", "multivariate_hypergeometric": "([3, 4], 2)",
}  # fmt: skip

SAMPLES: dict[str, tuple[str, ...]] = {}
for _name, (_old, _new) in _DRAWS.items():
    _LEGACY[_name], _NEW[_name] = _old, _new
for _name, _call in _LEGACY.items():
    SAMPLES[f"np.random.{_name}"] = (f"np.random.seed(3); np.random.{_name}{_call}",)
for _name, _call in _NEW.items():
    SAMPLES[f"np.random.Generator.{_name}"] = (f"rng.{_name}{_call}",)
SAMPLES |= {
    "np.random.seed": ("np.random.seed(3); np.random.rand()",),
    "np.random.get_state": ("np.random.seed(3); np.random.get_state()[1]",),
    "np.random.set_state": ("np.random.seed(3); y = np.random.get_state(); np.random.rand(); np.random.set_state(y); np.random.rand()",),
    "np.random.default_rng": ("np.random.default_rng(3).random(4)",),
    "np.random.Generator.spawn": ("rng.spawn(2)[0].random()",),
    "np.random.Generator.bit_generator": ("rng.bit_generator.state['bit_generator']",),
}
