"""The pythonfmu slave of every mechanism: it hands FMI calls to an Instance of the bundled core.

pythonfmu reports any exception as fmi2Fatal with its text, and a step that returns False as fmi2Discard; the instance stays usable
after both. Most hosts run with logging off and would show nothing but a status, so messages go to standard error as well.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib
import json
import sys
from pathlib import Path

from pythonfmu import Fmi2Slave
from pythonfmu.enums import Fmi2Status

HERE = Path(__file__).parent
MODEL = json.loads((HERE / "model.json").read_text())


def digest(folder):
    """What the FMU in `folder` computes with: its model and its bundled core."""
    sha = hashlib.sha256()
    for file in sorted([folder / "model.json", *(folder / MODEL["core"]).rglob("*.py")]):
        sha.update(file.read_bytes())
    return sha.hexdigest()


DIGEST = digest(HERE)

try:
    core = importlib.import_module(MODEL["core"])
    instance = importlib.import_module(f"{MODEL['core']}.engines.instance")
except ImportError as error:
    wanted = ", ".join(MODEL["requires"])
    text = f"{MODEL['name']}.fmu needs the Python packages {wanted} in {sys.executable} (Python {sys.version.split()[0]}): {error}"
    print(text, file=sys.stderr)
    raise ImportError(text) from error


def told(method):
    """Prints what goes wrong before pythonfmu turns it into a status."""

    @functools.wraps(method)
    def call(self, *args):
        try:
            return method(self, *args)
        except Exception as error:
            self.tell(error)
            self.stay_alive()
            raise

    return call


class MechanismSlave(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.modelName = MODEL["name"]
        self.refuse_foreign_core()
        mechanism = core.mechanisms.make(MODEL["mechanism"], **MODEL["options"])
        self.scalars = mechanism.table.scalars
        self.model = instance.Instance(mechanism, MODEL["start"], warn=lambda text: self.log(text, Fmi2Status.warning))

    def tell(self, error):
        print(f"[{self.instance_name}] {error}", file=sys.stderr)

    def stay_alive(self):
        """After an exception pythonfmu gives up its references to the instance, its class and its log, but goes on using them: a host that
        made a second call would crash. One more reference to each makes up for it."""
        for thing in (self, type(self), self.log_queue):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))

    def refuse_foreign_core(self):
        """All Python FMUs of a process share their modules by name. The names carry a hash, so FMUs of different versions live side
        by side; only one that was changed by hand after it was built can meet a namesake with other contents."""
        mine = Path(self.resources)
        if mine.resolve() != HERE.resolve() and digest(mine) != DIGEST:
            text = f"two different versions of {MODEL['name']}.fmu in one process share the module name {__name__}: rebuild the changed one with mechfmu"
            print(text, file=sys.stderr)
            raise RuntimeError(text)

    # --- life ---------------------------------------------------------------------------------------------------------

    @told
    def setup_experiment(self, start_time, stop_time, tolerance):
        self.model.setup(start_time, tolerance)

    @told
    def enter_initialization_mode(self):
        self.model.enter_initialization()

    @told
    def exit_initialization_mode(self):
        self.model.exit_initialization()

    @told
    def do_step(self, current_time, step_size):
        try:
            self.model.step(current_time, step_size)
        except (core.mechanisms.UserError, instance.IntegrationError) as error:
            self.tell(error)
            self.log(str(error), Fmi2Status.discard)
            return False
        return True

    @told
    def terminate(self):
        self.model.terminate()

    # --- values -------------------------------------------------------------------------------------------------------

    def find(self, references, kind):
        for reference in references:
            if not 0 <= reference < len(self.scalars):
                raise core.mechanisms.UserError(f"there is no variable with value reference {reference} (they go from 0 to {len(self.scalars) - 1})")
            scalar = self.scalars[reference]
            if scalar.row.kind != kind and (scalar.row.kind, kind) != ("Enumeration", "Integer"):  # enumerations are integers to the host
                raise core.mechanisms.UserError(f"{scalar.name} is of type {scalar.row.kind}, not {kind}")
        return [self.scalars[r] for r in references]

    def readable(self, references, kind):
        """What can be read: nothing before initialization, as in any FMU."""
        if self.model.phase == instance.INSTANTIATED:
            raise instance.CallError(f"values cannot be read: the instance is {self.model.phase}")
        return self.find(references, kind)

    @told
    def get_real(self, vrs):
        return self.model.get(self.readable(vrs, "Real"))

    @told
    def get_integer(self, vrs):
        return [int(v) for v in self.model.get(self.readable(vrs, "Integer"))]

    @told
    def get_boolean(self, vrs):
        return [bool(v) for v in self.model.get(self.readable(vrs, "Boolean"))]

    @told
    def get_string(self, vrs):
        return self.readable(vrs, "String")

    @told
    def set_real(self, vrs, values):
        self.model.set(self.find(vrs, "Real"), values)

    @told
    def set_integer(self, vrs, values):
        self.model.set(self.find(vrs, "Integer"), values)

    @told
    def set_boolean(self, vrs, values):
        self.model.set(self.find(vrs, "Boolean"), values)

    @told
    def set_string(self, vrs, values):
        self.find(vrs, "String")

    # --- the whole state, solver memory included ----------------------------------------------------------------------

    @told
    def _get_fmu_state(self):
        return self.model.save()

    @told
    def _set_fmu_state(self, state):
        if not isinstance(state, instance.Snapshot):
            raise core.mechanisms.UserError("this is no state of this FMU")
        self.model.restore(state)

    @staticmethod
    def _fmu_state_to_bytes(state):
        return state.to_bytes()

    @staticmethod
    def _fmu_state_from_bytes(state):
        try:
            return instance.Snapshot.from_bytes(state)
        except (ValueError, TypeError, KeyError):
            return None  # refused when it is set: here there is no instance to report by
