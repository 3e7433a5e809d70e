"""The type of the fixture `fmu`."""

from collections.abc import Callable
from pathlib import Path

Build = Callable[..., Path]
