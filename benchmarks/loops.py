"""Shared by the benchmarks in compiled loops: the loops, Pinocchio in one of them, fair timing, and the report."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import casadi
import numpy as np

from mechfmu.cli.progress import Reporter
from mechfmu.codegen.c_model import boundary_count, graphs
from mechfmu.codegen.cache import cache_folder
from mechfmu.codegen.compiler import compile_library, default_compiler, host_platform
from mechfmu.codegen.program import OUTPUT, Program
from mechfmu.codegen.sources import fmu_source
from mechfmu.console import Console, Styled, TextTable
from mechfmu.model import Mechanism
from mechfmu.simulation.compiled import library

C_FILES = Path(__file__).resolve().parent / "c"
AGREEMENT = 1e-8  # relative to the largest acceleration

console, status = Console(), Reporter().status


# --- the compiled loops -----------------------------------------------------------------------------------------------


def compiled_loop(source: str, *flags: str) -> ctypes.CDLL:
    """The file of benchmarks/c as a loaded library whose functions return CPU seconds unless told otherwise."""
    command = [
        "g++" if source.endswith(".cpp") else "gcc",
        "-O2",
        "-DNDEBUG",
        "-shared",
        "-fPIC",
        "-Wall",
        "-Wextra",
        str(C_FILES / source),
        *flags,
    ]
    texts = [" ".join(command), *((C_FILES / name).read_text() for name in ("burst.h", "pinocchio_model.h", source))]
    target = (
        cache_folder()
        / f"benchmark_{Path(source).stem}_{hashlib.sha256(chr(0).join(texts).encode()).hexdigest()[:16]}.so"
    )
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([*command, "-o", str(target)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{source} did not compile:\n{done.stderr}")
    return ctypes.CDLL(str(target))


def package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        sys.exit(f"the Python package {name} is missing: pip install '.[native,bench]'")
    return Path(spec.origin).parent


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    assert array.flags.c_contiguous and array.dtype in (float, np.int32)
    return ctypes.c_void_p(array.ctypes.data)


Burst = Callable[[int], float]  # that many evaluations -> CPU seconds of one
Contenders = dict[str, tuple[Burst, np.ndarray]]  # with the array of the accelerations


def contest(bursts: dict[str, Burst], rounds: int, seconds: float = 0.002) -> dict[str, float]:
    """CPU seconds of one evaluation by contender: of its fast bursts, since other load makes bursts slower.

    It is the end of the fastest tenth, not the fastest burst: the clock of a virtual machine under load now and then
    loses a part of a burst.
    """
    counts = {name: max(1, math.ceil(seconds / burst(1))) for name, burst in bursts.items()}
    taken: dict[str, list[float]] = {name: [] for name in bursts}
    for _ in range(rounds):
        for name, burst in bursts.items():
            taken[name].append(burst(counts[name]))
    return {name: float(np.quantile(times, 0.1)) for name, times in taken.items()}


def engine_bursts(
    mechanism: Mechanism, x: np.ndarray, u: np.ndarray, p: np.ndarray
) -> tuple[dict[str, Burst], np.ndarray]:
    """Bursts of engine c at the points (x[i], u[i]), of rates and tangent; and the array of the rates."""
    table, functions, loop = mechanism.table, library(mechanism), compiled_loop("engine_loop.c")
    functions.engine_work.restype = ctypes.c_size_t
    out, w = np.zeros_like(x), np.zeros(functions.engine_work() + 1)
    seeds = [np.ones(table.x.size), np.zeros(table.u.size), np.zeros(table.p.size)]
    derivative = [np.zeros(table.x.size), np.zeros(table.y.size)]
    loop.rates_burst.restype = loop.tangent_burst.restype = ctypes.c_double
    sizes = [ctypes.c_size_t(s) for s in (len(x), table.x.size, table.u.size)]
    kept = [x, u, p, out, w, *seeds, *derivative]  # what the loops point to

    def rates(count: int) -> float:
        return float(loop.rates_burst(functions.engine_rates, *sizes, *map(pointer, kept[:5]), ctypes.c_size_t(count)))

    def tangent(count: int) -> float:
        along = [pointer(a) for a in (*kept[:3], *seeds, *derivative, w)]
        return float(loop.tangent_burst(functions.engine_tangent, *sizes, *along, ctypes.c_size_t(count)))

    return {"engine c": rates, "directional derivative": tangent}, out


class FmuHost:
    """A native FMU in the small C host, with its built-in start values."""

    def __init__(self, fmu: Path, folder: Path, tolerance: float):
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(folder)
        guid = re.search(r'guid="([^"]+)"', (folder / "modelDescription.xml").read_text(encoding="utf-8"))
        assert guid is not None
        (binary,) = (folder / "binaries" / host_platform()).iterdir()
        self.loop = compiled_loop("fmu_host.c", "-I", str(fmu_source("fmi")))
        self.loop.host_open.restype, self.loop.host_steps.restype = ctypes.c_void_p, ctypes.c_double
        self._texts = (str(binary).encode(), guid[1].encode())  # the host points to them
        self.host = ctypes.c_void_p(self.loop.host_open(*self._texts, ctypes.c_double(tolerance)))

    def seconds(self, step: float, count: int) -> float:
        """CPU seconds of that many communication steps from t = 0."""
        taken = float(self.loop.host_steps(self.host, ctypes.c_double(step), ctypes.c_size_t(count)))
        if taken < 0:
            sys.exit("a step failed")
        return taken


# --- Pinocchio --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PinocchioJoint:
    """A joint of Pinocchio: its frame in that of its parent (0: the base, joints count from 1), and its body."""

    kind: str  # revolute, prismatic or spherical
    parent: int
    rotation: np.ndarray
    point: np.ndarray
    axis: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray  # about the mass centre

    def code(self) -> int:
        """The cheapest of Pinocchio's joints that can do it."""
        along = [k for k in range(3) if self.axis[k] == 1.0]
        return 8 if self.kind == "spherical" else (0 if self.kind == "revolute" else 4) + (along[0] if along else 3)

    def numbers(self) -> list[float]:
        return [*self.rotation.ravel(), *self.point, *self.axis, self.mass, *self.com, *self.inertia.ravel()]


