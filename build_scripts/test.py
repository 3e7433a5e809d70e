"""Run the tests:   python3 build_scripts/test.py [arguments of pytest]

Works from a fresh clone with nothing but Python. Without arguments all tests run, on all cores; paths among the arguments are
relative to the checkout. The exit status is pytest's.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036  said in words here, before the import below fails on an older Python
    sys.exit(
        "error: mechfmu needs Python 3.10 or newer, and this is Python "
        + sys.version.split()[0]
        + ": run me with a newer one"
    )

import environment

if __name__ == "__main__":
    sys.exit(
        environment.run(
            ["-m", "pytest"],
            sys.argv[1:] or ["-n", "auto"],
            extras=["native", "sweep", "learn", "docs", "bench", "dev"],
        )
    )
