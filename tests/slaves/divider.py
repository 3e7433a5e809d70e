"""A voltage divider: Reals in every role."""

from pythonfmu import DefaultExperiment, Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Divider(Fmi2Slave):
    author = "mechfmu"
    description = "Two resistors in series"
    default_experiment = DefaultExperiment(start_time=0.0, stop_time=1.0, step_size=0.01)

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.upper, self.lower = 1200.0, 3300.0
        self.source = 5.0
        self.voltage = self.current = self.loss = 0.0
        for name in ("upper", "lower"):
            self.register_variable(Real(name, causality=Fmi2Causality.parameter, variability=Fmi2Variability.tunable))
        self.register_variable(Real("source", causality=Fmi2Causality.input))
        self.register_variable(Real("voltage", causality=Fmi2Causality.output))
        self.register_variable(Real("current", causality=Fmi2Causality.output))
        self.register_variable(Real("loss", causality=Fmi2Causality.local))

    def do_step(self, current_time, step_size):
        self.current = self.source / (self.upper + self.lower)
        self.voltage = self.current * self.lower
        self.loss += self.source * self.current * step_size
        return True
