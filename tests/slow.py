"""Which tests the default run leaves out: a tenth of all, which takes more than half of the time.

`python -m pytest -m slow` runs them, `-m "slow or not slow"` all. Tests that are named on the command line run in any
case. Here are second looks (random programs, attacks from all sides) and what waits for processes; what a change breaks
first is not.
"""

from __future__ import annotations

import fnmatch

#: Files, and functions of other files.
SLOW = frozenset(
    """
    test_at_exit.py
    test_attacks_*.py
    test_bisect.py
    test_examples.py
    test_exceptions_from_outside.py
    test_indexing_fuzz.py
    test_loop_fuzz.py
    test_matrix.py
    test_matrix_findings.py
    test_numeric_attacks.py
    test_random_programs.py
    test_segments.py
    test_service_of_decorated.py
    test_single_factors.py
    test_surface.py
    test_surface_odd.py
    test_table_fuzz.py
    ops/test_identities.py
    ops/test_reduction_edges.py::test_extremes_of_large_arrays_keep_nan
    ops/test_table.py::test_row_with_all_samples
    test_histograms.py::test_equal_bins
    test_loop_lowering.py::test_steps_that_do_not_divide_the_distance
    test_many_lengths.py::test_random_programs
    test_many_lengths.py::test_reductions_over_rows
    test_module_loops.py::test_random_programs_as_scripts
    test_ranges.py::test_no_element_lies_outside
    test_service.py::test_a_process_that_cannot_be_started
    test_service.py::test_a_program_that_closes_all_files
    test_service.py::test_forked_processes
    test_service.py::test_one_that_dies_is_replaced
    test_stages_text.py::test_random_programs
    """.split()
)
_PATTERNS = [each for each in SLOW if "*" in each]


def is_slow(path: str, function: str) -> bool:
    """Whether the default run leaves a test out.

    Args:
        path: Its file, below `tests`.
        function: Its name, without parameters.
    """
    if path in SLOW or f"{path}::{function}" in SLOW:
        return True
    return any(fnmatch.fnmatchcase(path, each) for each in _PATTERNS)
