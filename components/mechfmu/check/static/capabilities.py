"""S15: capability flags."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, rule
from .unpacked import UnpackedFmu


@rule("S15", "capability flags", "3.3.1, 4.3.1")
def capability_flags(fmu: UnpackedFmu) -> Iterator[Finding]:
    """canSerializeFMUstate is only true where canGetAndSetFMUstate is."""
    d = fmu.description
    for kind, element in d.interfaces.items():
        if d.flag(kind, "canSerializeFMUstate") and not d.flag(kind, "canGetAndSetFMUstate"):
            problem = "canSerializeFMUstate is true, but canGetAndSetFMUstate is not"
            yield Finding(kind, problem, "both, or only the second one", "serialize-flag", line=element.sourceline)
