"""Take a noisy recording apart: hum, a chirp, a pulse train and dialled tones.

The recording is synthetic. The script filters it with scipy, computes spectrograms and averaged spectra by hand,
follows the chirp, finds the pulses, cancels the hum with an adaptive filter, decodes the tones and smooths a track
with a Kalman filter.

Usage: python signals.py [scale]
"""

import sys

import numpy as np
from scipy import signal

RATE = 4000
ROWS = [697, 770, 852, 941]
COLUMNS = [1209, 1336, 1477]
KEYS = ["123", "456", "789", "*0#"]


def make_recording(seconds, rng):
    """The parts of the recording by name, and the times of the pulses."""
    count = int(seconds * RATE)
    t = np.arange(count) / RATE
    start, end = 200.0, 700.0
    phase = 2 * np.pi * (start * t + 0.5 * (end - start) / seconds * t**2)
    beat = 0.8 + 0.05 * np.sin(np.arange(int(seconds / 0.8) + 2))
    times = np.cumsum(beat)
    times = times[times < seconds - 0.3]
    pulses = np.zeros(count)
    width = 0.02
    for time in times:
        low, high = int((time - 0.15) * RATE), int((time + 0.15) * RATE)
        local = t[low:high] - time
        pulses[low:high] += np.exp(-0.5 * (local / width) ** 2) * np.cos(2 * np.pi * 60 * local)
    hum_phase = 2 * np.pi * 50 * t
    parts = {
        "chirp": 0.5 * np.sin(phase),
        "pulses": 2.0 * pulses,
        "hum": 0.7 * np.sin(hum_phase + 0.4) + 0.3 * np.sin(3 * hum_phase + 1.0),
        "noise": 0.25 * rng.standard_normal(count),
    }
    return t, parts, times


