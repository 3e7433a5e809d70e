"""Variables of every kind, also in nested objects, and messages of every status."""

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real, String
from pythonfmu.fmi2slave import Fmi2Status


class Box:
    pass


class EveryKind(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.gain, self.count, self.switch, self.word = 0.5, 3, True, "höhe"
        self.real, self.integer, self.boolean, self.text = 0.0, 0, False, ""
        self.box = Box()
        self.box.inner = Box()
        self.box.inner.depth = 7
        self.box.width = 1.25
        tunable = dict(causality=Fmi2Causality.parameter, variability=Fmi2Variability.tunable)
        self.register_variable(Real("gain", **tunable))
        self.register_variable(Integer("count", **tunable))
        self.register_variable(Boolean("switch", **tunable))
        self.register_variable(String("word", **tunable))
        self.register_variable(Real("box.width", causality=Fmi2Causality.parameter, variability=Fmi2Variability.fixed))
        self.register_variable(Integer("box.inner.depth", **tunable))
        self.register_variable(Real("real", causality=Fmi2Causality.output))
        self.register_variable(Integer("integer", causality=Fmi2Causality.output, variability=Fmi2Variability.discrete))
        self.register_variable(Boolean("boolean", causality=Fmi2Causality.output, variability=Fmi2Variability.discrete))
        self.register_variable(String("text", causality=Fmi2Causality.output, variability=Fmi2Variability.discrete))

    def do_step(self, current_time, step_size):
        t = current_time + step_size
        self.real = self.gain * t * self.box.width
        self.integer += self.count * self.box.inner.depth
        self.boolean = self.switch and self.integer % 2 == 0
        self.text = f"{self.word} {self.integer}"
        self.log(f"at {t:.3f} we are 100% sure")
        self.log("this may go wrong", Fmi2Status.warning)
        return True
