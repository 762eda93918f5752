"""Pages made from the package's tables and the repository's files, as an MkDocs hook. They cannot be out of date."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

# The hook documents the tree it stands in, not an installed copy.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from autojit.config import ENVIRONMENT_VARIABLE, FLAGS
from autojit.errors import REASONS
from autojit.ops.chapters import TABLE
from docs.gen_call import PAGE, call_page
from docs.gen_copies import COPIES, copied
from docs.gen_errors import errors_page
from docs.gen_ops import ops, table


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages (called by MkDocs)."""
    made = {"flags": flags(), "reasons": reasons(), "errors": errors_page(), "ops": ops()}
    for name, text in made.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    for source, page in COPIES.items():
        files.append(File.generated(config, page, content=copied(source)))
    return files


def on_page_markdown(text: str, page: Any, config: Any, files: Any) -> str:
    """Put the outputs into the page of one call (called by MkDocs)."""
    return call_page() if page.file.src_uri == PAGE else text


def flags() -> str:
    """One row per flag."""
    lines = [
        "# Flags",
        "",
        f"Flags are given for the process in `{ENVIRONMENT_VARIABLE}`, for example "
        f'`{ENVIRONMENT_VARIABLE}="--auto_jit=0"`, and for one function as keywords of the decorators. An unknown '
        "flag is an error that suggests the nearest.",
        "",
        f"`{ENVIRONMENT_VARIABLE}` is read when autojit is imported, and a function keeps the flags that are in force "
        "when it is decorated. A keyword of its decorator wins over the process's flag, and `--policy` holds for every "
        "other function, those under `jit_compile` included.",
        "",
        "A decorated function that another one calls becomes part of that one's program, with the caller's flags. Two "
        'hold all the same: `exact=True` and `policy="native"`. Then the call stays Python\'s.',
        "",
        "Names of operations are NumPy's (`np.tanh`) or families: " + ", ".join(families()) + ".",
        "",
        *table(
            ["flag", "default", "takes", "meaning"],
            [[f"`--{f.name}`", default(f.default), f.accepts, f.doc] for f in FLAGS.values()],
        ),
    ]
    return "\n".join(lines)


def families() -> list[str]:
    """The families of operations that `--ops_to_cluster` and `--cluster_exclude_ops` know."""
    return [f"`{name}`" for name in dict.fromkeys(op.family for op in TABLE.rows.values())]


def default(value: Any) -> str:
    """A default as a user would write it."""
    return "none" if value in (None, (), "") else f"`{value}`"


def reasons() -> str:
    """One section per reason, so that a report can link to it."""
    lines = ["# Reasons", "", "Everything that is not compiled has one of these reasons; `explain()` says which.", ""]
    for reason in REASONS.values():
        lines += [f"## {reason.id}", "", f"**{reason.title}.** {sentence(reason.why)}", "", sentence(reason.hint), ""]
    return "\n".join(lines)


def sentence(text: str) -> str:
    """Text with a capital and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."