@dataclass(frozen=True)
class PinocchioModel:
    """The joints as the arrays that the compiled loops read."""

    joints: Sequence[PinocchioJoint]
    gravity: Sequence[float]

    def arrays(self) -> list[np.ndarray]:
        codes, parents = [j.code() for j in self.joints], [j.parent for j in self.joints]
        numbers = np.array([j.numbers() for j in self.joints])
        return [np.array(codes, np.int32), np.array(parents, np.int32), numbers, np.array(self.gravity, float)]

    def numbers(self) -> np.ndarray:
        """All numbers: those of each joint, then gravity."""
        return np.concatenate([np.ravel(array) for array in self.arrays()[2:]])


def pinocchio_bursts(model: PinocchioModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Contenders:
    """Bursts of both forms of aba at the points (q[i], v[i], tau[i]), each with the array of its accelerations."""
    loop, arrays = _pinocchio_library("pinocchio_loop.cpp"), model.arrays()
    loop.pinocchio_mechanism.restype, loop.pinocchio_burst.restype = ctypes.c_void_p, ctypes.c_double
    mechanism = ctypes.c_void_p(loop.pinocchio_mechanism(len(model.joints), *map(pointer, arrays)))

    def form(local: int) -> tuple[Burst, np.ndarray]:
        kept = [q, v, tau, np.zeros_like(v)]
        return lambda count: float(
            loop.pinocchio_burst(mechanism, local, ctypes.c_size_t(len(q)), *map(pointer, kept), ctypes.c_size_t(count))
        ), kept[3]

    return {"Pinocchio, world axes": form(0), "Pinocchio, body axes": form(1)}


def _pinocchio_library(source: str, *more: str) -> ctypes.CDLL:
    prefix = package_folder("pinocchio").parents[3]  # <prefix>/lib/pythonX.Y/site-packages/pinocchio
    places = [
        prefix / "include" / "eigen3",
        package_folder("casadi") / "include" / "eigen3",
    ]  # of cmeel-eigen; casadi brings it too
    eigen = next((place for place in places if place.exists()), None) or sys.exit(
        "the headers of Eigen are missing: pip install cmeel-eigen"
    )
    definitions = (
        "PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
        "BOOST_MPL_LIMIT_LIST_SIZE=30",
        "BOOST_MPL_LIMIT_VECTOR_SIZE=30",
        "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
        "BOOST_FUSION_INVOKE_MAX_ARITY=12",
    )
    headers = [option for folder in (prefix / "include", eigen) for option in ("-isystem", str(folder))]
    library = [f"-L{prefix / 'lib'}", "-lpinocchio_default", f"-Wl,-rpath,{prefix / 'lib'}"]
    return compiled_loop(source, "-std=c++17", *(f"-D{d}" for d in definitions), *headers, *library, *more)


# --- code generated from Pinocchio's aba ------------------------------------------------------------------------------


@dataclass(frozen=True)
class GeneratedAba:
    """Code that CasADi writes of Pinocchio's aba, compiled as our own, in the form with fewer operations."""

    burst: Burst
    vdot: np.ndarray
    operations: int


def generated_aba(
    model: PinocchioModel, variable: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray
) -> GeneratedAba:
    """Record, write, compile. variable: which of model.numbers() are arguments of the code, and not constants."""
    casadi_folder = package_folder("casadi")
    flags = ["-O0", "-isystem", str(casadi_folder / "include"), f"-L{casadi_folder}", "-lcasadi"]
    recorder = _pinocchio_library("pinocchio_graph.cpp", *flags, f"-Wl,-rpath,{casadi_folder}")
    mask, arrays, numbers = np.ascontiguousarray(variable, dtype=np.uint8), model.arrays(), model.numbers()
    with tempfile.TemporaryDirectory() as temporary:
        folder, graphs = Path(temporary), []
        for local in (0, 1):
            file = folder / f"aba_{local}.casadi"
            arguments = [*map(pointer, arrays), ctypes.c_void_p(mask.ctypes.data)]
            recorder.pinocchio_graph(str(file).encode(), local, len(model.joints), *arguments)
            graph = casadi.Function.load(str(file))
            symbols = graph.sx_in()
            graphs.append(casadi.Function("aba", symbols, casadi.cse(graph.call(symbols))))
        best = min(graphs, key=operation_count)
        code = folder / "aba.c"
        code.write_text(_generated(best))
        target = folder / "aba.so"
        compile_library(folder, [], target, host_platform(), default_compiler(), generated=[code.name])
        function = ctypes.CDLL(str(target)).aba
    loop = compiled_loop("graph_loop.c")
    loop.graph_burst.restype = ctypes.c_double
    kept = [q, v, tau, numbers[mask > 0].copy(), np.zeros_like(v), np.zeros(best.sz_w() + 1)]
    sizes = [ctypes.c_size_t(s) for s in (len(q), q.shape[1], v.shape[1])]
    return GeneratedAba(
        lambda count: float(loop.graph_burst(function, *sizes, *map(pointer, kept), ctypes.c_size_t(count))),
        kept[4],
        operation_count(best),
    )


def own_operations(mechanism: Mechanism) -> int:
    """The number of operations of the rates in the generated code."""
    (rates,) = (graph for graph in graphs(mechanism) if graph.name() == "rates")
    return int(np.sum(Program.of(rates, boundary_count(rates)).operation < OUTPUT))


def operation_count(graph: casadi.Function) -> int:
    """The number of operations, without reading inputs and constants and writing outputs."""
    free = (casadi.OP_INPUT, casadi.OP_OUTPUT, casadi.OP_CONST)
    return sum(graph.instruction_id(k) not in free for k in range(graph.n_instructions()))


def _generated(graph: casadi.Function) -> str:
    generator = casadi.CodeGenerator("aba.c")
    generator.add(graph)
    return "#define GCC_HASCLASSVISIBILITY\n" + str(generator.dump())


CONSTANT, VARIABLE = "constants, no energies", "all variable"
GENERATED = "Pinocchio's generated code"


def report_generated(
    report: Report, what: str, size: int, times: Mapping[str, float], operations: Mapping[str, int]
) -> None:
    """Lines and requirements for the contest with Pinocchio's own generated code. Keys: contender, then the case."""
    for case, limit in ((VARIABLE, 1.0), (CONSTANT, 0.8)):
        own, peer = times[f"engine c, {case}"], times[f"{GENERATED}, {case}"]
        for name, seconds in (("engine c", own), (GENERATED, peer)):
            count = operations[f"{name}, {case}"]
            ratio = "" if name == "engine c" else f", {seconds / own:.3g} times engine c"
            report.line(f"{what}, {name}, {case}", size, seconds, f"{count} operations{ratio}")
        text = f"{what}, {case}: engine c takes at most {limit:g} of the time of {GENERATED}: {own / peer:.2f}"
        report.require(text, own <= limit * peer)


def check_agreement(what: str, accelerations: dict[str, np.ndarray]) -> None:
    """The first contender is right when all agree; no figures otherwise."""
    (first, right), *_ = accelerations.items()
    largest = np.max(np.abs(right), axis=1)
    worst = {
        name: float(np.max(np.max(np.abs(found - right), axis=1) / largest)) for name, found in accelerations.items()
    }
    for name, difference in worst.items():
        if not difference <= AGREEMENT:  # written so that NaN is refused
            sys.exit(
                f"no figures: for {what} {name} and {first} differ by {difference:.1e} of the largest acceleration "
                f"(allowed: {AGREEMENT:g})"
            )
    console.print(f"{what}: {', '.join(accelerations)} agree to {max(worst.values()):.0e} in {len(right)} states")


# --- building ---------------------------------------------------------------------------------------------------------


def build_seconds(*arguments: str) -> tuple[float, float]:
    """Wall-clock and CPU seconds of `mechfmu build` with these arguments, in a new process with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        caches = {name: str(Path(folder) / "cache") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
        command = [sys.executable, "-m", "mechfmu", "build", *arguments, "-o", str(Path(folder) / "out")]
        began, used = time.perf_counter(), _children_seconds()
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **caches})
        if done.returncode:
            sys.exit(f"{' '.join(command[2:])} failed:\n{done.stdout}{done.stderr}")
        return time.perf_counter() - began, _children_seconds() - used


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# --- the report -------------------------------------------------------------------------------------------------------


@dataclass
class Report:
    """Lines of a table, notes and requirements. `size` is the title of the second column."""

    size: str
    notes: tuple[str, ...]
    lines: list[tuple[str, str, str, str]] = field(default_factory=list)
    found: list[tuple[str, bool]] = field(default_factory=list)

    def line(self, what: str, n: int | str, time: float | str, ratio: str = "") -> None:
        self.lines.append((what, str(n), duration(time) if isinstance(time, float) else time, ratio))

    def section(self) -> None:
        self.lines.append(("", "", "", ""))

    def require(self, text: str, holds: bool) -> None:
        self.found.append((text, bool(holds)))

    def show(self) -> int:
        """Prints everything; the exit status."""
        table = TextTable("what", self.size, "one takes", "that is", right=(1, 2))
        for line in self.lines:
            if line[0]:
                table.add_row(*line)
            else:
                table.add_rule()
        console.print_table(table)
        for note in self.notes:
            console.print_wrapped(Styled(note, "dim"))
        for text, holds in self.found:
            console.print(Styled(f"{'PASS' if holds else 'FAIL'}  {text}", "green" if holds else "red"))
        return 0 if all(holds for _, holds in self.found) else 1


def duration(seconds: float) -> str:
    for limit, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= limit:
            return f"{seconds / limit:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
