"""A kernel of an NPBench checkout: its description, its inputs, and fresh imports of its files."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel.

    Attributes:
        name: The name of its description file.
        info: The description.
        folder: Where its files are.
    """

    name: str
    info: dict[str, Any]
    folder: Path

    @property
    def module_name(self) -> str:
        return self.info["module_name"]

    @property
    def function_name(self) -> str:
        return self.info["func_name"]

    @property
    def leniency(self) -> float:
        """The tolerance to which NPBench itself holds ports of this kernel."""
        return max(1e-5, *(float(self.info.get(name, 0)) for name in ("rtol", "norm_error")))

    def load(self, postfix: str, alias: str) -> ModuleType:
        """Import `{module}{postfix}.py` anew under the name `alias`, so that two imports share no function."""
        path = self.folder / f"{self.module_name}{postfix}.py"
        spec = importlib.util.spec_from_file_location(f"{alias}_{self.module_name}{postfix}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    def function(self, postfix: str, alias: str) -> Callable[..., Any]:
        """The kernel's function from a fresh import."""
        return getattr(self.load(postfix, alias), self.function_name)

    def postfixes(self, peer: str) -> list[str]:
        """The postfixes of all ports to `peer`: "_jax", or "_numba_n", "_numba_np" and so on."""
        names = sorted(path.stem for path in self.folder.glob(f"{self.module_name}_{peer}*.py"))
        return [name.removeprefix(self.module_name) for name in names]

    def inputs(self, preset: str) -> dict[str, Any]:
        """The arguments of the function by name, in order.

        Raises:
            KeyError: The kernel has no such preset.
        """
        data = dict(self.info["parameters"][preset])
        init = self.info.get("init")
        if init:
            make = getattr(self.load("", "init"), init["func_name"])
            made = make(*(data[name] for name in init["input_args"]))
            names = init["output_args"]
            data.update(zip(names, made if len(names) > 1 else (made,), strict=True))
        return {name: data[name] for name in self.info["input_args"]}


def find(path: Path, names: list[str] | None = None) -> list[Kernel]:
    """The kernels of a checkout, by name.

    Raises:
        FileNotFoundError: `path` is no NPBench checkout, or has no kernel of a wanted name.
    """
    described = {file.stem: file for file in sorted((path / "bench_info").glob("*.json"))}
    if not described:
        raise FileNotFoundError(f"`{path}` is not an NPBench checkout: it has no `bench_info/*.json`")
    unknown = sorted(set(names or ()) - described.keys())
    if unknown:
        raise FileNotFoundError(f"no kernel `{'`, `'.join(unknown)}`; there are {', '.join(described)}")
    return [_read(path, name, file) for name, file in described.items() if not names or name in names]


def _read(path: Path, name: str, file: Path) -> Kernel:
    info = json.loads(file.read_text())["benchmark"]
    return Kernel(name, info, path / "npbench" / "benchmarks" / info["relative_path"])


def fresh(arguments: dict[str, Any], changing: set[str] | None = None) -> tuple[Any, ...]:
    """The arguments of one call: arrays that a call changes (all of them when `None`) are copied."""
    return tuple(
        value.copy(order="K") if isinstance(value, np.ndarray) and (changing is None or name in changing) else value
        for name, value in arguments.items()
    )
