"""The stages of compiler IR: types, contents, the user's lines."""

import re
import sys

import jax.numpy as jnp
import numpy as np
import pytest

from autojit.compile.executable import Executable
from autojit.errors import AutojitError, SourceLine
from autojit.explain.assembly import assembly
from autojit.explain.compiler_ir import PRINTERS, compiler_ir
from autojit.explain.cost import cost_of
from autojit.explain.roofline import machine
from autojit.ir.graph import Graph, Node, Value
from autojit.ir.spec import Spec, spec_of
from autojit.ops.families import elementwise

MULTIPLY, ADD = elementwise(np.multiply, jnp.multiply), elementwise(np.add, jnp.add)
FILE, HELPERS = "/home/user/program.py", "/home/user/helpers.py"


@pytest.fixture(scope="module")
def executable():
    a = Value("velocity", Spec((300,), np.dtype(np.float64)))
    s = Value("step", spec_of(1.0))
    x, y = Value("x", a.spec), Value("y", a.spec)
    nodes = (
        Node(MULTIPLY, (a, s), (), (x,), SourceLine(FILE, 17, "Model.advance")),
        Node(ADD, (x, a), (), (y,), SourceLine(HELPERS, 4, "shift")),
    )
    return Executable(Graph("cluster_7", (a, s), nodes, (y,)))


def locations(text):
    """The (file, function, line) triples of the stack frame tables of an HLO text."""
    tables = {}
    for title in ("FileNames", "FunctionNames", "FileLocations"):
        body = re.search(rf"\n{title}\n((?:\d+ .*\n)*)", text)
        tables[title] = dict(row.split(" ", 1) for row in body[1].splitlines())
    found = set()
    for row in tables["FileLocations"].values():
        file, function, line = (
            re.search(rf"{key}=(\d+)", row)[1] for key in ("file_name_id", "function_name_id", "[{ ]line")
        )
        found.add((tables["FileNames"][file].strip('"'), tables["FunctionNames"][function].strip('"'), int(line)))
    return found


def test_types(executable):
    assert len(PRINTERS) == 12
    for stage in PRINTERS:
        text = compiler_ir(executable, stage)
        assert isinstance(text, bytes if stage.endswith("serialized") else str) and text


def test_wrong_stage(executable):
    with pytest.raises(ValueError, match="no stage `hlo2`") as error:
        compiler_ir(executable, "hlo2")
    assert all(f"`{stage}`" in str(error.value) for stage in PRINTERS)


@pytest.mark.parametrize("stage", ["hlo", "optimized_hlo"])
def test_the_users_lines_and_no_others(executable, stage):
    text = compiler_ir(executable, stage)
    assert text.startswith("HloModule jit_cluster_7")
    assert locations(text) == {(FILE, "Model.advance", 17), (HELPERS, "shift", 4)}
    assert "velocity" in text


def test_stablehlo_has_the_users_lines(executable):
    text = compiler_ir(executable, "stablehlo")
    assert "module @jit_cluster_7" in text
    assert f'"{FILE}":17' in text and f'"{HELPERS}":4' in text and "Model.advance" in text
    assert __file__ not in text and "autojit" not in text


def test_no_metadata(executable):
    text = compiler_ir(executable, "hlo_no_metadata")
    assert "metadata=" not in text and FILE not in text and "multiply" in text


def test_serialized(executable):
    assert compiler_ir(executable, "stablehlo_serialized").startswith(b"ML\xefR")
    module = compiler_ir(executable, "optimized_hlo_serialized")
    proto = compiler_ir(executable, "optimized_hlo_proto_serialized")
    assert proto.endswith(module) and proto[0] == 0x0A and len(module) < len(proto) <= len(module) + 6
    assert b"jit_cluster_7" in compiler_ir(executable, "hlo_serialized")[:100]


def test_dot(executable):
    assert compiler_ir(executable, "optimized_hlo_dot").lstrip().startswith("digraph")


def test_nothing_is_compiled_again(executable, monkeypatch):
    machine()  # "cost" compares with it, and measures it once in a process with a program of its own
    monkeypatch.setattr("jax._src.compiler.backend_compile_and_load", None)
    for stage in {*PRINTERS} - {"llvm_ir"}:  # of which XLA keeps nothing
        compiler_ir(executable, stage)


def test_llvm_ir_and_assembly_are_of_the_same_kernels(executable):
    text, code = compiler_ir(executable, "llvm_ir"), compiler_ir(executable, "asm")
    kernels = set(re.findall(r"^define .*@([\w.]+)\(", text, re.MULTILINE))
    assert kernels and {line[:-1] for line in code.splitlines() if line.endswith(":")} == kernels
    assert "fmul" in text and re.search(r"\bv?mulp|\bvfn?m(add|sub)|\bfm(ul|la)\b", code)


def test_assembly_of_a_function_that_calls_and_reads_constants():
    a = Value("a", Spec((300, 300), np.dtype(np.float64)))
    x = Value("x", a.spec)
    tanh = elementwise(np.tanh, jnp.tanh)
    executable = Executable(Graph("cluster_0", (a,), (Node(tanh, (a,), (), (x,), None),), (x,)))
    assert re.search(r"# \.rodata", compiler_ir(executable, "asm"))


def test_assembly_without_what_reads_it(executable, monkeypatch):
    monkeypatch.setitem(sys.modules, "capstone", None)
    with pytest.raises(AutojitError, match=r"capstone.*pip install autojit\[inspect\]"):
        compiler_ir(executable, "asm")


def test_assembly_of_what_is_no_code():
    with pytest.raises(AutojitError, match="no object file"):
        assembly(b"nothing")


def test_cost(executable):
    cost = cost_of(executable)
    assert 600 <= cost.flops <= 1000 and cost.transcendentals == 0
    assert cost.arguments >= 300 * 8 and cost.results == 300 * 8 and cost.code > 1000
    assert cost.machine.flops > 1e8 and cost.machine.bandwidth > 1e8 and cost.machine is machine()
    assert cost.intensity < cost.machine.balance and cost.seconds > 0
    assert "bound by     memory" in str(cost) and str(cost) == compiler_ir(executable, "cost")
    assert cost.to_dict()["machine"]["flops"] == cost.machine.flops
