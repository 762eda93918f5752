"""A small synthetic seismic survey: acoustic waves in a layered section and first processing of the records.

The wave equation is solved by finite differences, of fourth order in space and second order in time, with a free
surface on top and absorbing sponges on the other sides. Every shot is recorded by a line of receivers. The records are
filtered and looked at: spectra, first arrivals, velocity analysis of midpoint gathers, and a stacked section.

Usage: python seismic.py [scale]
"""

import sys
from dataclasses import dataclass

import numpy as np


@dataclass
class Layer:
    """Constant or linearly growing velocity below an interface that may dip."""

    top: float  # depth at the left end, m
    velocity: float  # m/s
    gradient: float = 0.0  # 1/s
    dip: float = 0.0  # m per m


class Section:
    """Velocities on a regular grid; first axis x, second axis depth."""

    def __init__(self, nx, nz, spacing, layers):
        self.nx, self.nz = nx, nz
        self.spacing = spacing
        x = np.arange(nx) * spacing
        z = np.arange(nz) * spacing
        self.X, self.Z = np.meshgrid(x, z, indexing="ij")
        self.velocity = np.full((nx, nz), layers[0].velocity)
        for layer in layers:
            below = self.Z - (layer.top + layer.dip * self.X)
            self.velocity = np.where(below >= 0.0, layer.velocity + layer.gradient * below, self.velocity)

    def add_lens(self, x, z, radius_x, radius_z, contrast):
        """A smooth elliptic anomaly."""
        r2 = ((self.X - x) / radius_x) ** 2 + ((self.Z - z) / radius_z) ** 2
        self.velocity = self.velocity * (1.0 + contrast * np.exp(-r2))

    def sponge(self, width, strength):
        """Damping factors that fall off towards the left, right and lower edges."""
        i = np.arange(self.nx)
        k = np.arange(self.nz)
        from_side = np.minimum(i, self.nx - 1 - i)
        side = np.maximum(width - from_side, 0)
        bottom = np.maximum(width - (self.nz - 1 - k), 0)
        return np.exp(-((strength * side[:, None]) ** 2)) * np.exp(-((strength * bottom[None, :]) ** 2))


def ricker(t, frequency):
    """Ricker wavelet with its peak one and a half periods late."""
    a = (np.pi * frequency * (t - 1.5 / frequency)) ** 2
    return (1.0 - 2.0 * a) * np.exp(-a)


def laplacian(p, spacing):
    """Fourth-order Laplacian of the interior; two cells at each edge stay zero."""
    result = np.zeros_like(p)
    c = p[2:-2, 2:-2]
    along_x = -p[4:, 2:-2] + 16.0 * p[3:-1, 2:-2] - 30.0 * c + 16.0 * p[1:-3, 2:-2] - p[:-4, 2:-2]
    along_z = -p[2:-2, 4:] + 16.0 * p[2:-2, 3:-1] - 30.0 * c + 16.0 * p[2:-2, 1:-3] - p[2:-2, :-4]
    result[2:-2, 2:-2] = (along_x + along_z) / (12.0 * spacing**2)
    return result


class Propagator:
    """Time stepping of the pressure for one shot after another."""

    def __init__(self, section, dt, sponge_width=30, sponge_strength=0.009):
        courant = section.velocity.max() * dt / section.spacing
        if courant > 0.6:
            raise ValueError(f"unstable: Courant number {courant:.2f}")
        self.courant = courant
        self.section = section
        self.dt = dt
        self.factor = (section.velocity * dt) ** 2
        self.damping = section.sponge(sponge_width, sponge_strength)
        self.illumination = np.zeros((section.nx, section.nz))

    def shoot(self, source, wavelet, receivers):
        """Records of shape (receivers, time) and the energy of the wave field now and then."""
        sx, sz = source
        rx, rz = receivers
        shape = (self.section.nx, self.section.nz)
        before, now = np.zeros(shape), np.zeros(shape)
        records = np.zeros((len(rx), len(wavelet)))
        energy = []
        for step, amplitude in enumerate(wavelet):
            after = 2.0 * now - before + self.factor * laplacian(now, self.section.spacing)
            after[sx, sz] += self.factor[sx, sz] * amplitude / self.section.spacing**2
            after *= self.damping
            # pressure vanishes at the surface and is odd about it
            after[:, 2] = 0.0
            after[:, 1] = -after[:, 3]
            after[:, 0] = -after[:, 4]
            before, now = now * self.damping, after
            records[:, step] = now[rx, rz]
            if step % 10 == 0:
                self.illumination += now**2
                energy.append(float(np.sum((now - before) ** 2 / self.factor)))
        return records, np.array(energy)


