"""A slave that does whatever can go wrong, when the input `trouble` asks for it."""

import ctypes
import os
import subprocess
import sys
import time

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real, String


class Troublesome(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.trouble, self.total, self.text = 0, 0.0, ""
        self.register_variable(Integer("trouble", causality=Fmi2Causality.input, variability=Fmi2Variability.discrete))
        self.register_variable(String("text", causality=Fmi2Causality.input, variability=Fmi2Variability.discrete))
        self.register_variable(Real("total", causality=Fmi2Causality.output))
        self.register_variable(Real("process", causality=Fmi2Causality.output, getter=lambda: float(os.getpid())))
        self.register_variable(
            String(
                "python",
                causality=Fmi2Causality.output,
                variability=Fmi2Variability.discrete,
                getter=lambda: sys.executable,
            )
        )
        self.register_variable(
            Integer(
                "length",
                causality=Fmi2Causality.output,
                variability=Fmi2Variability.discrete,
                getter=lambda: len(self.text),
            )
        )
        self.register_variable(
            String(
                "echo", causality=Fmi2Causality.output, variability=Fmi2Variability.discrete, getter=lambda: self.text
            )
        )

    def do_step(self, current_time, step_size):
        if self.trouble:
            getattr(self, f"trouble_{self.trouble}")()
        self.total += step_size
        return True

    def trouble_1(self):
        raise ValueError("a hundred per cent: 100 %s %n")

    def trouble_2(self):
        self.trouble_2()

    def trouble_3(self):
        sys.exit(3)

    def trouble_4(self):
        os._exit(4)

    def trouble_5(self):
        sys.stderr.write("I cannot go on\n")
        ctypes.string_at(0)  # a segmentation fault

    def trouble_6(self):
        print("to standard output")
        sys.stderr.write("to standard error\n")
        subprocess.run(["echo", "from another program"], check=True)
        os.write(1, b"past Python\n")

    def trouble_7(self):
        for _ in range(100_000):
            print("x" * 100)

    def trouble_8(self):
        self.log("y" * 1_000_000_000)

    def trouble_9(self):
        time.sleep(1000)

    def trouble_10(self):
        while True:
            pass

    def trouble_11(self):
        os.closerange(0, 100)

    def trouble_12(self):
        raise KeyboardInterrupt

    def trouble_13(self):
        ctypes.pythonapi.sleep(1000)  # holds the interpreter's lock

    def trouble_14(self):
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        os.write(2, b"I leave a child behind\n")
        os._exit(14)

    def trouble_15(self):
        print("日本語 " * 10_000)
        os.write(2, b"the reason, with a byte \xff that is not UTF-8\n")
        os._exit(15)

    def trouble_16(self):
        class Mute(BaseException):
            def __str__(self):
                raise RuntimeError

        raise Mute
