"""XLA:CPU: the one file that touches what jax does not publish.

autojit has a CPU client of its own, created with synchronous dispatch: handing a program to a thread of the client and
waiting for it costs 5 to 50 us a call, and the caller waits in any case. The user's own jax settings (number of
devices, default device, 64-bit types) neither change it nor are changed.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from autojit.compile.stored import Stored
from autojit.errors import SourceLine, comes_from_a_signal
from autojit.jax_names import POSTPONED, jax, named
from autojit.lowering.segments import segmented
from autojit.lowering.source import call_from
from autojit.threads import without_signals

# As jax does, or XLA tells of devices on stderr. Launched programs find nothing of that in their environment later.
if _is_quieted := POSTPONED and "TF_CPP_MIN_LOG_LEVEL" not in os.environ:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"

import ml_dtypes  # noqa: F401 -- jaxlib does when the first array is made, when one may lie beside the script
from jaxlib import _hlo, _jax, lapack, xla_client  # type: ignore[attr-defined] -- no stubs
from jaxlib._jax import JaxRuntimeError
from jaxlib.mlir import ir

compiler, config, mlir = map(named, ("jax._src.compiler", "jax._src.config", "jax._src.interpreters.mlir"))
source_info_util = named("jax._src.source_info_util")

#: The name in a program's options under which a map of further options of the CPU compiler stands.
EXTRA = "xla_backend_extra_options"
#: The option with the names of passes that are left out, with commas between them.
_PASSES = "xla_disable_hlo_passes"
#: The pass that writes a long reduction as a tree of shorter ones.
TREES = "tree_reduction_rewriter"

# Reentrant: a signal handler or finalizer may ask for the device while the same thread makes it. The first stays.
_LOCK = threading.RLock()
_devices: list[Any] = []


def device() -> Any:
    """The device of autojit's own CPU client."""
    if not _devices:
        with _LOCK:
            if not _devices:
                try:
                    with without_signals():
                        _devices.append(xla_client.make_cpu_client(asynchronous=False).local_devices()[0])
                finally:
                    if _is_quieted:
                        os.environ.pop("TF_CPP_MIN_LOG_LEVEL", None)
    return _devices[0]


def is_started() -> bool:
    """Whether XLA's threads may be running."""
    return bool(_devices)


def hold() -> None:
    """Never end the client, as a forked process must not: it would wait for threads that only its parent has."""
    for each in _devices:
        for held in (each, each.client):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))


@functools.cache
def _name_lines() -> None:
    """The innermost frame outside of jax and of this package is the user's line."""
    source_info_util.register_exclusion(str(Path(__file__).parents[1]) + "/")


@contextmanager
def neutral_settings() -> Iterator[None]:
    """Trace and compile under jax's defaults and 64-bit types, whatever the user has set. Thread-local."""
    _name_lines()
    with ExitStack() as stack:
        for setting in (
            jax.enable_x64(True),
            jax.default_device(device()),
            jax.disable_jit(False),
            jax.numpy_dtype_promotion("standard"),
            jax.numpy_rank_promotion("allow"),
            jax.default_matmul_precision(None),
            jax.transfer_guard("allow"),
            jax.debug_nans(False),
            jax.debug_infs(False),
            config.traceback_in_locations_limit(1),
            config.exec_time_optimization_effort(0.0),
            config.memory_fitting_effort(0.0),
            config.optimization_level("UNKNOWN"),
            config.memory_fitting_level("O2"),
            config.enable_remat_opt_pass(True),
        ):
            stack.enter_context(setting)
        yield


