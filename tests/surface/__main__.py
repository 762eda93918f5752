"""`python -m tests.surface`: observe every public name of NumPy, print the table and the counts, write the file."""

from __future__ import annotations

import argparse
import contextlib

from tests.evaluated import evaluated
from tests.surface.names import public_names
from tests.surface.odd import run
from tests.surface.table import FILE, counts, entry, recorded, written


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.surface", description=__doc__)
    parser.add_argument("names", nargs="*", help="only names that contain one of these")
    parser.add_argument("--numpy", action="store_true", help="let NumPy evaluate the clusters; nothing is written then")
    parser.add_argument("--status", help="print only samples with this status")
    parser.add_argument("--odd", type=int, metavar="COUNT", help="try this many sample calls with odd arguments instead")
    parser.add_argument("--seed", type=int, default=1, help="for --odd")
    options = parser.parse_args()
    if options.odd:
        with evaluated() if options.numpy else contextlib.nullcontext():
            return bool(run(options.seed, options.odd))
    wanted = [name for name in public_names() if not options.names or any(part in name for part in options.names)]
    found, differing = [], 0
    with evaluated() if options.numpy else contextlib.nullcontext():
        for name in wanted:
            one = entry(name)
            found.append(one)
            for text, seen in one.samples.items():
                differing += bool(seen.difference)
                if options.status in (None, seen.status) or seen.difference:
                    print(
                        f"{seen.status:12} {text:60} {seen.reason}{f' DIFFERS {seen.difference}' if seen.difference else ''}"
                    )
    print("", *counts(found), f"\n{differing} sample(s) differ from NumPy", sep="\n")
    if not options.numpy and not differing:
        kept = recorded() if options.names else {}
        FILE.write_text(written(found, {name: kept[name] for name in kept if name in public_names()}))
    return bool(differing)


if __name__ == "__main__":
    raise SystemExit(main())
