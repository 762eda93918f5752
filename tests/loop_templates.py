"""What random loop programs are made of.

Tokens stand for random parts: `<e>` an element, `<v>` an array, `<p>` a part of an array, `<m>` a mask, all arrays of a
template of one length; `<i>` an index, `<n>` an integer, `<c>` a condition, `<o>` a comparison, `<d>` a digit; `<V>`,
`<S>`, `<C>`, `<l>` names of vectors, scalars, counters and loop variables. `<p1>` is the same part wherever it stands.
"""

MODULE = """
import numpy as np

def clipped(x, low, high):
    if x < low:
        return low
    return high if x > high else x

def spread(x):
    return x.max() - x.min() if len(x) else 0.0

def add_to(x, i, amount):
    x[i] += amount
    return x

LIMIT = 5
"""

INTEGERS = (
    "<n> + <n>", "<n> - <n>", "(<n>) * <d>", "min(<n>, <n>)", "max(<n>, <n>)", "abs(<n>)", "(<n>) // 2", "(<n>) // 3",
    "(<n>) % 3", "(<n>) % 4", "(<n> if <c> else <n>)", "(<n>) & 3", "(<n>) >> 1", "(<n>) ^ 1", "int(<e>)", "int(<c>)",
)  # fmt: skip

MOVING_INDICES = (
    "<l>", "<l>", "<l>", "<l>", "<l> - 1", "-<l>", "(<l> + 1) % len(a)", "<l> // 2", "-1 - <l>", "<l> + 1", "<l> - <l>",
)  # fmt: skip
INDICES = (
    "0", "-1", "1", "k", "n - 1", "(<n>) % len(a)", "(<n>) % len(a)", "int(<e>) % len(a)", "<V>.argmax()", "np.argmin(<V>)",
)  # fmt: skip

SLICES = (
    (":",), (":",), ("::-1", ":"), ("1:-1", "2:", ":-2"), ("1:", ":-1"), ("::2",), ("k:",), (":n",), (":2", "-2:"), ("::3",),
)  # fmt: skip
#: Slices that move or grow with a loop; those of one row have the same length.
MOVING_SLICES = (
    (":<l>",), ("<l>:",), ("<l> + 1:",), (":<l> + 1",), ("<l>::-1", ":<l> + 1"), ("<k>:<l>",), ("<l>:<l> + 2", "<k>:<k> + 2"),
    ("<l>:<l> + 3",), ("<l> - 1:<l> + 2",), ("<l>::2",), (":<l>:2",), (":<l>", "len(a) - <l>:"), ("<l>:n",), ("<l>:-1",),
    (":-<l>",), ("max(<l> - 1, 0):<l> + 2",), ("<l> - 2:<l>",), (":<l>", ":<l>"), ("<l> + 1:", "<l> + 1:"), (":",), ("1:", ":-1"),
)  # fmt: skip

VECTORS = (
    "<v> + <v>", "<v> - <v>", "<v> + <e>", "<e> - <v>", "(<v>) * 2", "-<p>", "np.maximum(<v>, <v>)", "np.minimum(<v>, <e>)",
    "np.abs(<v>)", "(<v>) % 3", "(<v>) % 7", "np.where(<m>, <v>, <v>)", "np.where(<m>, <v>, <e>)", "(<v>) * (<v>) % 5",
    "(<v>) * 0.5", "(<v>) // 2", "(<v>)[::-1]", "np.clip(<v>, -4, 5)", "(<m>) * <p>", "np.sign(<v>)", "(<v>).copy()",
    "np.where(<c>, <v>, <v>)", "(<v> if <c> else <v>)",
)  # fmt: skip
WHOLE_VECTORS = (
    "np.roll(<v>, <n>)", "np.cumsum(<v>) % 9", "A.sum(axis=0) % 9", "A.max(axis=1)", "A @ <V> % 7", "np.arange(len(a))",
    "np.sort(<v>)", "np.diag(A)", "np.concatenate([a[1:], a[:1]])", "A[<i>]", "A[:, <i>]",
)  # fmt: skip
#: What a new name may stand for; the last few share memory with what is there.
ARRAYS = (
    "<V>.copy()", "np.zeros(len(a))", "np.zeros_like(<V>)", "<v>", "<V> + <e>", "np.full(len(a), 2)", "np.ones(len(a), int)",
    "<V>", "A[<i>]", "<V>[::-1]", "A[:, <i>]",
)  # fmt: skip

MASKS = (
    "<p> <o> <p>", "<p> <o> <e>", "<p> <o> <e>", "(<p> <o> <e>) & (<p> > <d>)", "(<p> <o> <p>) | (<p> < <d>)", "~(<p> <o> <e>)",
)  # fmt: skip

ELEMENTS = (
    "(<e> + <e>)", "(<e> - <e>)", "(<e>) * -1", "(<e>) * 2", "(<e>) * 0.5", "(<e>) * (<e>) % 7", "(<e>) % 3", "(<e>) % 5",
    "(<e>) // 2", "abs(<e>)", "min(<e>, <e>)", "max(<e>, <e>)", "(<e> if <c> else <e>)", "np.maximum(<e>, <e>)", "(<v>).sum()",
    "np.sum(<v>)", "(<v>).max()", "np.min(<v>)", "np.dot(<p>, <p>)", "<p> @ <p>", "(<m>).sum()", "np.count_nonzero(<m>)",
    "int(<e>)", "float(<e>)", "np.abs(<e>)", "round(<e>)", "<V>[<i>]", "A[<i>, <i>]", "clipped(<e>, -3, 4)", "spread(<v>)",
    "(<e> and <e>)", "(<e> or <e>)", "sum(<V>)", "-(<e>)", "len(<p>)", "(<p> * <p>).sum()", "<p>[<m>].sum()", "max(<V>)",
    "A[<i>].sum()", "A[:, <i>].max()", "A.sum()", "bool(<e>)", "(<v>)[0]", "np.where(<c>, <e>, <e>)", "(not <e>)",
)  # fmt: skip

