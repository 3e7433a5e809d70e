"""A mass on a spring in NumPy, with a velocity that is not a variable of the FMU but belongs to its state; and a helper
module, and a file of data."""

from pathlib import Path

import numpy as np
from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real
from spring_law import force


class Moving(Fmi2Slave):
    """Not the slave: the class below has more bases."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.state = np.array([0.1, 0.0])

    def do_step(self, current_time, step_size):
        return True


class Spring(Moving):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.stiffness = float((Path(self.resources) / "spring.txt").read_text())
        self.push = 0.0
        self.register_variable(Real("stiffness", causality=Fmi2Causality.parameter, variability=Fmi2Variability.fixed))
        self.register_variable(Real("push", causality=Fmi2Causality.input))
        self.register_variable(Real("position", causality=Fmi2Causality.output, getter=lambda: float(self.state[0])))

    def do_step(self, current_time, step_size):
        steps = 10
        for _ in range(steps):
            x, v = self.state
            self.state = self.state + step_size / steps * np.array([v, force(x, self.stiffness) + self.push])
        return bool(current_time + step_size < 5.0)

    def _get_fmu_state(self):
        return dict(state=list(self.state), push=self.push, stiffness=self.stiffness)

    def _set_fmu_state(self, state):
        self.state, self.push, self.stiffness = np.array(state["state"]), state["push"], state["stiffness"]
