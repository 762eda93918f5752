"""Cleaning a table of sensor readings.

Makes eight years of synthetic readings of several stations with gaps, spikes, stuck sensors and mixed units; then brings
them to common units, removes outliers, fills short gaps, resamples to hours and days, and prints summary tables.

Usage: python cleaning.py [scale]
"""

import sys

import numpy as np

MINUTES_PER_SAMPLE = 10
SAMPLES_PER_HOUR = 60 // MINUTES_PER_SAMPLE
SAMPLES_PER_DAY = 24 * SAMPLES_PER_HOUR

STATIONS = [
    {"name": "harbour", "region": "coast", "temperature": "C", "pressure": "hPa", "altitude": 4.0},
    {"name": "lighthouse", "region": "coast", "temperature": "F", "pressure": "hPa", "altitude": 31.0},
    {"name": "mill", "region": "valley", "temperature": "C", "pressure": "mmHg", "altitude": 210.0},
    {"name": "orchard", "region": "valley", "temperature": "K", "pressure": "hPa", "altitude": 255.0},
    {"name": "pass", "region": "hills", "temperature": "C", "pressure": "kPa", "altitude": 1420.0},
    {"name": "summit", "region": "hills", "temperature": "F", "pressure": "mmHg", "altitude": 1985.0},
]

TO_CELSIUS = {
    "C": lambda t: t,
    "F": lambda t: (t - 32.0) * 5.0 / 9.0,
    "K": lambda t: t - 273.15,
}
FROM_CELSIUS = {
    "C": lambda t: t,
    "F": lambda t: t * 9.0 / 5.0 + 32.0,
    "K": lambda t: t + 273.15,
}
HECTOPASCALS = {"hPa": 1.0, "kPa": 10.0, "mmHg": 1.33322387415}


def autoregressive(rng, n, decay, sigma):
    """Slowly varying noise: white noise smoothed by an exponential window."""
    window = decay ** np.arange(int(np.log(1e-3) / np.log(decay)))
    window /= np.sqrt(np.sum(window**2))
    noise = rng.normal(size=n + len(window) - 1)
    return sigma * np.convolve(noise, window, mode="valid")