class Program:
    """A compiled XLA program.

    Args:
        function: Takes one jax value per parameter and returns a list of jax values. Its name is the program's.
        parameters: Shape and dtype of each parameter.
        memory: Shape and dtype of the outputs that are written into memory that the caller hands over.
        options: XLA's compiler options.
        source: The user's line, which jax records.
        stored: The program as another process has compiled it: nothing is traced or compiled.
        is_new: Whether `stored` was made for this process and is not yet stored anywhere.

    Attributes:
        outputs: Shape, dtype and size in bytes of each output.
        is_deserialized: Whether another process has compiled it.

    Raises:
        JaxRuntimeError: XLA cannot compile the program, or not load the stored one.
    """

    def __init__(
        self,
        function: Callable[..., Sequence[Any]],
        parameters: Sequence[tuple[tuple[int, ...], np.dtype]],
        memory: Sequence[tuple[tuple[int, ...], np.dtype]] = (),
        options: Mapping[str, Any] | None = None,
        source: SourceLine | None = None,
        stored: Stored | None = None,
        is_new: bool = False,
    ) -> None:
        self._function = _with_memory(function, len(memory)) if memory else function
        self._arguments = (*parameters, *memory)
        self._donated = tuple(range(len(parameters), len(self._arguments)))
        self._source = source
        self.is_deserialized = stored is not None
        self._new = stored if is_new else None
        self._lowered: Any = None
        self._nbytes: int | None = None
        if stored is not None:
            self._loaded = _load(stored.code)
            if not is_new:
                self._nbytes = len(stored.code)
            self.outputs = stored.outputs
        else:
            self._loaded = self._compile(options or {})
            self.outputs = tuple(
                (tuple(aval.shape), np.dtype(aval.dtype), aval.size * aval.dtype.itemsize)
                for aval in jax.tree.leaves(self.lowered.out_info)
            )
            self._lowered = None  # which is larger than the program, and made again when it is asked for
        self._handlers = [
            _jax.array_result_handler(Aval(shape, dtype), _sharding(), True, _skip_checks=True)
            for shape, dtype, _ in self.outputs
        ]

    @property
    def lowered(self) -> Any:
        """The `jax.stages.Lowered`."""
        # `functools.cached_property` holds one lock for all programs here: garbage may be collected meanwhile, whose
        # finalizers wait for a thread that waits for the lock.
        if self._lowered is None:
            self._lowered = self._lower()
        return self._lowered

    def _lower(self) -> Any:
        with neutral_settings():
            # jax keeps what it traces for as long as the function lives: it gets one of its own.
            traced = self._trace(functools.wraps(self._function)(functools.partial(self._function)))
            cut = segmented(traced.jaxpr)
            if cut is not None:
                traced = self._trace(functools.wraps(self._function)(cut))
            return call_from(self._source, traced.lower)

    def _trace(self, function: Callable[..., Sequence[Any]]) -> Any:
        # Memory that is handed over counts as unused: XLA only writes to it.
        jitted = jax.jit(function, donate_argnums=self._donated, keep_unused=True)
        arguments = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in self._arguments]
        return call_from(self._source, jitted.trace, *arguments)

    def _compile(self, options: Mapping[str, Any]) -> Any:
        lowered = self.lowered
        with neutral_settings():
            if not _has_sums(lowered):
                options = _without(TREES, options)
            try:
                return _compile(lowered, dict(options))
            except JaxRuntimeError as error:
                if not str(error).startswith("UNKNOWN"):
                    raise
                # Very long chains of scalars, fused, are too much for XLA's emitter ("Unknown MLIR failure").
                return _compile(lowered, _without("fusion", options))

    def launch(self, buffers: Sequence[Any]) -> list[Any]:
        """Start the program on jax arrays for the parameters, then the memory.

        Returns jax arrays. `block_until_ready`, or looking at their memory, waits for the program; the arguments are
        in use until then.
        """
        return self._loaded.execute_sharded(buffers).consume_with_handlers(self._handlers)

    def stablehlo(self) -> str:
        """The program before XLA, as text with the user's lines."""
        return self.lowered.as_text(dialect="stablehlo", debug_info=True)

    def stablehlo_bytecode(self) -> bytes:
        """The program before XLA, as MLIR bytecode."""
        module: Any = self.lowered.compiler_ir("stablehlo")
        return mlir.module_to_bytecode(module)

    def hlo_module(self, optimized: bool) -> Any:
        """XLA's module, before or after its optimizations."""
        if optimized:
            return self._loaded.hlo_modules()[0]
        return self.lowered.compiler_ir("hlo").as_hlo_module()

    def llvm_ir(self, options: Mapping[str, Any]) -> str:
        """LLVM's optimized code of each kernel. XLA keeps none of it, so the program is compiled once more.

        Args:
            options: XLA's compiler options.
        """
        with tempfile.TemporaryDirectory() as folder:
            self._compile({**options, "xla_dump_to": folder})
            files = sorted(Path(folder).glob("*.ir-with-opt.ll"))
            return "\n".join(file.read_text() for file in files)

    def cost(self) -> dict[str, float]:
        """What XLA's cost analysis counts, by its names, such as "flops" and "bytes accessed"."""
        return self._loaded.cost_analysis()

    def memory(self) -> Any:
        """XLA's `CompiledMemoryStats`."""
        return self._loaded.get_compiled_memory_stats()

    def to_stored(self) -> Stored | None:
        """The program for other processes; `None` if XLA cannot serialize it."""
        if self._new is not None:  # once: it is stored now, or never
            new, self._new = self._new, None
            self._nbytes = len(new.code)
            return new
        try:
            code = self._loaded.serialize()
        except JaxRuntimeError:
            code = b""
        self._nbytes = len(code)
        return Stored(self.outputs, code) if code else None

    @property
    def nbytes(self) -> int:
        """The size of the serialized program, machine code included; 0 if XLA cannot serialize it."""
        if self._nbytes is None:
            self.to_stored()
        return self._nbytes or 0