def hann(count):
    """The periodic Hann window."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(count) / count)


def frames_of(x, length, hop):
    """Overlapping frames as rows."""
    count = 1 + (len(x) - length) // hop
    index = np.arange(length)[None, :] + hop * np.arange(count)[:, None]
    return x[index]


def spectrogram(x, length, hop):
    """Frequencies, frame centres in seconds and power."""
    window = hann(length)
    pieces = []
    frames = frames_of(x, length, hop)
    for start in range(0, len(frames), 64):
        spectrum = np.fft.rfft(frames[start : start + 64] * window, axis=1)
        pieces.append(spectrum.real**2 + spectrum.imag**2)
    power = np.concatenate(pieces) / (RATE * (window**2).sum())
    power[:, 1:-1] *= 2
    times = (np.arange(len(power)) * hop + length / 2) / RATE
    return np.fft.rfftfreq(length, 1 / RATE), times, power


def averaged_spectrum(x, length):
    """Welch's estimate with half-overlapping frames and their means removed."""
    window = hann(length)
    frames = frames_of(x, length, length // 2)
    frames = (frames - frames.mean(axis=1, keepdims=True)) * window
    power = (np.abs(np.fft.rfft(frames, axis=1)) ** 2).mean(axis=0) / (RATE * (window**2).sum())
    power[1:-1] *= 2
    return np.fft.rfftfreq(length, 1 / RATE), power


def follow_ridge(frequencies, power, low, high):
    """The frequency of the strongest line in each frame, refined by the centre of mass around it."""
    band = np.flatnonzero((frequencies >= low) & (frequencies <= high))
    track = []
    for row in power:
        best = band[np.argmax(row[band])]
        near = slice(max(0, best - 2), best + 3)
        track.append((frequencies[near] * row[near]).sum() / row[near].sum())
    return np.array(track)


def windowed_sinc(cutoff, taps):
    """A low-pass filter by the window method."""
    n = np.arange(taps) - (taps - 1) / 2
    kernel = np.sinc(2 * cutoff / RATE * n) * np.hamming(taps)
    return kernel / kernel.sum()


def cancel_hum(x, taps=16, step=0.002):
    """Least mean squares with quadrature references at 50 Hz and its harmonics."""
    t = np.arange(len(x)) / RATE
    reference = []
    for harmonic in range(1, taps // 2 + 1):
        reference.append(np.sin(2 * np.pi * 50 * harmonic * t))
        reference.append(np.cos(2 * np.pi * 50 * harmonic * t))
    reference = np.stack(reference, axis=1)
    weights = np.zeros(reference.shape[1])
    cleaned = np.zeros(len(x))
    for i in range(len(x)):
        error = x[i] - weights @ reference[i]
        weights = weights + step * error * reference[i]
        cleaned[i] = error
    return cleaned, weights


def goertzel(x, frequency):
    """The power of a single frequency by Goertzel's recurrence."""
    factor = 2 * np.cos(2 * np.pi * frequency / RATE)
    before, last = 0.0, 0.0
    for value in x.tolist():
        before, last = last, value + factor * last - before
    return last**2 + before**2 - factor * last * before


def dial(keys, rng):
    """The tones of some keys with pauses, and where they start."""
    t = np.arange(int(0.08 * RATE)) / RATE
    pieces, starts, position = [], [], 0
    for key in keys:
        for row, line in zip(ROWS, KEYS):
            if key in line:
                column = COLUMNS[line.index(key)]
                tone = np.sin(2 * np.pi * row * t) + np.sin(2 * np.pi * column * t + 0.3)
        pause = np.zeros(int(rng.integers(100, 300)))
        starts.append(position)
        pieces += [tone, pause]
        position += len(tone) + len(pause)
    x = np.concatenate(pieces)
    return x + 0.4 * rng.standard_normal(len(x)), starts


def decode(x, starts):
    """Read the keys back from the tones."""
    keys = ""
    for start in starts:
        piece = x[start : start + int(0.08 * RATE)]
        rows = [goertzel(piece, frequency) for frequency in ROWS]
        columns = [goertzel(piece, frequency) for frequency in COLUMNS]
        keys += KEYS[int(np.argmax(rows))][int(np.argmax(columns))]
    return keys


class Kalman:
    """A constant-velocity Kalman filter for one measured coordinate."""

    def __init__(self, dt, process, measurement):
        self.transition = np.array([[1.0, dt], [0.0, 1.0]])
        self.process = process * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
        self.measurement = measurement
        self.state = np.zeros(2)
        self.covariance = 1e4 * np.eye(2)

    def update(self, value):
        state = self.transition @ self.state
        covariance = self.transition @ self.covariance @ self.transition.T + self.process
        gain = covariance[:, 0] / (covariance[0, 0] + self.measurement)
        self.state = state + gain * (value - state[0])
        self.covariance = covariance - np.outer(gain, covariance[0])
        return self.state


def autocorrelation(x, lags):
    """The normalised autocorrelation by way of the Fourier transform."""
    x = x - x.mean()
    size = 1 << (2 * len(x) - 1).bit_length()
    spectrum = np.fft.rfft(x, size)
    result = np.fft.irfft(spectrum * spectrum.conj(), size)[:lags]
    return result / result[0]


def decibels(ratio):
    """A power ratio in decibels."""
    return 10 * np.log10(ratio)


def report_spectra(x):
    """Print the strongest lines of the spectrum, by hand and by scipy."""
    frequencies, power = averaged_spectrum(x, 4096)
    theirs = signal.welch(x, RATE, window="hann", nperseg=4096)[1]
    agree = np.allclose(power, theirs, rtol=1e-6, atol=1e-12 * power.max())
    print(f"spectrum agrees with scipy's: {agree}, total power {power.sum() * RATE / 4096:.5g}")
    lines, _ = signal.find_peaks(decibels(power), prominence=18)
    for line in lines:
        print(f"  line at {frequencies[line]:8.3f} Hz, {decibels(power[line]):.2f} dB")
    for low, high in [(0, 100), (100, 200), (200, 700), (700, 2000)]:
        band = (frequencies >= low) & (frequencies < high)
        print(f"  {low:4d} to {high:4d} Hz: {100 * power[band].sum() / power.sum():.3f} %")


def report_chirp(x, t):
    """Print the straight line through the chirp's frequencies."""
    band = signal.butter(4, [170, 750], btype="bandpass", fs=RATE, output="sos")
    filtered = signal.sosfiltfilt(band, x)
    frequencies, times, power = spectrogram(filtered, 1024, 128)
    track = follow_ridge(frequencies, power, 180, 740)
    slope, offset = np.polyfit(times, track, 1)
    residual = track - (slope * times + offset)
    end = offset + slope * t[-1]
    print(f"chirp: {len(track)} frames, from {offset:.3f} Hz to {end:.3f} Hz, rms {residual.std():.4f}")
    kalman = Kalman(128 / RATE, 1.0, 4.0)
    states = np.array([kalman.update(value) for value in track])
    half = len(states) // 2
    print(f"  Kalman filter: speed {states[half:, 1].mean():.4f} Hz/s, last frequency {states[-1, 0]:.3f} Hz")
    inside = power[:, (frequencies > 200) & (frequencies < 700)]
    flatness = np.exp(np.log(inside + 1e-15).mean(axis=1)) / inside.mean(axis=1)
    print(f"  spectral flatness {flatness.mean():.5f}")


def report_pulses(cleaned, times):
    """Print how well the pulses are found in the cleaned recording."""
    local = np.arange(-int(0.06 * RATE), int(0.06 * RATE) + 1) / RATE
    template = np.exp(-0.5 * (local / 0.02) ** 2) * np.cos(2 * np.pi * 60 * local)
    template /= np.sqrt((template**2).sum())
    matched = np.convolve(cleaned, template[::-1], mode="same")
    envelope = np.abs(signal.hilbert(matched))
    smooth = np.convolve(envelope, windowed_sinc(20, 401), mode="same")
    peaks, _ = signal.find_peaks(smooth, height=0.5 * smooth.max(), distance=int(0.4 * RATE))
    found = peaks / RATE
    errors = [np.abs(found - time).min() for time in times]
    print(f"pulses: {len(found)} found of {len(times)}, mean error {1000 * np.mean(errors):.2f} ms")
    intervals = np.diff(found)
    print(f"  intervals {intervals.mean():.4f} s, sd {intervals.std():.4f} s")
    step = 20
    correlation = autocorrelation(smooth[::step], int(1.2 * RATE / step))
    search = int(0.5 * RATE / step)
    best = search + int(np.argmax(correlation[search:]))
    print(f"  autocorrelation {correlation[best]:.4f} at a lag of {best * step / RATE:.3f} s")


def main():
    """Make the recording and take it apart."""
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(44100)
    seconds = max(6.0, round(160 * scale))
    t, parts, times = make_recording(seconds, rng)
    x = sum(parts.values())
    print(f"recording of {seconds:g} s, {len(x)} samples")
    for name, part in parts.items():
        ratio = part.var() / (x - part).var()
        print(f"  {name}: rms {np.sqrt(np.mean(part**2)):.5f}, ratio to the rest {decibels(ratio):.3f} dB")
    report_spectra(x)
    cleaned, weights = cancel_hum(x)
    amplitudes = np.hypot(weights[0::2], weights[1::2])
    print("hum amplitudes: " + " ".join(f"{amplitude:.3f}" for amplitude in amplitudes[:4]))
    tail = slice(len(x) // 2, None)
    left = cleaned[tail] - (x - parts["hum"])[tail]
    print(f"hum reduced by {decibels(parts['hum'][tail].var() / left.var()):.3f} dB")
    notch = x
    for frequency in (50, 150):
        b, a = signal.iirnotch(frequency, 30, fs=RATE)
        notch = signal.filtfilt(b, a, notch)
    print(f"notch filters leave an rms of {np.sqrt(np.mean(notch[tail] ** 2)):.5f}")
    report_chirp(x, t)
    report_pulses(cleaned, times)
    keys = "".join(rng.choice(list("0123456789*#"), size=max(12, round(400 * scale))))
    tones, starts = dial(keys, rng)
    read = decode(tones, starts)
    print(f"dialled {keys[:12]}, read {read[:12]}, {sum(a == b for a, b in zip(keys, read))} of {len(keys)} right")
    slow = signal.decimate(signal.decimate(cleaned, 5), 4)
    print(f"decimated to {len(slow)} samples, rms {np.sqrt(np.mean(slow**2)):.5f}")


if __name__ == "__main__":
    main()
