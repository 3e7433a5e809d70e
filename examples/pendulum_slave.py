"""A damped pendulum as an ordinary pythonfmu slave.

`mechfmu portable examples/pendulum_slave.py` makes an FMU of it that runs in every host.
"""

import math

from pythonfmu import DefaultExperiment, Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Pendulum(Fmi2Slave):
    author = "mechfmu"
    description = "Damped pendulum, semi-implicit Euler"
    default_experiment = DefaultExperiment(start_time=0.0, stop_time=10.0, step_size=0.01)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.length, self.damping = 1.0, 0.1
        self.torque = 0.0
        self.angle, self.rate = 0.5, 0.0
        for name in ("length", "damping"):
            self.register_variable(Real(name, causality=Fmi2Causality.parameter, variability=Fmi2Variability.fixed))
        self.register_variable(Real("torque", causality=Fmi2Causality.input))
        self.register_variable(Real("angle", causality=Fmi2Causality.output))
        self.register_variable(Real("rate", causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        acceleration = -9.81 / self.length * math.sin(self.angle) - self.damping * self.rate + self.torque
        self.rate += step_size * acceleration
        self.angle += step_size * self.rate
        return True
