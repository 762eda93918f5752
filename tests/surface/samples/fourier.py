"""`np.fft`."""

_ONE = ("(v)", "(a, axis=0)", "(v, 8)", "(v, norm='ortho')", "(w)")
_TWO = ("(a)", "(z)", "(a, s=(4, 4))")

SAMPLES: dict[str, tuple[str, ...]] = {
    "np.fft.fft": _ONE,
    "np.fft.ifft": _ONE,
    "np.fft.rfft": _ONE[:4],
    "np.fft.irfft": ("(w)", "(w, 7)", "(z, axis=0)"),
    "np.fft.hfft": ("(w)", "(w, 8)"),
    "np.fft.ihfft": ("(v)", "(v, 4)"),
    "np.fft.fft2": _TWO,
    "np.fft.ifft2": _TWO,
    "np.fft.rfft2": ("(a)",),
    "np.fft.irfft2": ("(z)",),
    "np.fft.fftn": ("(c)", "(c, axes=(0, 2))"),
    "np.fft.ifftn": ("(c)",),
    "np.fft.rfftn": ("(c)",),
    "np.fft.irfftn": ("(z)",),
    "np.fft.fftshift": ("(v)", "(a, axes=1)"),
    "np.fft.ifftshift": ("(v)", "(a)"),
    "np.fft.fftfreq": ("(6)", "(7, 0.5)", "(n)", "(6, x)"),
    "np.fft.rfftfreq": ("(6)", "(7, d=0.5)", "(6, x)"),
}
