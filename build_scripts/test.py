"""Run the tests:   python3 build_scripts/test.py [--quick] [arguments of pytest]

Works from a fresh clone with nothing but Python.

    python3 build_scripts/test.py                       the full lane: all tests, on all processors
    python3 build_scripts/test.py --quick               the quick lane: tests of every folder, in two minutes
    python3 build_scripts/test.py --quick tests/cosim   that of one folder
    python3 build_scripts/test.py tests/cosim -x        all tests of a folder; other arguments go to pytest as they are

Paths are relative to the checkout. The exit status is pytest's. tests/helpers/lanes.py lists what is left out by
--quick, which stands for `-m "not slow"` and the options in ALL_PROCESSORS.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036  stated here, before the import below fails on an older Python
    sys.exit(f"error: mechfmu needs Python 3.10 or newer, and this is Python {sys.version.split()[0]}")

import environment

EXTRAS = ["all", "docs", "bench", "dev"]
ALL_PROCESSORS = ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]  # a file's tests share what they build


def pytest_arguments(given: list[str]) -> list[str]:
    """The arguments of this script, as pytest understands them."""
    if "--quick" in given:
        return ["-m", "not slow", *ALL_PROCESSORS, *(argument for argument in given if argument != "--quick")]
    return given or ALL_PROCESSORS


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    sys.exit(environment.run(["-m", "pytest"], pytest_arguments(sys.argv[1:]), extras=EXTRAS))