def _without(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with one more pass of XLA's left out."""
    passes = [given for given in str(options.get(_PASSES, "")).split(",") if given not in ("", name)]
    return {**options, _PASSES: ",".join([*passes, name])}


def _has_sums(lowered: Any) -> bool:
    """Whether a program has a reduction of one operand other than "any" and "all".

    Sums become faster and more exact as trees; those of two operands, in stages, XLA makes none of. Whether one of many
    values is true, which each trap asks, gains nothing, and a program of many traps takes a fifth longer to compile
    with a tree for each.
    """
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == "stablehlo.reduce":
            body = operation.regions[0].blocks[0].operations
            if len(operation.results) == 1 and body[0].name not in ("stablehlo.or", "stablehlo.and"):
                found.append(operation)
                return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    module: Any = lowered.compiler_ir("stablehlo")
    module.operation.walk(visit)
    return bool(found)


def _compile(lowered: Any, options: dict[str, Any]) -> Any:
    """Compile for autojit's device.

    An option that jax hands on is a field of XLA's options. `EXTRA` holds further options of the CPU compiler by name,
    which stand in a map that jax does not reach; it is appended to the serialized options.
    """
    extra: Mapping[str, str] = options.pop(EXTRA, {})
    client = device().client
    given = compiler.get_compile_options(
        1, 1, np.array([[device()]]), env_options_overrides=options, detailed_logging=False, backend=client
    )
    if compiler._DISABLE_MOST_OPTIMIZATIONS.value:  # the user's own programs are to be compiled fast
        debug, usual = (each.executable_build_options.debug_options for each in (given, xla_client.CompileOptions()))
        for name in ("xla_backend_optimization_level", "xla_llvm_disable_expensive_passes"):
            setattr(debug, name, getattr(usual, name))
    if extra:
        pairs = b"".join(_field(500, _field(1, key.encode()) + _field(2, text.encode())) for key, text in extra.items())
        given = xla_client.CompileOptions.ParseFromString(given.SerializeAsString() + _field(3, _field(3, pairs)))
    module: Any = lowered.compiler_ir("stablehlo")
    devices = xla_client.DeviceList((device(),))
    return compiler.backend_compile_and_load(client, module, devices, given, ())


def _load(code: bytes) -> Any:
    """A program that another process, of the same versions and on the same kind of machine, has serialized."""
    if b"lapack_" in code:
        _register_lapack()
        lapack.prepare_lapack_call("getrf", np.dtype(np.float64))  # which lowering does for all of LAPACK, once
    client = device().client
    return client.deserialize_executable(code, xla_client.DeviceList((device(),)), None)


@functools.cache
def _register_lapack() -> None:
    """Tell XLA where LAPACK's functions are, which jax has done where it was imported."""
    if "jax" not in sys.modules:
        for name, function, version in lapack.registrations()["cpu"]:
            register(name, function, version)


def register(name: str, function: Any, version: int) -> None:
    """Tell XLA a function of its foreign function interface, a capsule, that programs call by name."""
    xla_client.register_custom_call_target(name, function, "cpu", version)


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes in the wire format of protocol buffers."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def _with_memory(function: Callable[..., Sequence[Any]], count: int) -> Callable[..., Sequence[Any]]:
    """The same function with `count` parameters more, which it ignores."""

    @functools.wraps(function)
    def wrapper(*arguments: Any) -> Sequence[Any]:
        return function(*arguments[:-count])

    names = [*inspect.signature(function).parameters, *(f"memory_{number}" for number in range(count))]
    wrapper.__signature__ = inspect.Signature(  # type: ignore[attr-defined] -- functions take attributes
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
    )
    return wrapper


class Sharding(_jax.SingleDeviceSharding):
    """On one device, whole: what XLA's client asks of jax's class of this name."""

    memory_kind = None

    def _to_xla_hlo_sharding(self, axes: int) -> Any:
        return xla_client.HloSharding.replicate()


@functools.cache
def _sharding() -> Any:
    return Sharding(device())


@dataclass(frozen=True, slots=True)
class Aval:
    """The type of an array: what XLA's client asks of jax's `ShapedArray`."""

    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool = False


@functools.lru_cache(maxsize=1024)
def _aval(shape: tuple[int, ...], dtype: np.dtype) -> Aval:
    return Aval(shape, dtype)


def hlo_text(module: Any, metadata: bool) -> str:
    """The text of an HLO module."""
    options = _hlo.HloPrintOptions()
    options.print_metadata = metadata
    return module.to_string(options)


def hlo_dot(module: Any) -> str:
    """An HLO module as a graph in the DOT language."""
    return _hlo.hlo_module_to_dot_graph(module)


def share(array: np.ndarray) -> Any:
    """A jax array with the values of a C-contiguous NumPy array; it shares memory that is 64-byte aligned.

    The caller must not write to `array` while a program reads it.
    """
    aval, sharding = _aval(array.shape, array.dtype), _sharding()
    given = aval, sharding, [array], [sharding._device], True
    try:
        return _jax.batched_device_put(*given, enable_x64=True)
    except RuntimeError as error:
        if comes_from_a_signal(error):
            raise
        with jax.transfer_guard_host_to_device("allow"):  # the program's guard is for its own arrays
            return _jax.batched_device_put(*given, enable_x64=True)
