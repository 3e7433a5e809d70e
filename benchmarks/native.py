"""Speed of compiled mechanisms and native FMUs in compiled loops, beside Pinocchio, MuJoCo and the Python FMU.

    python benchmarks/native.py [--quick] [--build]

For Linux with g++; needs `pip install ".[native,bench]"`. The loops stand in benchmarks/c; they are compiled at the
first run and kept in mechfmu's cache. All contenders get the same random states, and figures are shown only when all
computed the same accelerations. The exit status is 1 when they did not, or when one of the requirements at the end is
missed.
"""

from __future__ import annotations

import os

# one thread for everybody; read when NumPy is imported
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import ctypes
import math
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from loops import (
    C_FILES,
    CONSTANT,
    GENERATED,
    VARIABLE,
    Burst,
    GeneratedAba,
    PinocchioJoint,
    PinocchioModel,
    Report,
    build_seconds,
    check_agreement,
    compiled_loop,
    contest,
    duration,
    engine_bursts,
    generated_aba,
    own_operations,
    package_folder,
    pinocchio_bursts,
    pointer,
    report_generated,
    status,
)

from mechfmu import LinkChain
from mechfmu.codegen.c_model import model_c
from mechfmu.codegen.compiler import compile_library, default_compiler, host_platform
from mechfmu.codegen.sources import NATIVE, c_sources, fmu_source
from mechfmu.simulation.compiled import library
from mechfmu.simulation.engines import make_instance

POINTS = 8  # random states of each size, visited in turn
STEP, STEPS, TOLERANCE = 0.01, 100, 1e-6  # the example: one second in steps of 10 ms
CROWD = 10_000  # instances in one process
GENERATED_UP_TO = 100  # links, of Pinocchio's generated code

NOTES = (
    "CPU time of one thread, the fastest tenth of many short bursts; the bursts of compared contenders alternate.",
    "Engine c keeps all parameters variable and computes joint moments (springs, dampers, friction) and the energy "
    "balance as well. It is planar; Pinocchio and MuJoCo are general and carry full spatial data, mj_forward computes "
    "more than accelerations and factorises the mass matrix, which for a chain is cubic in n. The ratios show the "
    "price of generality, not quality.",
    "The directional derivative is that of rates and outputs together. The native FMU runs in a C host, the Python "
    "FMU, whose engine is casadi, in FMPy. Builds: wall clock, one platform, empty compiler cache.",
    "Pinocchio's generated code is its aba recorded with CasADi's scalar type, written as C by CasADi and compiled as "
    "ours with the same flags; all variable: masses, mass centres, lengths, inertias and gravity are arguments. "
    "It computes the accelerations alone.",
    "Pinocchio's code otherwise is the one inside its own library. Its Data object holds tensors of n^3 numbers, 32 GB "
    "at n = 1000: no figure.",
)


# --- one evaluation of the accelerations ------------------------------------------------------------------------------