def band_pass(records, dt, corners):
    """Trapezoidal filter in the frequency domain."""
    n = records.shape[-1]
    frequencies = np.fft.rfftfreq(2 * n, dt)
    response = np.interp(frequencies, corners, [0.0, 1.0, 1.0, 0.0])
    return np.fft.irfft(np.fft.rfft(records, n=2 * n, axis=-1) * response, axis=-1)[..., :n]


def gain_control(records, window):
    """Divide by the running root mean square over a window of samples."""
    kernel = np.ones(window) / window
    power = np.array([np.convolve(trace**2, kernel, mode="same") for trace in records])
    return records / np.sqrt(power + 1e-4 * power.max())


def pick_first_arrivals(records, dt, threshold=0.05):
    """Times at which the traces first exceed a share of their largest value, NaN where nothing has come."""
    size = np.abs(records)
    peak = size.max(axis=1)
    picks = np.full(len(records), np.nan)
    for k, trace in enumerate(size):
        if peak[k] < 3e-3 * peak.max():
            continue
        level = threshold * peak[k]
        j = int(np.argmax(trace > level))
        if j > 0:
            share = (level - trace[j - 1]) / (trace[j] - trace[j - 1])
            picks[k] = (j - 1 + share) * dt
    return picks


def spectrum_summary(records, dt):
    """Peak, centroid and bandwidth of the mean amplitude spectrum."""
    padded = 2 ** int(np.ceil(np.log2(4 * records.shape[1])))
    taper = np.hanning(records.shape[1])
    amplitude = np.abs(np.fft.rfft(records * taper, n=padded, axis=1)).mean(axis=0)
    frequencies = np.fft.rfftfreq(padded, dt)
    power = amplitude**2
    centroid = (frequencies * power).sum() / power.sum()
    width = np.sqrt(((frequencies - centroid) ** 2 * power).sum() / power.sum())
    return {"peak": frequencies[np.argmax(amplitude)], "centroid": centroid, "bandwidth": width}


def slope_velocity(offsets, picks, low, high):
    """Apparent velocity from a straight line through the picks of some offsets, with its intercept."""
    use = (offsets >= low) & (offsets < high) & np.isfinite(picks)
    if use.sum() < 4:
        return None
    slowness, intercept = np.polyfit(offsets[use], picks[use], 1)
    if slowness <= 1e-5:
        return None  # the record ends too early
    return 1.0 / slowness, intercept


def moveout(gather, offsets, times, velocity, stretch=0.6):
    """Correct a gather for normal moveout and mute what is stretched too far."""
    corrected = np.zeros_like(gather)
    for k, offset in enumerate(offsets):
        arrival = np.sqrt(times**2 + (offset / velocity) ** 2)
        live = (arrival - times <= stretch * times) & (arrival <= times[-1])
        corrected[k] = np.where(live, np.interp(arrival, times, gather[k]), 0.0)
    return corrected


def semblance(corrected, window):
    """Coherence of a corrected gather along smoothed time."""
    kernel = np.ones(window)
    live = (corrected != 0.0).sum(axis=0)
    coherent = np.convolve(corrected.sum(axis=0) ** 2, kernel, mode="same")
    total = np.convolve((corrected**2).sum(axis=0) * np.maximum(live, 1), kernel, mode="same")
    return np.where(live >= 4, coherent / (total + 1e-3 * total.max() + 1e-30), 0.0)


def collect_midpoints(shots, width):
    """Sort all traces by midpoint into bins; a dict of bin number to (gather, offsets)."""
    bins = {}
    for shot in shots:
        middle = 0.5 * (shot["x"] + shot["receivers"])
        for k, number in enumerate(np.floor(middle / width).astype(int)):
            bins.setdefault(int(number), []).append((shot["offsets"][k], shot["filtered"][k]))
    gathers = {}
    for number in sorted(bins):
        offsets, traces = zip(*sorted(bins[number], key=lambda pair: pair[0]))
        gathers[number] = (np.array(traces), np.array(offsets))
    return gathers


def build_section():
    section = Section(
        280,
        150,
        10.0,
        [
            Layer(0.0, 1600.0),
            Layer(220.0, 2000.0, gradient=0.4),
            Layer(520.0, 2600.0, dip=0.05),
            Layer(950.0, 3300.0, dip=-0.04),
        ],
    )
    section.add_lens(1500.0, 420.0, 260.0, 70.0, -0.12)
    return section


def report_shot(number, shot, dt):
    picks, offsets = shot["picks"], shot["offsets"]
    found = np.isfinite(picks)
    print(f"shot {number} at {shot['x']:.0f} m")
    summary = spectrum_summary(shot["filtered"], dt)
    print("  spectrum: " + ", ".join(f"{name} {value:.4g} Hz" for name, value in summary.items()))
    first, last = np.nanmin(picks), np.nanmax(picks)
    print(f"  first arrivals on {found.sum()} of {len(picks)} traces, {first:.4f} .. {last:.4f} s")
    for name, low, high in (("near", 80.0, 420.0), ("far", 900.0, 2000.0)):
        line = slope_velocity(offsets, picks, low, high)
        if line is not None:
            print(f"  {name} velocity {line[0]:.1f} m/s, intercept {line[1]:.4f} s")
    energy = shot["energy"]
    print(f"  field energy: highest {energy.max():.4e}, last {energy[-1]:.4e}")


