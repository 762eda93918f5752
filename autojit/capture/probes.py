"""Write probes into a function: its own statements, with a question before each region."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any

from autojit.capture.names import TEMPORARY
from autojit.capture.regions import BREAK, CONTINUE, RETURN, Native, Region, RegionTree, is_callee, leaving
from autojit.capture.rest import exit_of
from autojit.capture.source import compile_body
from autojit.errors import CannotCapture
from autojit.ir.syntax import SCOPES, give_places, parse, walk, walk_statements
from autojit.ops.trust import home_of

#: What stands for probes, with the number of a region behind it, and for the twins, until the code is there.
MARK = "autojit probe "
TWINS = "autojit twins"
#: The most loops around a region that may be left in the middle and is timed all the same: that needs a `try`, and
#: CPython takes 20 blocks inside each other.
_TIMED_DEPTH = 4
_TRUSTED = ("numpy", "scipy", "math", "sys", "os", "time")


def instrument(tree: RegionTree, probes: Mapping[int, object], twins: object, timed: bool) -> types.CodeType:
    """The function's code with probes.

    A region `R` with statements `S`, whose live-ins are bound, becomes

        if probe.on and (t := probe.enter(live-ins)) is not None:
            live-outs = t              # or: return, break, continue
        else:
            S                          # with the probes of R's parts

    and where NumPy is timed, the last line becomes

            start = probe.timed and probe.begin()
            try:
                S
            finally:
                if start and probe.gettrace() is None: probe.end(start)

    A loop's body that is one region is asked about in one question while there is nothing to ask: there, it becomes

        if probe.busy: ...               # the above
        else: S

    A native statement that calls what may be a function of the user's, as `y = f(x)`, becomes

        if twins.asks: y = twins.of(f)(x)
        else: y = f(x)

    Args:
        tree: The regions.
        probes: By region number, an object with `on`, `enter(*live_ins)` and `unset`. A region without a
            probe stays as it is.
        twins: An object whose `of(function)` says what to call instead of a function in native statements, as long as
            it `asks`.
        timed: Whether probes also have `begin()`, `end(start)` and `gettrace()`, and want to be told how long the
            statements take.
    """
    source = tree.source
    code = source.function.__code__
    body = with_probes(tree, probes, timed)
    node = source.node
    if isinstance(node, ast.Lambda):
        new = ast.copy_location(ast.FunctionDef("autojit_lambda", node.args, body, [], None, None), node)
    else:
        docstring = [] if tree.root.statements[0] is node.body[0] else node.body[:1]
        new = ast.copy_location(type(node)(node.name, node.args, docstring + body, [], None, None), node)
        if code.co_firstlineno < node.lineno:  # where decorators stand, the code begins at the first one
            new.decorator_list.append(ast.copy_location(ast.Constant(None), node))
            new.decorator_list[0].lineno = code.co_firstlineno
    written = list(walk_statements(node))
    if any(isinstance(statement, ast.Global | ast.Nonlocal) for statement in written):
        _declare_first(new)
    give_places(new, but=set(map(id, written)))
    like = code.replace(co_name=new.name)
    made = compile_body(new, like, source.enclosing_class, source.imports)
    if made is None or set(made.co_freevars) != set(code.co_freevars):
        raise CannotCapture("internal", "the probes changed the function's free variables")
    names = made.co_qualname, code.co_qualname

    def resolve(const: object) -> object:
        if isinstance(const, str) and const.startswith(MARK):
            return probes[int(const[len(MARK) :])]
        if isinstance(const, types.CodeType):
            return inner(const).replace(co_qualname=const.co_qualname.replace(*names, 1))
        return twins if isinstance(const, str) and const == TWINS else const  # `python -b` warns of bytes

    def inner(code: types.CodeType) -> types.CodeType:
        return code.replace(co_consts=tuple(map(resolve, code.co_consts)))

    flags = made.co_flags | code.co_flags & inspect.CO_ITERABLE_COROUTINE
    return inner(made).replace(co_name=code.co_name, co_qualname=code.co_qualname, co_flags=flags)


def with_probes(tree: RegionTree, probes: Mapping[int, object], timed: bool) -> list[ast.stmt]:
    """The statements of a tree with probes, which are constants: `MARK` and the region's number, and `TWINS`."""
    return _Emitter(tree, probes, timed).region(tree.root)


