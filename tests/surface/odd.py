"""Sample calls with odd arguments: one or two of a call's arguments replaced, left out, or added by name."""

from __future__ import annotations

import ast
import inspect
import re
import signal
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

import autojit as aj
from tests.exact_judge import same_bits
from tests.helpers import Outcome, outcome
from tests.surface.observe import _generators_opened, compare, program, text_of
from tests.surface.samples import SAMPLES

#: What an argument is replaced by. The letters are those of `values.py`.
ODD = """
None True False 0 1 -1 2 -2 3 7 1.0 2.5 -0.0 1j 300 'x' 'F' [0] (0,) (1,0) (0,1) [-1] () [] [[1]] [1.5,2] [300,1]
np.int64(1) np.uint8(2) np.float64(0.5) np.float32(2) np.bool_(True) np.array(1) np.array([1]) np.nan np.inf
a a.T a[:,:0] a[0] a[::-1] b[:,None] c d e e[:0] g h i i[:3] j k m o p q q[0] t v w x z v[:1] w[:3] m[0] n
np.int8 'f2' bool float np.complex64 slice(None) np.add int
""".split()
_LONGEST = 20


class Slow(BaseException):
    """A call took too long."""


def _too_slow(*_: object) -> None:
    raise Slow


def variations(seed: int) -> Iterator[tuple[str, str]]:
    """Names and changed samples, without end."""
    random = Random(seed)
    # Random numbers have tests of their own, and `as_strided` reads whatever memory it is told to.
    names = [name for name, samples in SAMPLES.items() if samples and not name.endswith("as_strided")]
    names = [name for name in names if "random" not in name]
    while True:
        name = random.choice(names)
        changed = changed_sample(random, name, random.choice(SAMPLES[name]))
        if changed is not None:
            yield name, changed


def changed_sample(random: Random, name: str, sample: str) -> str | None:
    """A sample with other arguments; `None` when it has no call at its end."""
    *before, last = text_of(name, sample).split("; ")
    tree = ast.parse(last, mode="eval")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if not calls:
        return None
    call = calls[0]
    for _ in range(random.choice([1, 1, 1, 2])):
        _change(random, call)
    text = ast.unparse(tree)
    if "out=" in text and ("accumulate" in text or "cum" in text):
        return None  # NumPy 2.4 crashes for some
    return "; ".join([*before, text])


def _change(random: Random, call: ast.Call) -> None:
    new = ast.parse(random.choice(ODD), mode="eval").body
    what = random.random()
    if what < 0.15 and len(call.args) + len(call.keywords) > 1:
        del (random.choice([part for part in (call.args, call.keywords) if part]))[-1]
    elif what < 0.4 and (names := _parameters(call)):
        call.keywords = [*call.keywords, ast.keyword(random.choice(names), new)]
    elif what < 0.5:
        call.args.append(new)
    elif call.keywords and random.random() < 0.4:
        random.choice(call.keywords).value = new
    elif call.args:
        call.args[random.randrange(len(call.args))] = new


def _parameters(call: ast.Call) -> list[str]:
    """The names of parameters that a call does not give."""
    common = ["axis", "dtype", "out", "keepdims", "order", "where", "casting"]
    try:
        signature = inspect.signature(eval(ast.unparse(call.func), {"np": np}))
        common += [name for name in signature.parameters if name.isidentifier()] * 2
    except (NameError, AttributeError, TypeError, ValueError):
        pass
    given = {keyword.arg for keyword in call.keywords} | {"args", "kwargs"}
    found = re.fullmatch(r"np\.(\w+)(\.outer|\.accumulate)?", ast.unparse(call.func))
    if found and isinstance(getattr(np, found[1], None), np.ufunc):
        given.add("where")  # without `out=` the other elements are whatever lies in memory
    return [name for name in common if name not in given]


def difference(name: str, sample: str) -> str | None:
    """What differs from NumPy in two calls; "" when nothing, `None` where NumPy tells nothing."""
    plain, args = program("", sample)
    signal.signal(signal.SIGALRM, _too_slow)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own warnings are not what is judged
        signal.alarm(_LONGEST)
        try:
            expected, again = (_generators_opened(outcome(plain, args, {})) for _ in range(2))
            if not _is_same(again, expected, args):
                return None  # whatever lay in memory
            warnings.filterwarnings("error", category=aj.AutojitWarning)
            fast: Any = aj.autocluster(policy="eager")(plain)
            for turn in ("cold", "warm"):
                try:
                    got = _generators_opened(outcome(fast, args, {}))
                    if _same_message(got.error, expected.error):
                        same_bits(got.arguments, expected.arguments, "arguments")
                        continue
                    compare(got, expected, name if sample.startswith(f"{name}(") else "", args)
                except Slow:
                    return f"{turn}: takes more than {_LONGEST} s together with NumPy"
                except Exception as error:
                    return f"{turn}: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        except Slow:
            return None
        finally:
            signal.alarm(0)
    return ""


def _is_same(one: Outcome, other: Outcome, args: tuple[Any, ...]) -> bool:
    try:
        compare(one, other, "", args)
    except AssertionError:
        return False
    return True


def _same_message(one: BaseException | None, other: BaseException | None) -> bool:
    """Whether two exceptions say the same; CPython names the class of a method in some calls."""
    return one is not None and type(one) is type(other) and str(one) == str(other).replace("ndarray.", "")


def run(seed: int, count: int) -> int:
    """Judge changed samples and print those that differ; how many did.

    Raises:
        AssertionError: Of too many nothing can be said.
    """
    found: dict[str, str] = {}
    asked = untold = 0
    for name, sample in variations(seed):
        if asked >= count:
            break
        asked += 1
        text = difference(name, sample)
        untold += text is None
        if text and sample not in found:
            found[sample] = text
            print(f"{sample}\n    {text}", flush=True)
    print(f"{asked} calls from seed {seed}, {len(found)} differ")
    assert untold <= max(asked / 10, 10), f"nothing can be said of {untold} calls"
    return len(found)
