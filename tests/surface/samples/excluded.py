"""Public names that have no status, each with the reason."""

from __future__ import annotations

_GROUPS: dict[str, str] = {
    "reads or writes files": """
        np.fromfile np.fromregex np.genfromtxt np.load np.loadtxt np.memmap np.save np.savetxt np.savez
        np.savez_compressed np.ndarray.dump np.ndarray.tofile""",
    "makes text": """
        np.array2string np.array_repr np.array_str np.datetime_as_string np.format_float_positional
        np.format_float_scientific""",
    "settings, and what they are": """
        np.get_printoptions np.printoptions np.set_printoptions np.getbufsize np.setbufsize np.geterr np.seterr np.geterrcall
        np.seterrcall np.errstate""",
    "tells of the installation": "np.get_include np.info np.show_config np.show_runtime np.test np.__version__",
    "dates": "np.busday_count np.busday_offset np.busdaycalendar np.is_busday np.datetime_data np.datetime64 np.timedelta64 np.isnat",
    "a class of dtypes, for questions": """
        np.character np.complexfloating np.flexible np.floating np.generic np.inexact np.integer np.number np.signedinteger
        np.unsignedinteger""",
    "a scalar type that has another name here, or that no cluster holds": """
        np.bool_ np.byte np.bytes_ np.cdouble np.clongdouble np.complex256 np.complex64 np.csingle np.double np.float128
        np.float16 np.half np.int16 np.int8 np.int_ np.intc np.intp np.long np.longdouble np.longlong np.object_ np.short np.single
        np.str_ np.ubyte np.uint np.uint16 np.uint32 np.uint64 np.uintc np.uintp np.ulong np.ulonglong np.ushort np.void""",
    "a class of arrays that stays NumPy's": "np.matrix np.asmatrix np.recarray np.record",
    "a constant": """
        np.False_ np.True_ np.little_endian np.ScalarType np.e np.euler_gamma np.inf np.nan np.pi np.sctypeDict
        np.typecodes""",
    "a module": """
        np.char np.core np.ctypeslib np.dtypes np.emath np.exceptions np.f2py np.fft np.lib np.linalg np.ma np.polynomial np.random
        np.rec np.strings np.testing np.typing""",
    "for other libraries": """
        np.__array_namespace_info__ np.ndarray.__array_namespace__ np.ndarray.__dlpack__ np.ndarray.__dlpack_device__
        np.ndarray.__array_struct__ np.ndarray.__array_finalize__ np.ndarray.__array_function__ np.ndarray.__array_priority__
        np.ndarray.__array_wrap__ np.ndarray.__class_getitem__""",
    "the class itself": "np.ufunc",
    "an exception": "np.linalg.LinAlgError",
    "makes or is the state of a generator": """
        np.random.Generator np.random.RandomState np.random.SeedSequence np.random.MT19937 np.random.Philox np.random.PCG64
        np.random.PCG64DXSM np.random.SFC64 np.random.BitGenerator""",
    "always raises": "np.ndarray.__delitem__",
    "pickles": "np.ndarray.__setstate__",
}

REASONS: dict[str, str] = {name: reason for reason, names in _GROUPS.items() for name in names.split()}
