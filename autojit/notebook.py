"""What `%load_ext autojit` does in a notebook: cells are autoclustered, and there are three commands more.

They are `%%autocluster`, `%explain` and `%compiler_ir`.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

from autojit.api import autocluster, explain_call_of, get_compiler_ir
from autojit.config import Config, current, parse_changes
from autojit.errors import FlagError
from autojit.ir.syntax import has_loop
from autojit.launch.arm import arm
from autojit.launch.hook import measured
from autojit.launch.rewrite import Definitions, is_plain
from autojit.runtime.twins import FILES

_OPTION = re.compile(r"\s*--(\w+)(?:=|\s+)(\S+)")
#: The decorator's name in cells, which no user's name hides.
_DECORATOR = "__autojit_autocluster__"
#: That of functions with other decorators. Numba's read the function's code.
_BESIDE_OTHERS = "__autojit_autocluster_beside_others__"

#: What arms the functions of plain cells, among Python's own names: it is none of the user's.
_ARM = "__autojit_arm__"


class _Cells(Definitions):
    """Arms the functions that plain cells define, as a launcher does it; they stay the objects that they are.

    Args:
        config: Their flags.

    Attributes:
        rests: Whether cells are left alone now.
    """

    def __init__(self, config: Config) -> None:
        self.config, self.rests = config, False

    def visit_Module(self, node: ast.Module) -> ast.AST:
        if self.rests:
            return node
        setattr(builtins, _ARM, self.arm)
        with contextlib.suppress(RecursionError):  # IPython takes a transformer away that raises
            self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        is_decorated = not all(map(is_plain, node.decorator_list))
        options: list[ast.expr] = [ast.Constant(is_decorated), ast.Constant(not has_loop(node.body))]
        decorator = ast.Call(ast.Name(_ARM, ast.Load()), options, [])
        place = node.decorator_list[0] if node.decorator_list else node
        for part in ast.walk(decorator):
            ast.copy_location(part, place)
        node.decorator_list.insert(0, decorator)
        return node

    def arm(self, is_decorated: bool, is_callee: bool) -> Callable[[Any], Any]:
        """What arms what a definition of a cell has made."""
        FILES.add(sys._getframe(1).f_code.co_filename)
        return functools.partial(arm, config=self.config, is_decorated=is_decorated, is_callee=is_callee)


class _Decorate(Definitions):
    """Decorates the functions that a cell defines, methods among them."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        # The innermost decorator gets the function itself; it stands at the line of the function.
        name = _DECORATOR if all(map(is_plain, node.decorator_list)) else _BESIDE_OTHERS
        node.decorator_list.append(ast.copy_location(ast.Name(name, ast.Load()), node))
        return node


