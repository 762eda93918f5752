"""The loops of a script's own statements: probes stand in the script's code, since it runs only once."""

from __future__ import annotations

import ast
import types
from typing import Any

from autojit.api import is_enabled, strict_reasons
from autojit.capture.module_loops import in_module, loops_of, source_of_loop
from autojit.capture.probes import MARK, TWINS, with_probes
from autojit.capture.regions import RegionTree
from autojit.capture.source import FunctionSource
from autojit.config import Config
from autojit.ir.syntax import has_loop
from autojit.runtime.function import Controller
from autojit.runtime.twins import FILES

#: The controllers of the loops of the script.
LOOPS: list[ModuleLoop] = []
_MARK = "\0autojit loop "  # what nobody has in a program


class Names:
    """What would be a function's local names, of ours."""

    def put(self, name: str, value: Any) -> Any:
        """Bind a name; gives the value."""
        setattr(self, name, value)
        return value

    def clear(self) -> None:
        """Hold nothing any more."""
        vars(self).clear()


class ModuleLoop(Controller):
    """The controller of a loop that stands in a module: its code is there from the start, and stays as it is.

    Args:
        source: A function with the loop as its body, which is never called.
        usual: Names it binds that usually have a value before, and are no parameters.
        config: The flags.
    """

    def __init__(self, source: FunctionSource, usual: frozenset[str], config: Config) -> None:
        self._source, self._usual = source, usual
        self.names = Names()
        super().__init__(source.function, config, False, strict_reasons, is_enabled(config))

    def statements(self, mark: str) -> tuple[list[ast.stmt], dict[str, object]]:
        """What stands for the loop in the module, and what its constants stand for."""
        assert self.tree is not None
        marks = self.marks()
        made = in_module(with_probes(self.tree, marks, self.warm_up is not None), mark)
        clear = ast.Call(ast.Attribute(ast.Constant(mark), "clear", ast.Load()), [], [])
        made.append(ast.Expr(clear))
        first = self.tree.root.statements[0]
        for node in ast.walk(made[-1]):
            ast.copy_location(node, first)
        constants: dict[str, object] = {f"{mark}{MARK}{number}": probe for number, probe in marks.items()}
        return made, constants | {mark: self.names, mark + TWINS: self.twins}

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """As that of functions, for modules that may be given probes."""
        return super().twin(function) if function.__code__.co_filename in FILES else function

    def renew(self) -> None:
        """A module's code runs only once: regions that are made now are not asked."""

    def start_again(self, values: dict[str, Any]) -> None:
        """As above: the statements run."""

    def let_go(self) -> None:
        """As that of functions."""
        super().let_go()
        LOOPS.clear()

    def _read(self) -> RegionTree:
        code = self._source.function.__code__
        names = frozenset((*code.co_varnames, *code.co_cellvars))  # those that a comprehension reads are cells
        return RegionTree(self._source, (), outside=names, usual=self._usual)

    def _install(self) -> Any:
        return self.original


def arm_loops(
    module: ast.Module, text: str, file: str, namespace: dict[str, Any], config: Config
) -> tuple[ast.Module, dict[str, object]]:
    """A module with probes in its loops, and the objects that some of its constants stand for.

    Args:
        module: The module.
        text: Its source.
        file: Its file's name.
        namespace: Its names, before it has run.
        config: The flags.
    """
    placed: dict[int, list[ast.stmt]] = {}
    constants: dict[str, object] = {}
    if not is_enabled(config) or not has_loop(module.body) or not _imports_numpy(module):
        return module, constants
    for loop in loops_of(module, text, file):
        controller = ModuleLoop(source_of_loop(loop, module, file, namespace), loop.usual, config)
        if controller.tree is None or not controller.tree.root.worthwhile:
            continue
        placed[id(loop.statement)], marks = controller.statements(f"{_MARK}{len(LOOPS)} ")
        constants |= marks
        LOOPS.append(controller)
    return _Place(placed).visit(module) if placed else module, constants


class _Place(ast.NodeTransformer):
    """Puts statements in the place of others, by id."""

    def __init__(self, placed: dict[int, list[ast.stmt]]) -> None:
        self.placed = placed

    def generic_visit(self, node: ast.AST) -> Any:
        if id(node) in self.placed:
            return self.placed[id(node)]
        is_block = isinstance(node, ast.Module | ast.stmt | ast.ExceptHandler | ast.match_case)
        return super().generic_visit(node) if is_block else node


def _imports_numpy(module: ast.Module) -> bool:
    imported = [alias.name for node in ast.walk(module) if isinstance(node, ast.Import) for alias in node.names]
    imported += [node.module or "" for node in ast.walk(module) if isinstance(node, ast.ImportFrom)]
    return any(name.partition(".")[0] in ("numpy", "scipy") for name in imported)
