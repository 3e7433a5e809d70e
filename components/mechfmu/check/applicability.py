"""Why a rule has nothing to examine in an FMU."""

from __future__ import annotations

from typing import Any

from .archive import Archive
from .description import Description
from .findings import Rule
from .model_data import host_platform

# rule -> the attribute without which it has nothing to check
CAPABILITIES = {"D6": "canGetAndSetFMUstate", "D10": "providesDirectionalDerivative"}


def reason_not_examined(rule: Rule | None, archive: Archive, description: Description) -> str:
    """Why a rule has nothing to examine, or "". S1 needs the file, S2 the XML text, S3 its elements, all others (also
    None) a model description of FMI 2."""
    needs = ("S1", "S2", "S3").index(rule.id) if rule is not None and rule.id in ("S1", "S2", "S3") else 3
    if needs > 0 and not archive.opened:
        return "the archive cannot be opened"
    if needs > 0 and "modelDescription.xml" not in archive.names:
        return "the archive has no readable modelDescription.xml"
    if needs > 1 and description.root is None:
        return "modelDescription.xml cannot be read"
    if needs > 2 and description.root.tag != "fmiModelDescription":
        return "modelDescription.xml is not a model description"
    version = description.attribute("fmiVersion")
    if needs > 2 and version is None:
        return "modelDescription.xml does not say its fmiVersion"
    if needs > 2 and str(version).partition(".")[0] != "2":
        return f"this is an FMU of FMI {version}; the rules are those of 2.0"
    return ""


def reason_binary_not_run(archive: Archive, description: Description, model: dict[str, Any] | None) -> str:
    """Why the binary cannot be run, or ""."""
    if reason := reason_not_examined(None, archive, description):
        return reason
    if not description.interfaces:
        return "the FMU has no interface type"
    if description.attribute("fmiVersion") != "2.0":
        return f"this is an FMU of FMI {description.attribute('fmiVersion')}; the rules are those of 2.0"
    if model is not None and not model["interfaces"]:
        platforms = sorted({n.split("/")[0] for n in archive.under("binaries/") if "/" in n})
        here = host_platform() or "this platform, which FMI has no name for"
        return f"there is none for {here}" + (f", only for {', '.join(platforms)}" if platforms else "")
    return ""


def reason_not_applicable(rule: Rule, model: dict[str, Any], kind: str) -> str:
    """Why a rule does not apply to this kind of the FMU, or ""."""
    interface = model["interfaces"][kind]
    if kind not in rule.kinds:
        return f"it is about {' and '.join(rule.kinds)}"
    capability = CAPABILITIES.get(rule.id)
    if capability and interface.get(capability, "").strip() not in ("true", "1"):
        return f"the FMU does not claim {capability}"
    if rule.id == "D16" and interface.get("canBeInstantiatedOnlyOncePerProcess", "").strip() in ("true", "1"):
        return "the FMU can be instantiated only once per process"
    if rule.id == "D12" and model["reference"] is None:
        return "the FMU carries no reference result"
    return ""
