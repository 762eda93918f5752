"""What the text of a region promises: how much of it XLA would fuse, if nothing else takes its time."""

from __future__ import annotations

import ast
import builtins
import math
import types
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autojit.ir.syntax import SCOPES, walk
from autojit.ops.trust import home_of, names_of

#: Calls inside calls that are followed.
_DEEPEST = 3
#: Functions of NumPy's besides the ufuncs that are one pass over their arrays, or a part of one.
_FUNCTIONS = frozenset(
    "abs all amax amin any arange array asarray atleast_1d atleast_2d average broadcast_to clip column_stack "
    "concatenate copy count_nonzero cross diag diagonal diff dstack einsum empty empty_like expand_dims eye "
    "fill_diagonal flip full full_like gradient heaviside hstack imag isclose iscomplex isreal linspace max mean "
    "meshgrid min moveaxis nan_to_num nanmax nanmean nanmin nansum ones ones_like outer pad polyval prod ptp ravel "
    "real repeat reshape roll round sinc squeeze stack std sum swapaxes take tile trace transpose tril triu var "
    "vstack where zeros zeros_like".split()
)
#: ... and those that take no time.
_QUESTIONS = frozenset("dtype finfo iinfo isscalar ndim result_type shape size".split())
#: Methods of arrays and ufuncs that are.
_METHODS = frozenset(
    "all any astype clip conj copy fill max mean min outer prod ravel reduce repeat reshape round squeeze std sum "
    "swapaxes take transpose trace var".split()
)
#: ... and methods of these, and of random generators, that take long.
_SLOW = frozenset(
    "accumulate argmax argmin argpartition argsort at beta binomial choice choose cumprod cumsum dot exponential gamma "
    "integers lognormal multivariate_normal normal partition permutation permuted poisson rand randint randn random "
    "reduceat searchsorted shuffle sort standard_exponential standard_gamma standard_normal tobytes tofile tolist "
    "uniform".split()
)
#: Draws, and where among their arguments the shape of the result stands.
_DRAWS = {
    "choice": 1, "exponential": 1, "gamma": 2, "integers": 2, "normal": 2, "poisson": 1, "randint": 2, "random": 0,
    "standard_normal": 0, "uniform": 2,
}  # fmt: skip
#: A draw of no more numbers takes no time.
_FEW = 16
#: Builtins that take no time.
_BUILTINS = frozenset(
    "abs bool complex divmod enumerate float getattr hasattr int isinstance len max min range reversed round slice sum "
    "tuple type zip".split()
)
#: Packages of whose other functions nobody knows that they are short.
_PACKAGES = ("numpy", "scipy")

_Function = tuple[Sequence[ast.stmt], Mapping[str, object]]


def fusable(
    statements: Sequence[ast.stmt], namespace: Mapping[str, object], callees: Mapping[str, Sequence[_Function]]
) -> int | None:
    """How many operations on arrays stand in some statements and in the functions that they call.

    It is a guess: what is a number may be taken for an array, and functions of which nothing is known for short ones.

    Args:
        statements: The statements.
        namespace: The globals of their function.
        callees: The statements and globals of functions of the user's, by name: of all methods with that name, since
            nobody knows whose is called.

    Returns:
        How many; `None` where something is called that may take most of the time and is no such operation, such as a
        matrix product, a sort or random numbers.
    """
    return _Counter(callees, None).count(statements, namespace, _DEEPEST)


def operations(
    statements: Sequence[ast.stmt], namespace: Mapping[str, object], callees: Mapping[str, Sequence[_Function]]
) -> int | None:
    """The same with operations of all kinds, such as a matrix product: how many there are where all arrays are small.

    Args:
        statements: As `fusable` has it.
        namespace: As above.
        callees: As above.

    Returns:
        How many; `None` where something else is called, such as `print`.
    """
    return _Counter(callees, 1).count(statements, namespace, _DEEPEST)


