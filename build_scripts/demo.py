"""Build, validate, simulate and draw every mechanism:   python3 build_scripts/demo.py

Works from a fresh clone with nothing but Python; the pictures and FMUs go to `out/`. With --robots the gallery has
robots as well (131 MB of robot files are downloaded).
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036  stated here, before the import below fails on an older Python
    sys.exit(f"error: mechfmu needs Python 3.10 or newer, and this is Python {sys.version.split()[0]}")

import environment

if __name__ == "__main__":
    extras = ["native", "plot", "sweep", "docs"]
    if "--robots" in sys.argv[1:]:
        extras.append("site")
    sys.exit(environment.run(["build_scripts/demo_inside.py"], sys.argv[1:], extras))
