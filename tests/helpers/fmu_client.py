"""The tests' side of fmu_host.py: FMU instances in another process, used as if they were in this one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from helpers.paths import TESTS

HOST = TESTS / "helpers" / "fmu_host.py"


class Refused(Exception):
    """A call that did not return OK or Warning. Its text contains the FMU's messages."""

    def __init__(self, status: int, said: str):
        super().__init__(f"[status {status}] {said}")
        self.status = status


class Host:
    """A process that runs FMUs. A crash in it fails the test that caused it, and no other."""

    def __init__(self, folder: Path):
        self._process = subprocess.Popen(
            [sys.executable, HOST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, text=True
        )
        self.said = ""  # by the FMU, during the last call
        self.died = False
        self._open: list[Slave] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask_in_vain(self, do: str, **request: Any) -> None:
        """Send a request and do not wait for the answer."""
        self._process.stdin.write(json.dumps(dict(do=do, **request)) + "\n")
        self._process.stdin.flush()
        self.died = True

    def ask(self, do: str, **request: Any) -> Any:
        try:
            self._process.stdin.write(json.dumps(dict(do=do, **request)) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.died = True
            raise AssertionError(
                f"the process that runs the FMU died (exit status {self._process.wait()}) during {do} {request}"
            )
        answer = json.loads(line)
        self.said = "\n".join(filter(None, (answer.get("problem"), answer["said"])))
        if answer["status"] > 1:
            raise Refused(answer["status"], self.said)
        return answer["value"]

    def open(self, fmu: Path, name: str = "instance", logging: bool = True, guid: str | None = None) -> Slave:
        self._open.append(Slave(self, **self.ask("open", fmu=str(fmu), name=name, logging=logging, guid=guid)))
        return self._open[-1]

    def free_all(self) -> None:
        """Free all open instances."""
        for slave in list(self._open):
            slave.free()

    def close(self) -> None:
        """End the process; fails when an FMU makes it crash at its end."""
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0, (
            f"the process that ran the FMU ended with status {self._process.returncode}"
        )

    def kill(self) -> None:
        """Kill the process, at the end of a test."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(BrokenPipeError):
                pipe.close()


class Slave:
    """One FMU instance, with variables by name."""

    def __init__(self, host: Host, slave: int, variables: Mapping[str, tuple[int, str]]):
        self.host, self._slave = host, slave
        self.references = {name: reference for name, (reference, _) in variables.items()}
        self._types = {name: "Integer" if kind == "Enumeration" else kind for name, (_, kind) in variables.items()}
        self.t = 0.0

    def _ask(self, do: str, **request: Any) -> Any:
        return self.host.ask(do, slave=self._slave, **request)

    def call(self, function: str, *arguments: Any) -> Any:
        """Call any function of FMPy's FMU2Slave."""
        return self._ask("call", function=function, arguments=list(arguments))

    # --- values -------------------------------------------------------------------------------------------------------

    def get(self, *names: str) -> list[float]:
        """Return values of any type, with one call for each type."""
        found: dict[str, float] = {}
        for kind, group in self._by_type(names).items():
            found.update(zip(group, self.call(f"get{kind}", [self.references[n] for n in group]), strict=True))
        return [found[n] for n in names]

    def __getitem__(self, name: str) -> float:
        return self.get(name)[0]

    def set(self, values: Mapping[str, float]) -> None:
        for kind, group in self._by_type(values).items():
            numbers = [values[n] if kind == "Real" else int(values[n]) for n in group]
            self.call(f"set{kind}", [self.references[n] for n in group], numbers)

    def _by_type(self, names: Iterable[str]) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(self._types[name], []).append(name)
        return groups

    # --- lifecycle ----------------------------------------------------------------------------------------------------

    def enter(self, start: Mapping[str, float] | None = None, tolerance: float | None = None, t: float = 0.0) -> Slave:
        """Into Initialization Mode, with the start values set before it."""
        if start:
            self.set(start)
        self.call("setupExperiment", tolerance, t)
        self.call("enterInitializationMode")
        self.t = t
        return self

    def initialize(
        self, start: Mapping[str, float] | None = None, tolerance: float | None = None, t: float = 0.0
    ) -> Slave:
        self.enter(start, tolerance, t).call("exitInitializationMode")
        return self

    def step(self, h: float, t: float | None = None) -> None:
        """Step from the present time of the instance, or from `t`."""
        self.call("doStep", self.t if t is None else t, h)
        self.t += h

    def run(
        self, steps: Sequence[float], outputs: Sequence[str], inputs: Mapping[str, Sequence[float]] | None = None
    ) -> np.ndarray:
        """Make many steps; return one row of outputs after each. inputs[name][i] is held over step i."""
        inputs = inputs or {}
        values = np.array(list(inputs.values()), dtype=float).T.tolist()
        references = [[self.references[n] for n in names] for names in (outputs, inputs)]
        rows = self._ask("run", t=self.t, steps=list(steps), outputs=references[0], inputs=references[1], values=values)
        for h in steps:
            self.t += h
        return np.array(rows)

    def discarded(self) -> tuple[float, bool]:
        """After a discarded step: the last successful time, and whether the FMU wants to end."""
        return tuple(self._ask("discarded"))

    def reset(self) -> None:
        self.call("reset")
        self.t = 0.0

    def free(self) -> None:
        self._ask("free")
        self.host._open.remove(self)

    # --- FMU state ----------------------------------------------------------------------------------------------------

    def save(self) -> tuple[int, float]:
        return self._ask("save"), self.t

    def restore(self, state: tuple[int, float]) -> None:
        self._ask("restore", state=state[0])
        self.t = state[1]

    def forget(self, state: tuple[int, float]) -> None:
        self._ask("forget", state=state[0])

    def to_bytes(self, state: tuple[int, float]) -> str:
        return self._ask("to_bytes", state=state[0])

    def from_bytes(self, data: str, t: float) -> tuple[int, float]:
        return self._ask("from_bytes", data=data), t