@dataclass
class Case:
    """The chain of the example lengthened to n rods (0.1 m, 1 kg), and the states it is evaluated in.

    The chain is coiled: the mass matrix of a straight one of a thousand rods is so badly conditioned that too few
    digits could be compared.
    """

    chain: LinkChain
    q: np.ndarray
    dq: np.ndarray
    tau: np.ndarray

    @staticmethod
    def of(n: int) -> Case:
        random = np.random.default_rng(n)
        angles = 0.6 + random.uniform(-0.2, 0.2, (POINTS, n))
        return Case(
            LinkChain(links=n, length=0.1 * n, mass=1.0 * n),
            angles,
            random.normal(0, 1, (POINTS, n)),
            random.normal(0, 1, (POINTS, n)),
        )

    @property
    def p(self) -> Any:
        return self.chain.table.p(self.chain.start()[4])

    def engine(self, chain: LinkChain) -> tuple[dict[str, Burst], np.ndarray]:
        """Bursts of the rates and of the directional derivative, and where the accelerations appear."""
        table = chain.table
        _, x, _, u, p = chain.start()
        x, u = np.tile(x, (POINTS, 1)), np.tile(u, (POINTS, 1))
        x[:, table.x.part("q")], x[:, table.x.part("dq")], u[:, table.u.part("tau")] = self.q, self.dq, self.tau
        bursts, out = engine_bursts(chain, x, u, p)
        return bursts, out[:, table.x.part("dq")]

    def constant(self) -> LinkChain:
        """The chain with all parameters as constants, and without energies."""
        return LinkChain(**{**self.chain.options, "energy": "off"}).baked("all")

    def generated(self, variable: bool) -> GeneratedAba:
        """Pinocchio's generated code, with the parameters of the chain as arguments or as constants."""
        model = self.model()
        numbers = np.array([joint.numbers() for joint in model.joints])
        mask = np.concatenate([np.ravel(numbers != 0), np.array(model.gravity) != 0])
        joint_mask = mask[: numbers.size].reshape(numbers.shape)
        joint_mask[:, :9] = joint_mask[:, 12:15] = False  # rotations and axes
        return generated_aba(model, mask & variable, self.q, self.dq, self.tau)

    def model(self) -> PinocchioModel:
        p, joints = self.p, []
        for k in range(self.chain.links):
            point, com = np.array([p.l[k - 1] if k else 0.0, 0.0, 0.0]), np.array([p.lc[k], 0.0, 0.0])
            joints.append(
                PinocchioJoint(
                    "revolute", k, np.eye(3), point, np.array([0.0, 0.0, 1.0]), p.m[k], com, p.J[k] * np.eye(3)
                )
            )
        return PinocchioModel(joints, (0.0, -p.gravity, 0.0))

    def pinocchio(self) -> tuple[Burst, np.ndarray]:
        return pinocchio_bursts(self.model(), self.q, self.dq, self.tau)["Pinocchio, world axes"]

    def mujoco(self) -> tuple[Burst, np.ndarray]:
        import mujoco  # type: ignore[import-untyped]

        p, loop, qdd = self.p, mujoco_loop(), np.zeros_like(self.q)
        spec = mujoco.MjSpec()  # and not XML, whose reader refuses a thousand nested bodies
        spec.option.gravity = [0.0, -p.gravity, 0.0]
        body = spec.worldbody
        for k in range(self.chain.links):
            place = [p.l[k - 1] if k else 0.0, 0.0, 0.0]
            body = body.add_body(
                pos=place, mass=p.m[k], ipos=[p.lc[k], 0.0, 0.0], inertia=[p.J[k]] * 3, explicitinertial=True
            )
            body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 0.0, 1.0])
        loop.mujoco_chain.restype, loop.mujoco_burst.restype = ctypes.c_void_p, ctypes.c_double
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "chain.mjb")
            mujoco.mj_saveModel(spec.compile(), file)
            chain = ctypes.c_void_p(loop.mujoco_chain(file.encode()))
        kept = [self.q, self.dq, self.tau, qdd]
        return lambda count: float(
            loop.mujoco_burst(chain, ctypes.c_size_t(POINTS), *map(pointer, kept), ctypes.c_size_t(count))
        ), qdd


def mujoco_loop() -> ctypes.CDLL:
    folder = package_folder("mujoco")
    (shared,) = folder.glob("libmujoco.so.*")
    return compiled_loop("mujoco_loop.c", "-I", str(folder / "include"), str(shared), f"-Wl,-rpath,{folder}")