class Magics:
    """The magics of one shell.

    Attributes:
        cells: What arms the functions of plain cells.
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.cells = _Cells(measured(current()))

    def autocluster(self, line: str, cell: str) -> Any:
        """`%%autocluster [--FLAG=VALUE ...]`: run the cell, and autocluster the functions and methods that it defines.

        The flags are those of `AUTOJIT_FLAGS`: `%%autocluster --policy=eager --exact`.
        """
        try:
            decorator = autocluster(**parse_changes(line))
        except FlagError as error:
            raise _mistake(str(error)) from None
        names = self.shell.user_ns
        text = self.shell.transform_cell(cell)
        # The compiler keeps the text under this name: tracebacks and autojit find the lines there.
        file = self.shell.compile.cache(text, raw_code=cell)
        self.cells.rests = True
        try:
            tree = self.shell.transform_ast(self.shell.compile.ast_parse(text, file))
        finally:
            self.cells.rests = False
        body = _Decorate().visit(tree).body
        ends = self.shell.displayhook.semicolon_at_end_of_expression
        last = body.pop() if body and isinstance(body[-1], ast.Expr) and not ends(text) else None
        with self.shell.compile.extra_flags(ast.PyCF_ALLOW_TOP_LEVEL_AWAIT):
            code = self.shell.compile(ast.Module(body, []), file, "exec")
            value = self.shell.compile(ast.Expression(last.value), file, "eval") if last else None
        if any(part is not None and part.co_flags & inspect.CO_COROUTINE for part in (code, value)):
            raise _mistake("`%%autocluster` runs no cells that await something outside of functions")
        names[_DECORATOR] = decorator
        names[_BESIDE_OTHERS] = lambda function: function if "numba" in sys.modules else decorator(function)
        try:
            exec(code, names)
            return None if value is None else eval(value, names)
        finally:
            names.pop(_DECORATOR, None)
            names.pop(_BESIDE_OTHERS, None)

    def explain(self, line: str) -> Any:
        """`%explain f(x, y)`: what becomes of the call, which is not made."""
        options, call = _options(line)
        if options:
            raise _mistake("`%explain` takes a call, as `%explain f(x, y)`, and no flags")
        function, args, kwargs = self._call("%explain", call)
        return explain_call_of(function, *args, **kwargs)

    def compiler_ir(self, line: str) -> Any:
        """`%compiler_ir [--stage=STAGE] [--cluster=NAME] f(x, y)`: what the compiler makes of the call."""
        options, call = _options(line)
        if unknown := set(options) - {"stage", "cluster"}:
            raise _mistake(f"`%compiler_ir` takes `--stage` and `--cluster`, not `--{unknown.pop()}`")
        function, args, kwargs = self._call("%compiler_ir", call)
        found = get_compiler_ir(function, *args, **kwargs)
        return found(**options) if options else found

    def _call(self, magic: str, text: str) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """The function and the arguments of a call in the user's names."""
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError as error:
            raise _mistake(f"`{magic}` takes a call, as `{magic} f(x, y)`: {error.msg}") from None
        if not isinstance(tree.body, ast.Call):
            raise _mistake(f"`{magic}` takes a call, as `{magic} f(x, y)`, not `{text.strip()}`")
        names = {**self.shell.user_ns, "__given__": lambda *args, **kwargs: (args, kwargs)}
        function = eval(compile(ast.Expression(tree.body.func), magic, "eval"), names)
        tree.body.func = ast.copy_location(ast.Name("__given__", ast.Load()), tree.body)
        args, kwargs = eval(compile(tree, magic, "eval"), names)
        return function, args, kwargs


def _mistake(text: str) -> Exception:
    """What is wrong with a magic's line: IPython shows it without a traceback."""
    from IPython.core.error import UsageError  # which is there where magics are

    return UsageError(text)


def _options(line: str) -> tuple[dict[str, str], str]:
    """The leading `--name=value`, and the rest of a magic's line."""
    found: dict[str, str] = {}
    while match := _OPTION.match(line):
        found[match[1]] = match[2]
        line = line[match.end() :]
    return found, line.strip()


def load_ipython_extension(shell: Any) -> None:
    """Autocluster what cells define from now on, and add the magics: IPython calls this for `%load_ext autojit`.

    Args:
        shell: The notebook's shell.
    """
    magics = Magics(shell)
    shell.ast_transformers.append(magics.cells)
    shell.register_magic_function(magics.autocluster, "cell", "autocluster")
    shell.register_magic_function(_verbatim(magics.explain), "line", "explain")
    shell.register_magic_function(_verbatim(magics.compiler_ir), "line", "compiler_ir")


def unload_ipython_extension(shell: Any) -> None:
    """Leave alone what cells define from now on: IPython calls this for `%unload_ext autojit`.

    Args:
        shell: The notebook's shell.
    """
    transformers = shell.ast_transformers
    transformers[:] = [one for one in transformers if not isinstance(one, _Cells)]


def _verbatim(method: Callable[[str], Any]) -> Callable[[str], Any]:
    """A magic whose line is a call, in which braces and dollars are Python's."""
    from IPython.core.magic import no_var_expand  # which is there where magics are

    @functools.wraps(method)
    def magic(line: str) -> Any:
        return method(line)

    return no_var_expand(magic)
