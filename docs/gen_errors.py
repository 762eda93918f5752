"""The page of errors: the docstrings of the public exceptions and warnings, and what each says in an example."""

from __future__ import annotations

import warnings

import autojit
from autojit import errors
from docs.gen_snippets import fenced, run

_HEAD = "import numpy as np\nimport autojit as aj\n\n"

#: A program that raises it, or warns.
EXAMPLES = {
    "AutojitError": """\
aj.profile_table("no_such_folder")
""",
    "UncompilableError": """
@aj.jit_compile
def report(x):
    scaled = x - x.mean()
    print(scaled.max())
    return np.unique(np.round(scaled, 1)).sum()


report(np.ones(100))
""",
    "FlagError": """
@aj.autocluster(polcy="eager")
def double(x):
    return x * 2
""",
    "AutojitWarning": """
@aj.autocluster(policy="eager", max_plans=2)
def norm(x):
    return np.sqrt((x * x).sum())


for size in (10, 20, 30):
    norm(np.ones(size))
""",
}


def public() -> list[type[BaseException]]:
    """The exceptions and warnings that users meet, in the order in which they are defined."""
    found = (value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, BaseException))
    return [each for each in found if each.__name__ in autojit.__all__]


def errors_page() -> str:
    """The whole page."""
    lines = [
        "# Errors and warnings",
        "",
        "What autojit itself raises. Whatever NumPy raises for your data, an index out of bounds or a singular matrix, "
        "it raises through compiled code, too: the same type, text, line and partial effects, see "
        "[how it works](../how-it-works.md).",
        "",
    ]
    for each in public():
        name = each.__name__
        lines += [f"::: autojit.errors.{name}", "    options:", "      heading_level: 2", "      members: false", ""]
        lines += ["For example", "", *fenced(_HEAD + EXAMPLES[name], "python"), *fenced(said(EXAMPLES[name]))]
    return "\n".join(lines)


def said(example: str) -> str:
    """What a program raises or warns of, as the interpreter prints it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")  # with "always" NumPy would run, for its own warnings
        try:
            run(_HEAD + example, "example.py")
        except errors.AutojitError as error:
            return f"{type(error).__module__}.{type(error).__name__}: {error}"
    (warning,) = caught
    return f"{warning.filename}:{warning.lineno}: {warning.category.__name__}: {warning.message}"