class _Counter:
    """Counts operations, those of a function once.

    Args:
        callees: As `fusable` has it.
        slow: What an operation counts that is more than a pass over its arrays.
    """

    def __init__(self, callees: Mapping[str, Sequence[_Function]], slow: int | None) -> None:
        self.callees = callees
        self.slow = slow
        self._known: dict[tuple[str, int], int | None] = {}

    def count(self, statements: Sequence[ast.stmt], namespace: Mapping[str, object], deepest: int) -> int | None:
        """As `fusable`; so many calls inside each other are followed."""
        found = 0
        for statement in statements:
            if isinstance(statement, SCOPES):
                continue
            for node in walk(statement, into_scopes=False):
                count: int | None = 0
                if isinstance(node, ast.BinOp | ast.AugAssign):
                    count = self.slow if isinstance(node.op, ast.MatMult) else 1
                elif isinstance(node, ast.Compare | ast.UnaryOp):
                    count = 1
                elif isinstance(node, ast.Call):
                    count = 0 if _is_short_draw(node, namespace) else self._of_call(node.func, namespace, deepest)
                if count is None:
                    return None
                found += count
        return found

    def _of_call(self, function: ast.expr, namespace: Mapping[str, object], deepest: int) -> int | None:
        """The operations of a call; `None` if it is something else."""
        if isinstance(function, ast.Name):
            name = function.id
            value: Any = namespace.get(name, vars(builtins).get(name))
        elif isinstance(function, ast.Attribute):
            name, value = function.attr, _of_module(function, namespace)
        else:
            return 0
        kind = type(value)  # `isinstance` asks what is no such object for its `__class__`, which may run code
        if issubclass(kind, np.ufunc):
            return 1
        if value is not None and value is vars(np).get(name):
            is_short = name in _QUESTIONS or issubclass(kind, type)
            return 1 if name in _FUNCTIONS else 0 if is_short else self.slow
        if value is np.linalg.norm:
            return 1
        if value is not None and value is vars(builtins).get(name):
            return 0 if name in _BUILTINS else None
        if value is not None and value is vars(math).get(name):
            return 0
        name = value.__name__ if issubclass(kind, types.FunctionType) else name
        if name in self.callees:
            return self._of_callee(name, deepest)
        if value is None and isinstance(function, ast.Attribute):
            return self.slow if name in _SLOW else int(name in _METHODS)
        if value is None:
            return 0
        # `np.random.rand` is a method of an object of NumPy's; the program's own objects are asked for nothing.
        owner = value.__self__ if kind in (types.MethodType, types.BuiltinMethodType) else value
        package = home_of(owner).partition(".")[0]
        if package == "numpy":
            return self.slow
        return 0 if issubclass(kind, types.FunctionType) and package not in _PACKAGES else None

    def _of_callee(self, name: str, deepest: int) -> int | None:
        if not deepest:
            return 0
        key = name, deepest
        if key not in self._known:
            self._known[key] = 0  # while it is looked into
            counts = [self.count(*function, deepest - 1) for function in self.callees[name]]
            known = [count for count in counts if count is not None]
            self._known[key] = max(known, default=0) if len(known) == len(counts) else None
        return self._known[key]


def _is_short_draw(call: ast.Call, namespace: Mapping[str, object]) -> bool:
    """Whether a call is one like `rng.uniform(0, 1)` or `rng.uniform(low, high, 2)`: a few random numbers."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name not in _DRAWS or any(isinstance(arg, ast.Starred) for arg in call.args):
        return False
    place, keywords = _DRAWS[name], {keyword.arg: keyword.value for keyword in call.keywords}
    size = call.args[place] if len(call.args) > place else keywords.get("size")
    if size is None:  # the other arguments may be arrays
        return all(_is_number(value, namespace) for value in (*call.args, *keywords.values()))
    return isinstance(size, ast.Constant) and isinstance(size.value, int) and size.value <= _FEW


def _is_number(node: ast.expr, namespace: Mapping[str, object]) -> bool:
    """Whether an expression is made of constants alone, `np.pi` among them."""
    if isinstance(node, ast.BinOp):
        return _is_number(node.left, namespace) and _is_number(node.right, namespace)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand, namespace)
    if isinstance(node, ast.Attribute):
        return isinstance(_of_module(node, namespace), float)
    return isinstance(node, ast.Constant)


def _of_module(attribute: ast.Attribute, namespace: Mapping[str, object]) -> Any:
    """What `np.linalg.norm` is; `None` where one of the names before the last is no module's."""
    names, root = [attribute.attr], attribute.value
    while isinstance(root, ast.Attribute):
        names.append(root.attr)
        root = root.value
    value: Any = namespace.get(root.id) if isinstance(root, ast.Name) else None
    for name in reversed(names):
        value = names_of(value).get(name) if issubclass(type(value), types.ModuleType) else None
    return value
