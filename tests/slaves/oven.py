"""An oven with inputs of three kinds: it heats by switch times stage, and loses through the opening."""

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real, String


class Oven(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.switch, self.stage, self.opening, self.label = False, 0, 0.0, ""
        self.heat, self.changes, self.warm, self.text = 20.0, 0, False, "cold"
        discrete = dict(variability=Fmi2Variability.discrete)
        self.register_variable(Boolean("switch", causality=Fmi2Causality.input, **discrete))
        self.register_variable(Integer("stage", causality=Fmi2Causality.input, **discrete))
        self.register_variable(Real("opening", causality=Fmi2Causality.input))
        self.register_variable(String("label", causality=Fmi2Causality.input, **discrete))
        self.register_variable(Real("heat", causality=Fmi2Causality.output))
        self.register_variable(Integer("changes", causality=Fmi2Causality.output, **discrete))
        self.register_variable(Boolean("warm", causality=Fmi2Causality.output, **discrete))
        self.register_variable(String("text", causality=Fmi2Causality.output, **discrete))

    def do_step(self, current_time, step_size):
        self.heat += step_size * (self.switch * self.stage - self.opening)
        self.changes += 1
        self.warm = self.heat > 21.0
        return True
