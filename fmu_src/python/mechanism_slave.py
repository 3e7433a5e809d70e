"""The pythonfmu slave of every mechanism: it passes FMI calls to an Instance of the bundled package."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from xml.etree import ElementTree

from pythonfmu import Fmi2Slave
from pythonfmu.enums import Fmi2Status

HERE = Path(__file__).parent
MODEL = json.loads((HERE / "model.json").read_text(encoding="utf-8"))
mechanisms = importlib.import_module(f"{MODEL['package']}.mechanisms")
instance = importlib.import_module(f"{MODEL['package']}.simulation.instance")
UserError = instance.UserError


class MechanismSlave(Fmi2Slave):
    user_errors = (UserError, instance.CallError)  # their texts are the messages for the host
    discard_is_end = False  # after a discarded step the host may try a shorter one

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.modelName = MODEL["name"]
        mechanism = mechanisms.make(MODEL["mechanism"], **MODEL["options"])
        if constants := MODEL.get("constants"):
            mechanism = mechanism.baked(constants, constants)
        self.scalars = mechanism.table.scalars
        self.model = instance.Instance(mechanism, MODEL["start"], warn=lambda text: self.log(text, Fmi2Status.warning))

    def to_xml(self, model_options=None):
        """Return the model description for `pythonfmu build`, which gets modelDescription.xml as a project file."""
        return ElementTree.parse(HERE / "modelDescription.xml").getroot()

    # --- lifecycle ----------------------------------------------------------------------------------------------------

    def setup_experiment(self, start_time, stop_time, tolerance):
        self.model.setup(start_time, tolerance)

    def enter_initialization_mode(self):
        self.model.enter_initialization()

    def exit_initialization_mode(self):
        self.model.exit_initialization()

    def do_step(self, current_time, step_size):
        try:
            self.model.step(current_time, step_size)
        except (UserError, instance.IntegrationError) as error:
            self.log(str(error), Fmi2Status.discard)
            return False
        return True

    def terminate(self):
        self.model.terminate()

    # --- values -------------------------------------------------------------------------------------------------------

    def find(self, references, kind):
        for reference in references:
            if not 0 <= reference < len(self.scalars):
                last = len(self.scalars) - 1
                raise UserError(f"there is no variable with value reference {reference} (they go from 0 to {last})")
            scalar = self.scalars[reference]
            if scalar.row.kind != kind:
                raise UserError(f"{scalar.name} is of type {scalar.row.kind}, not {kind}")
        return [self.scalars[r] for r in references]

    def get_real(self, vrs):
        return self.model.get(self.find(vrs, "Real"))

    def get_integer(self, vrs):
        return [int(v) for v in self.model.get(self.find(vrs, "Integer"))]

    def get_boolean(self, vrs):
        return [bool(v) for v in self.model.get(self.find(vrs, "Boolean"))]

    def get_string(self, vrs):
        return self.find(vrs, "String")

    def set_real(self, vrs, values):
        self.model.set(self.find(vrs, "Real"), values)

    def set_integer(self, vrs, values):
        self.model.set(self.find(vrs, "Integer"), values)

    def set_boolean(self, vrs, values):
        self.model.set(self.find(vrs, "Boolean"), values)

    def set_string(self, vrs, values):
        self.find(vrs, "String")

    # --- FMU state, solver memory included ----------------------------------------------------------------------------

    def _get_fmu_state(self):
        return self.model.save()

    def _set_fmu_state(self, state):
        self.model.restore(state)

    @staticmethod
    def _fmu_state_to_bytes(state):
        return state.to_bytes()

    @staticmethod
    def _fmu_state_from_bytes(state):
        try:
            return instance.Snapshot.from_bytes(state)
        except (ValueError, TypeError, KeyError):
            raise UserError("these bytes are not a state of this FMU") from None
