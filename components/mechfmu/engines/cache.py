"""Where compiled libraries are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """$MECHFMU_CACHE, or the folder mechfmu in the user's cache folder."""
    if own := os.environ.get("MECHFMU_CACHE"):
        return Path(own)
    home = Path.home()
    base = {"win32": os.environ.get("LOCALAPPDATA"), "darwin": str(home / "Library" / "Caches")}.get(sys.platform) or os.environ.get("XDG_CACHE_HOME")
    return Path(base or home / ".cache") / "mechfmu"
