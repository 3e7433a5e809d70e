"""Packages that only parts of mechfmu need, and the extras of mechfmu that install them.

The base installation has what `mechfmu check` and `mechfmu simulate` need. Everything else is imported where it is
used; if it is missing there, the message names the extra.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import UserError

# extra -> what it is for
EXTRAS = {
    "native": "to build FMUs and to record equations",
    "plot": "for plots, animations and live pages",
    "sweep": "for parameter sweeps and Parquet files",
    "learn": "for learning environments",
    "robots": "to read xacro and MJCF files",
}
# module -> (the package's name in texts, the extra that installs it)
PACKAGES = {
    "casadi": ("CasADi", "native"),
    "scipy": ("SciPy", "native"),
    "pythonfmu": ("pythonfmu", "native"),
    "ziglang": ("zig", "native"),
    "matplotlib": ("Matplotlib", "plot"),
    "plotly": ("Plotly", "plot"),
    "PIL": ("Pillow", "plot"),
    "meshcat": ("meshcat", "plot"),
    "dask": ("Dask", "sweep"),
    "distributed": ("Dask", "sweep"),
    "pyarrow": ("pyarrow", "sweep"),
    "gymnasium": ("Gymnasium", "learn"),
    "xacro": ("xacro", "robots"),
    "mujoco": ("MuJoCo", "robots"),
}


def install(extra: str) -> str:
    """The command that installs an extra, or several separated by commas."""
    return f'pip install "mechfmu[{extra}]"'


class MissingPackage(UserError):
    """A package of an extra is not installed. `need` is the message without its subject."""

    def __init__(self, module: str):
        package, extra = PACKAGES[module]
        self.need = f"needs {package}: {install(extra)}"
        super().__init__(f"this {self.need}")


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def require(*modules: str) -> None:
    """Raise MissingPackage unless these modules are installed."""
    for module in modules:
        if not is_installed(module):
            raise MissingPackage(module)


@contextmanager
def missing_packages_named() -> Iterator[None]:
    """Turn a failed import of a package of an extra into MissingPackage."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in PACKAGES:
            raise
        raise MissingPackage(module) from error


def missing_extras() -> list[str]:
    """The extras that are not installed completely."""
    missing = {extra for module, (_, extra) in PACKAGES.items() if not is_installed(module)}
    return [extra for extra in EXTRAS if extra in missing]