def velocity_analysis(gathers, times, velocities):
    """The most coherent velocity in a few time windows of the fullest gather."""
    number = max(gathers, key=lambda k: len(gathers[k][1]))
    gather, offsets = gathers[number]
    panel = np.array([semblance(moveout(gather, offsets, times, v), 21) for v in velocities])
    print(f"velocity analysis of midpoint {number}, {len(offsets)} traces, offsets up to {offsets.max():.0f} m")
    windows = np.array_split(np.arange(len(times)), 6)
    for window in windows[1:]:
        part = panel[:, window].mean(axis=1)
        best = int(np.argmax(part))
        start, end = times[window[0]], times[window[-1]]
        print(f"  {start:.3f} .. {end:.3f} s: {velocities[best]:.0f} m/s, semblance {part[best]:.4f}")


def stack_section(gathers, times, velocity):
    """Mean of the corrected traces of every midpoint."""
    stack = []
    for gather, offsets in gathers.values():
        corrected = moveout(gather, offsets, times, velocity)
        fold = np.maximum((corrected != 0.0).sum(axis=0), 1)
        stack.append(corrected.sum(axis=0) / fold)
    return np.array(stack)


def likeness(a, b):
    """Cosine of the angle between two traces, 0 where one is silent."""
    norm = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b / norm) if norm > 0.0 else 0.0


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    shots_wanted = max(2, int(round(14 * np.sqrt(scale))))
    steps = max(160, int(round(1500 * np.sqrt(scale))))
    dt = 0.0012
    rng = np.random.default_rng(404)

    section = build_section()
    propagator = Propagator(section, dt)
    times = np.arange(steps) * dt
    wavelet = ricker(times, 14.0)
    receiver_index = np.arange(36, section.nx - 36, 3)
    receiver_x = receiver_index * section.spacing
    receivers = (receiver_index, np.full(len(receiver_index), 5))
    print(f"{section.nx} x {section.nz} cells of {section.spacing:g} m, {shots_wanted} shots of {steps} steps")
    slowest, fastest = section.velocity.min(), section.velocity.max()
    print(f"velocities {slowest:.1f} .. {fastest:.1f} m/s, Courant {propagator.courant:.4f}")

    shots = []
    for number, position in enumerate(np.linspace(45, section.nx - 46, shots_wanted).astype(int)):
        records, energy = propagator.shoot((position, 6), wavelet, receivers)
        noise = rng.standard_normal(records.shape) * 2e-5 * np.abs(records).max()
        filtered = band_pass(records + noise, dt, [2.0, 5.0, 35.0, 50.0])
        x = position * section.spacing
        shot = {
            "x": x,
            "receivers": receiver_x,
            "offsets": np.abs(receiver_x - x),
            "filtered": filtered,
            "energy": energy,
            "picks": pick_first_arrivals(filtered, dt),
        }
        shots.append(shot)
        report_shot(number, shot, dt)

    lit = propagator.illumination.sum(axis=0)
    depth = (lit * np.arange(section.nz)).sum() / lit.sum() * section.spacing
    print(f"illumination: mean depth {depth:.2f} m, share below 750 m {lit[75:].sum() / lit.sum():.4%}")

    for shot in shots:
        shot["filtered"] = gain_control(shot["filtered"], 101)
    gathers = collect_midpoints(shots, width=60.0)
    folds = np.array([len(offsets) for _, offsets in gathers.values()])
    print(f"{len(gathers)} midpoints, fold {folds.min()} .. {folds.max()}, mean {folds.mean():.3f}")
    velocity_analysis(gathers, times, np.arange(1500.0, 3301.0, 100.0))

    stack = stack_section(gathers, times, 2100.0)
    loudness = np.sqrt((stack**2).mean(axis=0))
    print(f"stack: root mean square {np.sqrt((stack**2).mean()):.5f}, largest {np.abs(stack).max():.4f}")
    neighbours = [likeness(a, b) for a, b in zip(stack[:-1], stack[1:])]
    print(f"  likeness of neighbouring midpoints: mean {np.mean(neighbours):.4f}, lowest {np.min(neighbours):.4f}")
    for window in np.array_split(np.arange(steps), 8):
        level = loudness[window].mean()
        print(f"  {times[window[0]]:.3f} s {level:8.5f} {'#' * int(round(40 * level / loudness.max()))}")


if __name__ == "__main__":
    main()
