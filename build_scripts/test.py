"""Run the tests:   python3 build_scripts/test.py [--quick | --complete] [arguments of pytest]

Works from a fresh clone with nothing but Python.

    python3 build_scripts/test.py                       the full lane: every feature, on all processors
    python3 build_scripts/test.py --quick               the quick lane: tests of every folder, in two minutes
    python3 build_scripts/test.py --complete            the complete lane: all tests, repetitions included
    python3 build_scripts/test.py --quick tests/cosim   the lane of one folder
    python3 build_scripts/test.py tests/cosim -x        all tests of a folder; other arguments go to pytest as they are

Paths are relative to the checkout. The exit status is pytest's. tests/helpers/lanes.py lists what a lane leaves out.
"""

import os
import sys

if sys.version_info < (3, 10):  # noqa: UP036  stated here, before the import below fails on an older Python
    sys.exit(f"error: mechfmu needs Python 3.10 or newer, and this is Python {sys.version.split()[0]}")

import environment

EXTRAS = ["all", "docs", "bench", "dev"]
WORKERS = (os.cpu_count() or 1) + 1  # one more than processors, since tests also wait: for browsers, for time limits
ALL_PROCESSORS = ["-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder"]  # tests of a file share builds

LANES = {"--quick": ["-m", "not slow"], "--complete": []}
FULL_LANE = ["-m", "not repetition"]


def pytest_arguments(given: list[str]) -> list[str]:
    """The arguments of this script, as pytest understands them."""
    for option, selection in LANES.items():
        if option in given:
            return [*selection, *ALL_PROCESSORS, *(argument for argument in given if argument != option)]
    return given or [*FULL_LANE, *ALL_PROCESSORS]


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    sys.exit(environment.run(["-m", "pytest"], pytest_arguments(sys.argv[1:]), extras=EXTRAS))