def evaluations(n: int, peers: Sequence[str], rounds: int) -> tuple[dict[str, float], dict[str, int]]:
    """Seconds of one evaluation and numbers of operations, by contender."""
    case = Case.of(n)
    bursts, qdd = case.engine(case.chain)
    accelerations, operations = {"engine c": qdd}, {}
    if n <= GENERATED_UP_TO:
        for variant, chain in ((VARIABLE, case.chain), (CONSTANT, case.constant())):
            own, qdd = case.engine(chain)
            generated = case.generated(variable=variant == VARIABLE)
            bursts |= {f"engine c, {variant}": own["engine c"], f"{GENERATED}, {variant}": generated.burst}
            accelerations |= {f"engine c, {variant}": qdd, f"{GENERATED}, {variant}": generated.vdot}
            operations[f"engine c, {variant}"] = own_operations(chain)
            operations[f"{GENERATED}, {variant}"] = generated.operations
    for name in peers:
        bursts[name], accelerations[name] = {"Pinocchio": case.pinocchio, "MuJoCo": case.mujoco}[name]()
    for name in accelerations:
        bursts[name](POINTS)
    check_agreement(f"n = {n}", accelerations)
    slow = {name: bursts.pop(name) for name in peers if n > 300}
    return contest(bursts, rounds) | contest(slow, min(rounds, 5)), operations


# --- steps of an FMU --------------------------------------------------------------------------------------------------


class Host:
    """An FMU in the small C host."""

    def __init__(self, binary: Path, guid: str):
        self.loop = compiled_loop("fmu_host.c", "-I", str(fmu_source("fmi")))
        self.loop.host_open.restype = ctypes.c_void_p
        self.loop.host_steps.restype = self.loop.host_crowd.restype = ctypes.c_double
        self._texts = (str(binary).encode(), guid.encode())
        self.host = ctypes.c_void_p(self.loop.host_open(*self._texts, ctypes.c_double(TOLERANCE)))
        if not self.host:
            sys.exit(f"{binary.name} did not start")

    def step_seconds(self, _: int = 1) -> float:
        """CPU seconds of one step, the mean over the run."""
        seconds = self.loop.host_steps(self.host, ctypes.c_double(STEP), ctypes.c_size_t(STEPS))
        if seconds < 0:
            sys.exit("a step failed")
        return float(seconds) / STEPS

    def crowd(self, count: int) -> tuple[float, float]:
        """CPU seconds and bytes of one more instance, initialized and after its first step."""
        before = resident_bytes()
        seconds = self.loop.host_crowd(self.host, ctypes.c_double(TOLERANCE), ctypes.c_size_t(count))
        if seconds < 0 or self.loop.host_crowd_step(self.host, ctypes.c_double(STEP)):
            sys.exit(f"{count} instances could not be made and stepped")
        grown = resident_bytes() - before
        self.loop.host_disperse(self.host)
        return seconds / count, grown / count


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def crowd_apart(binary: Path, guid: str) -> tuple[float, float]:
    """The crowd in a new process: in an old one, memory given back before would be taken first and would not show."""
    command = [sys.executable, str(Path(__file__).resolve()), "--crowd", str(binary), guid]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the process with {CROWD} instances failed:\n{done.stderr}")
    seconds, size = done.stdout.split()
    return float(seconds), float(size)


def unpacked(fmu: Path, folder: Path) -> tuple[Path, str]:
    """The library of a native FMU for this platform, and its GUID."""
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    guid = re.search(r'guid="([^"]+)"', (folder / "modelDescription.xml").read_text(encoding="utf-8"))
    assert guid is not None
    (binary,) = (folder / "binaries" / host_platform()).iterdir()
    return binary, guid[1]


