"""The process that runs the FMU: one rule, one kind of FMU.

It is started as a script by its path, so that mechfmu is not on its module path.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from types import ModuleType

ALIAS = "_fmu_checker"  # the package `check` under a name that no FMU uses
FILE_SIZE = 2_000_000_000  # bytes that an FMU may write into one file


def load_package() -> ModuleType:
    """Make the package importable without its parent, which would import NumPy and the mechanisms."""
    folder = Path(__file__).resolve().parent.parent
    file = folder / "__init__.py"
    spec = importlib.util.spec_from_file_location(ALIAS, file, submodule_search_locations=[str(folder)])
    assert spec is not None and spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[ALIAS] = package
    spec.loader.exec_module(package)
    return package


def limit_resources() -> None:
    """No core dumps and no endless files, where the operating system supports it. Reserved memory is not limited.
    Ctrl-C ends the process, also if it was started in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        import resource
    except ImportError:
        return
    for what, value in {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: FILE_SIZE}.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (value, value))


def load_rules() -> None:
    """Import everything that rules need but FMPy and NumPy."""
    if ALIAS not in sys.modules:
        load_package()
    for name in ("", ".loading", ".session", ".binding", ".instance"):
        importlib.import_module(f"{ALIAS}.dynamic{name}")


def main(folder: Path) -> None:
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    load_rules()
    rules = importlib.import_module(f"{ALIAS}.dynamic")
    loading = importlib.import_module(f"{ALIAS}.dynamic.loading")
    sessions = importlib.import_module(f"{ALIAS}.dynamic.session")
    bindings = importlib.import_module(f"{ALIAS}.dynamic.binding")
    instances = importlib.import_module(f"{ALIAS}.dynamic.instance")
    limit_resources()
    session = sessions.Session(job, folder)
    gc.freeze()  # the variables are not looked at by later collections
    rule = next((r for r in (*rules.RULES, *rules.ROBUSTNESS_RULES) if r.id == job["rule"]), None)
    try:
        for finding in rule.check(session) if rule else loading.nominal_lifecycle(session):
            session.report(finding=(rule.complete(finding, session.kind) if rule else finding).to_dict())
        if job["rule"] in ("D1", loading.LIFECYCLE):
            session.free_all()
            session.trace.begin(loading.END_OF_PROCESS)
            session.report(done=True)
            return  # a normal exit of the process, which must not crash either
        session.report(done=True)
    except (instances.CallFailed, sessions.InstantiationFailed) as error:
        if error.discarded:
            session.report(not_judged=str(error), done=True)
        else:
            session.report(stopped=dict(text=str(error), sentence=error.sentence))
    except instances.ProcessSpent:
        session.report(spent=True)
    except instances.NotJudged as reason:
        session.report(not_judged=str(reason))
        session.report(done=True)
    except instances.SimulationTerminated:
        session.report(not_judged="the FMU ended the simulation early")
        session.report(done=True)
    except bindings.InterpreterDamaged as error:
        print(f"the interpreter was left with an exception: {error}", file=sys.stderr, flush=True)
        os._exit(70)  # reported like a crash
    except OSError as error:  # the library cannot be loaded, which is a finding of D1
        session.report(stopped=dict(text=str(error), sentence="status"))
    except Exception:
        session.report(bug=traceback.format_exc())
    os._exit(0)


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file, whose modules an FMU with Python code must not find
    main(Path(sys.argv[1]))