class _Declarations(ast.NodeTransformer):
    """Takes the `global` and `nonlocal` statements out of one scope."""

    def __init__(self) -> None:
        self.found: list[ast.stmt] = []

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> ast.stmt:
        self.found.append(node)
        return ast.copy_location(ast.Pass(), node)

    visit_Nonlocal = visit_Global

    def _skip(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _skip


def _declare_first(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Move declarations to the top: a probe may name what the statements behind it declare."""
    declarations = _Declarations()
    body = [declarations.visit(statement) for statement in copy.deepcopy(function.body)]
    first = body[:1] if ast.get_docstring(function) is not None else []
    function.body = [*first, *declarations.found, *body[len(first) :]]


class _Emitter:
    """Puts the statements of a region tree together again, with probes."""

    def __init__(self, tree: RegionTree, probes: Mapping[int, object], timed: bool) -> None:
        self.probes = probes
        self.timed = timed
        self.calls = _Calls(tree.source.namespace)

    def region(self, region: Region) -> list[ast.stmt]:
        """The statements of a region, behind its probe."""
        parts = region.parts or region.early
        if parts is None:
            original = region.statements
        else:
            original = []
            for part in parts:
                original += self.region(part) if isinstance(part, Region) else [self.native(part)]
        if region.number not in self.probes:
            return original
        if self.timed and can_be_timed(region):
            original = _timed(region, original)
        return [*_asked_first(region), _probe(region, original)]

    def native(self, native: Native) -> ast.stmt:
        """A native statement, with the probes of its blocks."""
        statement = native.statement
        if not native.blocks:
            return self.with_twins(statement)
        statement, takeover, leave = copy.copy(statement), [], []
        if native.rest is not None and native.rest.number in self.probes:
            statement, takeover, leave = self.counted(native)
        for (name, position), region in native.blocks.items():
            emitted = self.region(region)
            if name == "body":
                emitted = [*takeover, *leave, *emitted]
                if self.is_lean(native, region):
                    emitted = [_if_busy(region, emitted, [*leave, *region.statements])]
            if name != "part":
                setattr(statement, name, emitted)
                continue
            field = "cases" if isinstance(statement, ast.Match) else "handlers"
            parts = list(getattr(statement, field))
            parts[position] = copy.copy(parts[position])
            parts[position].body = emitted
            setattr(statement, field, parts)
        for header in ("test", "iter"):
            if hasattr(statement, header):
                setattr(statement, header, self.with_twins(getattr(statement, header)))
        return statement

    def is_lean(self, native: Native, region: Region) -> bool:
        """Whether a block is a loop's body, and one region that is timed."""
        is_whole = region.parts is None and region.early is None and region.number in self.probes
        is_timed = self.timed and can_be_timed(region)
        return isinstance(native.statement, ast.For | ast.While) and is_whole and is_timed

    def with_twins(self, node: Any) -> Any:
        """A statement or expression that calls what stands for the user's functions, as long as that is asked for."""
        asking = self.calls.visit(node)
        if asking is node:
            return node
        asks = ast.Attribute(ast.Constant(TWINS), "asks", ast.Load())
        made = ast.IfExp(asks, asking, node) if isinstance(node, ast.expr) else ast.If(asks, [asking], [node])
        for part in (made, asks, asks.value):
            ast.copy_location(part, node)
        return made

    def counted(self, native: Native) -> tuple[ast.stmt, list[ast.stmt], list[ast.stmt]]:
        """A loop that can be moved on, and what stands before its body: the rest of it may be taken over, or is left.

        `for i in range(n)` becomes `for i in (it := probe.iter(range(n)))`, and `while test` becomes
        `for k in (it := probe.iter(probe.forever))` with `if not test: break` before the body.
        """
        loop, stop, rest = native.statement, native.stop, native.rest
        assert rest is not None
        mark, leave = f"'{MARK}{rest.number}'", list[ast.stmt]()
        text = f"for {native.counter} in ({stop}_it := {mark}.iter({mark}.forever)):\n    pass"
        made: Any = parse(text).body[0]
        for node in walk(made):
            if hasattr(node, "lineno"):
                ast.copy_location(node, loop)
        if isinstance(loop, ast.While):
            leave.append(exit_of(loop, self.with_twins(loop.test)))
        elif isinstance(loop, ast.For):
            made.target = loop.target
            made.iter.value.args = [loop.iter]
        return made, [_takeover(native, rest)], leave


class _Calls:
    """`f(x)` becomes `twins.of(f)(x)` where `f` may be a function of the user's."""

    def __init__(self, namespace: Mapping[str, object]) -> None:
        self.namespace = namespace

    def visit(self, node: Any) -> Any:
        """A node with such calls in it; what has none stays the same object, and no node is changed."""
        if isinstance(node, SCOPES):
            return node
        new = node
        for name in node._fields:
            value = getattr(node, name, None)
            other = value
            if type(value) is list:
                items = [self.visit(item) if isinstance(item, ast.AST) else item for item in value]
                if any(item is not before for item, before in zip(items, value, strict=True)):
                    other = items
            elif isinstance(value, ast.AST):
                other = self.visit(value)
            if other is not value:
                new = copy.copy(node) if new is node else new
                setattr(new, name, other)
        if isinstance(node, ast.Call) and self._may_be_users(node.func):
            of = ast.Attribute(ast.Constant(TWINS), "of", ast.Load())
            new = copy.copy(node) if new is node else new
            twin = ast.Call(of, [new.func], [])
            for part in (of, of.value, twin):
                ast.copy_location(part, node.func)
            new.func = twin
        return new

    def _may_be_users(self, function: ast.expr) -> bool:
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return False
        if root is function and root.id not in self.namespace:
            return not hasattr(builtins, root.id)  # `super()` and `locals()` must stay what they are
        value = self.namespace.get(root.id)
        return not issubclass(type(value), types.ModuleType) or home_of(value).partition(".")[0] not in _TRUSTED


def _timed(region: Region, original: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a region, and its probe told when they begin and end."""
    mark, start = f"'{MARK}{region.number}'", f"{TEMPORARY}_start_{region.number}"
    # A debugger that a statement has started would stop in the call of `end`, and not in that of `left`, which is C.
    end_of = f"if {start}: {mark}.end({start}) if {mark}.gettrace() is None else {mark}.left({start})"
    begin, end = parse(f"{start} = {mark}.timed and {mark}.begin()\n{end_of}").body
    for node in (*walk(begin), *walk(end)):
        if hasattr(node, "lineno"):
            ast.copy_location(node, region.statements[0])
    if region.depth and not region.exits:  # what raises is not timed anyway
        return [begin, *original, end]
    return [begin, ast.copy_location(ast.Try(original, [], [], [end]), region.statements[0])]


def can_be_timed(region: Region) -> bool:
    """Whether the statements of a region can be timed."""
    return region.depth <= _TIMED_DEPTH or not region.exits


def _if_busy(region: Region, asked: list[ast.stmt], plain: list[ast.stmt]) -> ast.stmt:
    """A loop's body: with its questions, or plain as long as there is nothing to ask."""
    parsed: Any = parse(f"if '{MARK}{region.number}'.busy: pass").body[0]
    _place([parsed], region.statements[0])
    parsed.body, parsed.orelse = asked, plain
    return parsed


def _takeover(native: Native, rest: Region) -> ast.stmt:
    """What stands before the body of a loop whose rest may be taken over."""
    mark, arguments, stop = f"'{MARK}{rest.number}'", ", ".join(rest.live_in), native.stop
    begun = f"{mark}.due and ({stop} := {mark}.begin({stop}_it)) is not None"
    condition = f"if {begun} and ({TEMPORARY} := {mark}.enter({arguments})) is not None:"
    leave = [f"if {native.left}:", f"    {mark}.settle()", "    break"] if native.left else []
    return _answered(rest, condition, [*leave, f"{mark}.advance({stop}_it, {stop})", "continue"])


def _probe(region: Region, original: list[ast.stmt]) -> ast.stmt:
    mark = f"'{MARK}{region.number}'"
    arguments = ", ".join(region.live_in)
    late = f" and {mark}.filled()" if region.late else ""
    begun = TEMPORARY if region.usual else f"{mark}.on{late}"
    if region.looks_at is not None:
        begun += f" and {mark}.looks({', '.join(region.looks_at)})"
    parsed = _answered(region, f"if {begun} and ({TEMPORARY} := {mark}.enter({arguments})) is not None:")
    # After all that the plan has done, which is pure but for what stands before the call.
    parsed.body += [statement for statement in region.statements if is_callee(statement)]
    parsed.orelse = original
    return parsed


def _asked_first(region: Region) -> list[ast.stmt]:
    """What stands before the probe of a region whose live-ins may be unbound: to read one there must not raise."""
    if not region.usual:
        return []
    mark = f"'{MARK}{region.number}'"
    late = f" and {mark}.filled()" if region.late else ""
    text = (
        f"{TEMPORARY} = {mark}.on{late}\n"
        f"if {TEMPORARY}:\n"
        f"    try: {'; '.join(region.usual)}\n"
        f"    except {mark}.unbound: {TEMPORARY} = False\n"
    )
    parsed = parse(text).body
    _place(parsed, region.statements[0])
    return parsed


def _answered(region: Region, condition: str, then: Sequence[str] = ()) -> Any:
    """An `if` around what is done with a plan's answer, and `then` after it."""
    mark = f"'{MARK}{region.number}'"
    lines = [condition]
    kinds = {type(node) for s in region.statements for node in leaving(s)}
    if ast.Return in kinds:
        lines.append(f"    if {TEMPORARY}[0] == {RETURN}:")
        for number, name in enumerate(region.live_return, 2):
            lines.append(f"        if {TEMPORARY}[{number}] is not {mark}.unset: {name} = {TEMPORARY}[{number}]")
        lines += [f"        {name} = None" for name in region.dropped]
        # An asynchronous generator takes no other one.
        bare = all(node.value is None for s in region.statements for node in leaving(s) if isinstance(node, ast.Return))
        lines.append("        return" if bare else f"        return {TEMPORARY}[1]")
    for number, name in enumerate(region.live_out, 1):
        guard = "" if name in region.certain else f"if {TEMPORARY}[{number}] is not {mark}.unset: "
        lines.append(f"    {guard}{name} = {TEMPORARY}[{number}]")
    for kind, code, word in ((ast.Break, BREAK, "break"), (ast.Continue, CONTINUE, "continue")):
        if kind in kinds:
            lines += [f"    if {TEMPORARY}[0] == {code}:", f"        {TEMPORARY} = None", f"        {word}"]
    lines += [f"    {name} = None" for name in region.dropped]
    lines.append(f"    {TEMPORARY} = None")  # or the results would live as long as the frame
    lines += [f"    {line}" for line in then]
    if ast.Break in kinds or ast.Continue in kinds or then:
        text = "while 1:\n" + "\n".join("    " + line for line in lines)
        parsed = parse(text).body[0].body[0]  # type: ignore[attr-defined] -- our own text
    elif ast.Return in kinds:
        text = "def f():\n" + "\n".join("    " + line for line in lines)
        parsed = parse(text).body[0].body[0]  # type: ignore[attr-defined] -- our own text
    else:
        parsed = parse("\n".join(lines)).body[0]
    _place([parsed], region.statements[0])
    return parsed


def _place(statements: Sequence[ast.AST], first: ast.stmt) -> None:
    """Give statements of ours the place where one of the user's begins."""
    for statement in statements:
        for node in walk(statement):
            if hasattr(node, "lineno"):
                ast.copy_location(node, first)
                # The checker cannot know: a statement.
                node.end_lineno, node.end_col_offset = first.lineno, first.col_offset  # type: ignore[attr-defined]