INTEGER_CONDITIONS = (
    "<n> <o> <n>", "(<n>) % 2 == 0", "(<n>) % 2 == 1", "<n> in (1, 3)", "<n>", "0 <= <n> < n", "not <n>", "<l> == <l>", "<l> <o> k",
)  # fmt: skip
CONDITIONS = (
    "<c> and <c>", "<c> or <c>", "not <c>", "-2 < <e> <= 3", "<e> <= <e> < <e>", "(<m>).any()", "np.all(<m>)", "<e>", "np.isnan(<e>)",
    "np.array_equal(<v>, <v>)", "(<c> and <c>) or <c>", "np.any(<v>)", "any(<m>)", "<c> if <c> else <c>",
)  # fmt: skip

_STORES = (
    "<V>[<i>] = <e>", "<V>[<i>] = <e>", "<V>[<i>] += <e>", "<V>[<i>] -= <e>", "A[<i>, <i>] = <e>", "A[<i>, <i>] += <e>",
    "A[<i>][<i>] -= <e>", "<V>[<l>] = <e>", "<V>[<l>] += <e>", "A[<l>, <l>] = <e>",
)  # fmt: skip
_PART_STORES = (
    "<p1>[:] = <v>", "<p1>[...] = <v>", "<p1>[:] = <e>", "<p1>[:] += <v>", "<p1>[:] -= <v>", "A[<l>] = <V>", "A[:, <l>] += <V>",
    "<V>[:] = <V>", "A[<i>] += <e>", "A[...] = A.T", "A[<l>:, <l>:] += 1", "A[:<l>] = A[<i>]", "A += <e>",
)  # fmt: skip
_MASKED = (
    "<p1>[<m1>] = <e>", "<p1>[<m>] += <e>", "<p1>[<m1>] = <p1>[<m1>] + 1", "<p1>[<m1>] = <p>[<m1>]", "<p1>[<m>] *= -1",
    "m = <m>\n<p1>[m] = <e>", "m = <m>\n<p1>[m] -= <p>[m]", "m = <m>\n<p1>[~m] = 0\n<p1>[m] += <S>", "A[A > <e>] = <d>",
    "A[<l>, A[<l>] < 0] = <e>",
)  # fmt: skip
_SCALARS = (
    "<S> = <e>", "<S> += <e>", "<S> += <e>", "<S> -= <e>", "<S1> = max(<S1>, <e>)", "<S1> = min(<e>, <S1>)", "<S>, <S> = <e>, <e>",
)  # fmt: skip
_COUNTERS = ("<C> += 1", "<C> -= 1", "<C> = (<n>) % 50", "<C> += <l>", "<C> += <c>")
_SWAPS = (
    "<V1>, <V2> = <V2>, <V1>", "<V1>, <V2> = <V2>, <V1>", "<V1>[<i1>], <V1>[<i2>] = <V1>[<i2>], <V1>[<i1>]", "<S1>, <S2> = <S2>, <S1>",
    "A[[<i1>, <i2>]] = A[[<i2>, <i1>]]", "A[<i1>], A[<i2>] = A[<i2>].copy(), A[<i1>].copy()", "<V1>, <V2>, <V3> = <V3>, <V1>, <V2>",
)  # fmt: skip
_EFFECTS = (
    "log.append(<e>)",
    "log.append((<n>, <e>))",
    "print(<n>)",
    "print(<e>)",
    "add_to(<V>, <i>, <e>)",
    "<V> = add_to(<V>, <l>, 1)",
)
#: Groups that are as likely as each other. Effects are rare: they leave a loop to Python.
STATEMENTS = 2 * (*3 * (_STORES, _PART_STORES, _SCALARS), *2 * (_MASKED, _SWAPS), _COUNTERS) + (_EFFECTS,)

LEAVES = ("break", "break", "continue", "continue", "return <l>, <e>")

RANGES = (
    "n", "n", "n", "len(a)", "1, n", "1, n - 1", "n - 1, -1, -1", "n - 1, 0, -2", "0, n, 2", "k, n", "-k, k", "n, k, -1", "len(A)",
    "<l>", "<l> + 1", "<l> + 1, n", "<l>, n", "<l>, -1, -1", "n - <l>", "3", "0", "<n>", "min(<l>, 3)", "<l>, n, k + 1", "n - 2, -1, -1",
    "<l>, <l> + 3", "k, n, -1", "1, len(a)", "A.shape[1]", "n // 2", "<l>, 0, -1", "n - 1, <l>, -1",
)  # fmt: skip
#: First value, condition and step of a counter `<w>`; `<t>` is its limit, `<m>` one more condition.
WHILES = (
    ("0", "<w> < <t>", "<w> += 1"), ("<t>", "<w> > 0", "<w> -= 1"), ("0", "<w> < <t> and <m>", "<w> += 1"),
    ("0", "<m> and <w> < <t>", "<w> += 1"), ("<t>", "<w>", "<w> -= 1"), ("<t>", "<w>", "<w> //= 2"), ("0", "True", "<w> += 1"),
    ("0", "not (<w> >= <t> or <m>)", "<w> += 1"),
)  # fmt: skip