def synthesize(station, days, rng):
    """Raw readings of one station as a dict of columns."""
    n = days * SAMPLES_PER_DAY
    minutes = np.arange(n) * MINUTES_PER_SAMPLE
    day = minutes / 1440.0
    season = -np.cos(2.0 * np.pi * (day - 20.0) / 365.0)
    cycle = np.sin(2.0 * np.pi * (day - 0.375))
    temperature = 11.0 + 9.0 * season + 4.0 * cycle - 0.0065 * station["altitude"]
    temperature = temperature + autoregressive(rng, n, 0.985, 1.2) + rng.normal(0.0, 0.15, size=n)
    pressure = 1013.25 * np.exp(-station["altitude"] / 8400.0) + autoregressive(rng, n, 0.99, 5.0)
    humidity = np.clip(72.0 - 2.0 * (temperature - 10.0) + autoregressive(rng, n, 0.97, 6.0), 5.0, 100.0)

    # spikes, stuck stretches and gaps
    spikes = rng.choice(n, size=max(1, n // 400), replace=False)
    temperature[spikes] += rng.choice([-1.0, 1.0], size=len(spikes)) * rng.uniform(22.0, 40.0, size=len(spikes))
    pressure[rng.choice(n, size=max(1, n // 900), replace=False)] *= 1.08
    for start in rng.integers(0, n - 60, size=max(1, days // 30)):
        temperature[start : start + int(rng.integers(20, 50))] = temperature[start]
    for column in (temperature, pressure, humidity):
        for start in rng.integers(0, n - 80, size=max(2, days // 8)):
            column[start : start + int(rng.integers(1, 70))] = np.nan
    humidity[rng.random(n) < 0.01] = -999.0

    return {
        "station": station["name"],
        "minutes": minutes,
        "temperature": FROM_CELSIUS[station["temperature"]](temperature),
        "pressure": pressure / HECTOPASCALS[station["pressure"]],
        "humidity": humidity,
    }


def convert_units(raw, station):
    """The same table in degrees Celsius, hectopascals and percent, with missing values as NaN."""
    table = dict(raw)
    table["temperature"] = TO_CELSIUS[station["temperature"]](raw["temperature"])
    table["pressure"] = raw["pressure"] * HECTOPASCALS[station["pressure"]]
    table["humidity"] = np.where(raw["humidity"] < 0.0, np.nan, raw["humidity"])
    return table


def runs_of(mask):
    """Starts and ends (exclusive) of the stretches where `mask` is true."""
    padded = np.concatenate([[False], mask, [False]]).astype(np.int8)
    change = np.diff(padded)
    return np.flatnonzero(change == 1), np.flatnonzero(change == -1)


def rolling_median(values, width):
    """Median of the known values in a centred window; the ends repeat the first and the last window."""
    windows = np.lib.stride_tricks.sliding_window_view(values, width)
    known = ~np.isnan(windows)
    counts = known.sum(axis=1)
    ordered = np.sort(windows, axis=1)  # NaN comes last
    rows = np.arange(len(windows))
    low = ordered[rows, np.maximum((counts - 1) // 2, 0)]
    high = ordered[rows, np.minimum(counts // 2, width - 1)]
    medians = np.where(counts > 0, 0.5 * (low + high), np.nan)
    half = width // 2
    return np.concatenate([np.full(half, medians[0]), medians, np.full(len(values) - half - len(medians), medians[-1])])


def remove_outliers(values, width=49, threshold=8.0, least_spread=1.0):
    """Hampel's filter: readings far from the rolling median become missing."""
    deviation = np.abs(values - rolling_median(values, width))
    spread = max(1.4826 * np.nanmedian(deviation), least_spread)
    bad = deviation > threshold * spread
    return np.where(bad, np.nan, values), int(bad.sum())


def remove_stuck(values, least=18):
    """Readings which do not change at all for `least` samples become missing."""
    same = np.abs(np.diff(values)) < 1e-9
    starts, ends = runs_of(same)
    cleaned = values.copy()
    count = 0
    for start, end in zip(starts, ends):
        if end - start >= least:
            cleaned[start + 1 : end + 1] = np.nan
            count += int(end - start)
    return cleaned, count


def fill_gaps(values, longest=SAMPLES_PER_HOUR * 3):
    """Interpolate across gaps of up to `longest` samples; longer ones stay."""
    missing = np.isnan(values)
    if not missing.any():
        return values.copy(), 0
    index = np.arange(len(values))
    line = np.interp(index, index[~missing], values[~missing])
    filled = values.copy()
    count = 0
    for start, end in zip(*runs_of(missing)):
        if end - start <= longest:
            filled[start:end] = line[start:end]
            count += int(end - start)
    return filled, count


def resample(values, width, least=0.5):
    """Means over blocks of `width` samples; a block with too few known values is missing."""
    blocks = values[: len(values) // width * width].reshape(-1, width)
    known = ~np.isnan(blocks)
    counts = known.sum(axis=1)
    sums = np.where(known, blocks, 0.0).sum(axis=1)
    return np.where(counts >= least * width, sums / np.maximum(counts, 1), np.nan)


def dew_point(temperature, humidity):
    """Magnus's formula."""
    gamma = np.log(np.maximum(humidity, 1.0) / 100.0) + 17.62 * temperature / (243.12 + temperature)
    return 243.12 * gamma / (17.62 - gamma)


def clean(table, log):
    """Clean all the columns of a table, and add counts of what was done to `log`."""
    cleaned = {"station": table["station"], "minutes": table["minutes"]}
    for name in ("temperature", "pressure", "humidity"):
        values = table[name]
        entry = {"station": table["station"], "column": name, "missing": int(np.isnan(values).sum())}
        if name == "temperature":
            values, entry["stuck"] = remove_stuck(values)
        else:
            entry["stuck"] = 0
        values, entry["outliers"] = remove_outliers(values)
        values, entry["filled"] = fill_gaps(values)
        entry["left"] = int(np.isnan(values).sum())
        cleaned[name] = values
        log.append(entry)
    cleaned["dew_point"] = dew_point(cleaned["temperature"], cleaned["humidity"])
    return cleaned


def daily_records(table, region):
    """A list of one dict for each day which has readings."""
    temperature = table["temperature"].reshape(-1, SAMPLES_PER_DAY)
    daily = {name: resample(table[name], SAMPLES_PER_DAY) for name in ("temperature", "pressure", "humidity")}
    hourly = resample(table["temperature"], SAMPLES_PER_HOUR).reshape(-1, 24)
    records = []
    for d in range(len(temperature)):
        if np.isnan(daily["temperature"][d]) or np.isnan(hourly[d]).sum() > 6:
            continue
        records.append(
            {
                "station": table["station"],
                "region": region,
                "day": d,
                "quarter": d % 365 * 4 // 365,
                "mean": float(daily["temperature"][d]),
                "range": float(np.nanmax(hourly[d]) - np.nanmin(hourly[d])),
                "pressure": float(daily["pressure"][d]),
                "humidity": float(daily["humidity"][d]),
            }
        )
    return records


def group_by(records, *keys):
    """Records by the values of the keys, in sorted order."""
    groups = {}
    for record in records:
        groups.setdefault(tuple(record[k] for k in keys), []).append(record)
    return dict(sorted(groups.items()))


def column(records, name):
    return np.array([record[name] for record in records])


def correlation(a, b):
    """Pearson's correlation over the samples which both have."""
    both = ~(np.isnan(a) | np.isnan(b))
    a, b = a[both] - a[both].mean(), b[both] - b[both].mean()
    return float(np.sum(a * b) / np.sqrt(np.sum(a**2) * np.sum(b**2)))


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    days = max(14, int(8 * 365 * scale))
    rng = np.random.default_rng(1815)

    log, tables, records = [], {}, []
    for station in STATIONS:
        raw = synthesize(station, days, rng)
        table = clean(convert_units(raw, station), log)
        tables[station["name"]] = table
        records.extend(daily_records(table, station["region"]))
    print(f"{len(STATIONS)} stations, {days} days, {len(records)} station days with readings")

    print(f"{'station':<11} {'missing':>8} {'stuck':>6} {'outliers':>9} {'filled':>7} {'left':>6}")
    for (name,), entries in group_by(log, "station").items():
        total = {k: sum(e[k] for e in entries) for k in ("missing", "stuck", "outliers", "filled", "left")}
        print(f"{name:<11} {total['missing']:8d} {total['stuck']:6d} {total['outliers']:9d} ", end="")
        print(f"{total['filled']:7d} {total['left']:6d}")

    print(f"{'station':<11} {'mean':>8} {'std':>7} {'5%':>8} {'95%':>8} {'hPa':>8} {'%':>6} {'dew':>7}")
    for name, table in tables.items():
        t = table["temperature"]
        low, high = np.nanpercentile(t, [5, 95])
        print(
            f"{name:<11} {np.nanmean(t):8.3f} {np.nanstd(t):7.3f} {low:8.3f} {high:8.3f} "
            f"{np.nanmean(table['pressure']):8.2f} {np.nanmean(table['humidity']):6.2f} "
            f"{np.nanmean(table['dew_point']):7.3f}"
        )

    print("regions by quarter: days, mean and range of the temperature")
    for (region, quarter), rows in group_by(records, "region", "quarter").items():
        print(f"  {region:<7} Q{quarter + 1} {len(rows):4d} {column(rows, 'mean').mean():8.3f} ", end="")
        print(f"{column(rows, 'range').mean():7.3f}")

    names = list(tables)
    hourly = {name: resample(tables[name]["temperature"], SAMPLES_PER_HOUR) for name in names}
    pairs = [(a, b, correlation(hourly[a], hourly[b])) for i, a in enumerate(names) for b in names[i + 1 :]]
    print(f"mean correlation of hourly temperatures {np.mean([c for _, _, c in pairs]):.5f} over {len(pairs)} pairs")
    altitude = np.array([s["altitude"] for s in STATIONS])
    means = np.array([np.nanmean(tables[s["name"]]["temperature"]) for s in STATIONS])
    slope, intercept = np.polyfit(altitude, means, 1)
    print(f"lapse rate {1000.0 * slope:.4f} degrees per km, {intercept:.4f} at sea level")


if __name__ == "__main__":
    main()