def counted_states(chain: LinkChain, folder: Path) -> np.ndarray:
    """The states at which a run of the FMU evaluates the rates: the same C code, built with a counter around them."""
    guid, counter = "counted", (C_FILES / "counted_rates.inc").read_text()
    text = model_c(chain, guid, {})
    for old, new in (
        (".rates = model_rates", ".rates = counted_rates"),
        ("const Model model =", f"{counter}\nconst Model model ="),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    runtime, target = c_sources(*NATIVE), folder / "counted.so"
    for name, content in (runtime | {"model.c": text}).items():
        (folder / name).write_text(content)
    sources = sorted(name for name in runtime if name.endswith(".c"))
    compile_library(folder, sources, target, host_platform(), default_compiler(), generated=["model.c"])
    host, library_of_host = Host(target, guid), ctypes.CDLL(str(target))
    library_of_host.counted.restype = ctypes.c_size_t
    nx = chain.table.x.size
    states = np.zeros((200 * STEPS, nx))
    library_of_host.count_into(pointer(states), ctypes.c_size_t(len(states)), ctypes.c_size_t(nx))
    host.step_seconds()
    count = library_of_host.counted()
    assert 0 < count <= len(states)
    return states[:count].copy()


def bare_burst(chain: LinkChain, states: np.ndarray) -> Burst:
    """One pass over these states: CPU seconds of all evaluations together."""
    functions, loop, w_size = library(chain), compiled_loop("engine_loop.c"), library(chain).engine_work
    w_size.restype, loop.rates_burst.restype = ctypes.c_size_t, ctypes.c_double
    _, _, _, u, p = chain.start()
    count, nx = states.shape
    kept = [states, np.tile(u, (count, 1)), p, np.zeros_like(states), np.zeros(w_size() + 1)]
    arguments = [
        *(ctypes.c_size_t(s) for s in (count, nx, u.size)),
        *(pointer(a) for a in kept),
        ctypes.c_size_t(count),
    ]

    def burst(_: int) -> float:
        assert kept
        return float(loop.rates_burst(functions.engine_rates, *arguments) * count)

    return burst


def python_fmu_step(fmu: Path, folder: Path, runs: int) -> float:
    """CPU seconds of one step of the Python FMU, whose engine is casadi, through FMPy."""
    import fmpy
    from fmpy.fmi2 import FMU2Slave

    description = fmpy.read_model_description(str(fmu))
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=fmpy.extract(str(fmu), str(folder)),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="benchmark",
    )
    slave.instantiate()
    best = math.inf
    for _ in range(runs):
        slave.setupExperiment(tolerance=TOLERANCE, startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        began = time.thread_time()
        for i in range(STEPS):
            slave.doStep(i * STEP, STEP)
        best = min(best, (time.thread_time() - began) / STEPS)
        slave.terminate()
        slave.reset()
    slave.freeInstance()
    return best


def instance_step(engine: str, runs: int) -> float:
    """CPU seconds of one step of a run in Python, without an FMU."""
    best = math.inf
    for _ in range(runs):
        instance = make_instance(LinkChain(links=10), None, engine)
        instance.initialize(0.0, TOLERANCE)
        began = time.thread_time()
        for i in range(STEPS):
            instance.step(i * STEP, STEP)
        best = min(best, (time.thread_time() - began) / STEPS)
    return best


# --- the whole --------------------------------------------------------------------------------------------------------


def report_evaluations(report: Report, rounds: int, progress: Callable[[str], None]) -> None:
    times: dict[int, dict[str, float]] = {}
    for n, peers in ((10, ("Pinocchio", "MuJoCo")), (100, ("Pinocchio", "MuJoCo")), (1000, ("MuJoCo",))):
        progress(f"accelerations of {n} links")
        found, operations = evaluations(n, peers, rounds)
        times[n] = found
        own = found["engine c"]
        per_body = "" if n == 10 else f"{own / n / (times[10]['engine c'] / 10):.2f} times n = 10 per body"
        report.line("accelerations, engine c", n, own, per_body)
        for name in peers:
            report.line(f"accelerations, {name}", n, found[name], f"{found[name] / own:.3g} times engine c")
        report.line(
            "directional derivative",
            n,
            found["directional derivative"],
            f"{found['directional derivative'] / own:.2f} times engine c",
        )
        report.section()
        if n <= GENERATED_UP_TO:
            report_generated(report, "accelerations", n, found, operations)
            report.section()
    for n in (10, 100):
        ratio = times[n]["engine c"] / times[n]["Pinocchio"]
        report.require(f"engine c takes at most 1/6 of Pinocchio's time at n = {n}: 1/{1 / ratio:.2f}", ratio <= 1 / 6)
    growth = times[1000]["engine c"] / 1000 / (times[10]["engine c"] / 10)
    report.require(
        f"engine c's time per body at n = 1000 is at most 2.2 times that at n = 10: {growth:.2f} times", growth <= 2.2
    )


def report_steps(report: Report, rounds: int, progress: Callable[[str], None]) -> None:
    chain = LinkChain(links=10)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in ("counted", "native", "python"):
            (folder / name).mkdir()
        progress("building the FMUs of 10 links")
        native_fmu, python_fmu = chain.build(folder, kind="both")
        binary, guid = unpacked(native_fmu, folder / "native")
        host = Host(binary, guid)
        states = counted_states(chain, folder / "counted")
        progress("steps of the native FMU")
        times = contest({"step": host.step_seconds, "bare": bare_burst(chain, states)}, 5 * rounds)
        native, bare = times["step"], times["bare"] / STEPS
        progress("steps of the Python FMU")
        python = python_fmu_step(python_fmu, folder / "python", max(3, rounds // 5))
        progress("steps with the numpy engine")
        numpy = instance_step("numpy", max(2, rounds // 60))
        progress(f"{CROWD} instances")
        instance_seconds, instance_bytes = crowd_apart(binary, guid)
    report.line("10 ms step, native FMU", 10, native, f"{STEP / native:.0f} times real time")
    report.line(
        "its bare evaluations", 10, bare, f"{len(states) / STEPS:.1f} of them, {100 * bare / native:.0f} % of it"
    )
    report.line("10 ms step, Python FMU", 10, python, f"{python / native:.0f} times the native FMU")
    report.line("10 ms step, numpy engine", 10, numpy, f"{numpy / native:.0f} times the native FMU")
    report.section()
    report.line(f"instance, one of {CROWD}", 10, instance_seconds, f"{instance_bytes / 1000:.1f} kB after a step")
    report.section()
    report.require(
        f"a step of the native FMU is at least 100 times faster than with the numpy engine: {numpy / native:.0f} times",
        numpy / native >= 100,
    )
    report.require(
        f"a step of the native FMU is at least 10 times faster than of the Python FMU: {python / native:.0f} times",
        python / native >= 10,
    )
    over = 100 * (native / bare - 1)
    report.require(
        f"FMI layer and solver take at most 25 % over the bare evaluations of the same steps: {over:.1f} %", over <= 25
    )
    report.require(
        f"an instance is made and initialized in at most 1 ms: {duration(instance_seconds)}", instance_seconds <= 1e-3
    )
    text = f"an instance needs at most 200 kB, and {CROWD} live in one process: {instance_bytes / 1000:.1f} kB"
    report.require(text, instance_bytes <= 200e3)


def report_builds(report: Report, progress: Callable[[str], None]) -> None:
    for n, limit in ((100, 60.0), (1000, 300.0)):
        progress(f"building the native FMU of {n} links")
        seconds, used = build_seconds("link_chain", "--option", f"links={n}")
        report.line("build of the native FMU", n, seconds, f"{used:.0f} s of CPU time")
        report.require(
            f"the native FMU of {n} links is built in at most {limit:.0f} s: {seconds:.0f} s", seconds <= limit
        )
    report.section()


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure compiled mechanisms and native FMUs in compiled loops.")
    parser.add_argument("--quick", action="store_true", help="fewer bursts, for a first look")
    parser.add_argument(
        "--build", action="store_true", help="also time the builds of FMUs of 100 and 1000 links (minutes)"
    )
    parser.add_argument("--crowd", nargs=2, metavar=("LIBRARY", "GUID"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crowd:
        print(*Host(Path(options.crowd[0]), options.crowd[1]).crowd(CROWD))
        return 0
    if not sys.platform.startswith("linux") or not shutil.which("g++"):
        sys.exit("this benchmark needs Linux and g++")
    rounds = 30 if options.quick else 300
    report = Report("links", NOTES)
    with status("") as update:
        report_evaluations(report, rounds, update)
        report_steps(report, rounds, update)
        if options.build:
            report_builds(report, update)
    return report.show()


if __name__ == "__main__":
    sys.exit(main())
