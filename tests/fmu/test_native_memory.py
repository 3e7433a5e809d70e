"""The C code under compiler warnings, sanitizers and valgrind; many instances, threads, and their memory."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.native_build import C, Native, extra, run, zig
from helpers.native_fmi import MODEL_EXCHANGE, Fmu
from helpers.native_mechanisms import Driven, TwoBalls, Wheel
from helpers.needs import tool
from helpers.tolerances import MEMORY_PER_INSTANCE
from mechfmu import LinkChain
from mechfmu.model import Mechanism
from mechfmu.simulation.batch import INSTRUCTION_SETS, batch_files, instruction_set

pytest_plugins = ("helpers.native_fixtures",)

LINUX = sys.platform == "linux"
only_linux = pytest.mark.skipif(
    not LINUX, reason="the sanitizers and valgrind of Linux; the code is the same elsewhere"
)

MECHANISMS: dict[str, Callable[[], Mechanism]] = {
    "chain": lambda: LinkChain(links=2, base="moving"),
    "driven": Driven,
    "wheel": Wheel,
    "two_balls": TwoBalls,
}
every_mechanism = pytest.mark.parametrize("which", MECHANISMS)


def call_table(native: Native, which: str, label: str, *flags: str) -> Path:
    """Return tests/c/call_table.c, linked with runtime and model."""
    mechanism = MECHANISMS[which]()
    sources = [*native.c_files(mechanism), C / "call_table.c"]
    return native.program(
        f"call_table_{which}_{label}",
        sources,
        ["-std=c99", "-g", "-Wall", "-Wextra", f"-I{native.sources(mechanism)}", *flags],
    )


# --- compilers --------------------------------------------------------------------------------------------------------

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
MORE = ("-Wshadow", "-Wstrict-prototypes", "-Wvla", "-Wwrite-strings", "-Wcast-qual")


@every_mechanism
@pytest.mark.parametrize("compiler", ("gcc", "clang"))
def test_no_warnings(native: Native, which: str, compiler: str, tmp_path: Path) -> None:
    """Runtime (once) and generated code as they are delivered, by both families of compilers (clang comes with zig)."""
    command = [tool("gcc")] if compiler == "gcc" else zig()
    for file in (f for f in native.c_files(MECHANISMS[which]()) if which == "driven" or f.name == "model.c"):
        run([*command, *STRICT, *MORE, "-c", file, "-o", tmp_path / "object.o"])


def test_functions_of_the_model_are_its_own(native: Native) -> None:
    """Only the constant `model` is visible outside model.c, so that several FMUs can be linked into one program."""
    (model,) = (f for f in native.c_files(Wheel()) if f.name == "model.c")
    run([tool("gcc"), *STRICT, "-Wmissing-prototypes", "-fsyntax-only", model])


def test_no_warnings_in_loops(native: Native) -> None:
    """A chain long enough for loops, with the warnings of the optimiser."""
    (model,) = (f for f in native.c_files(LinkChain(links=40)) if f.name == "model.c")
    assert "for (int j" in model.read_text()
    run([tool("gcc"), *STRICT, "-O1", "-c", model, "-o", os.devnull])


@only_linux
def test_there_is_no_global_state(native: Native, tmp_path: Path) -> None:
    """No variable outside functions can be written, which is why instances and threads cannot disturb each other."""
    for file in native.c_files(Driven()):
        run([tool("gcc"), "-std=c99", "-O1", "-fno-pic", "-c", file, "-o", tmp_path / "object.o"])
        sections = run(["size", "-A", tmp_path / "object.o"]).stdout
        sizes = {name: int(size) for name, size in re.findall(r"^(\.\S+)\s+(\d+)", sections, re.MULTILINE)}
        assert sizes.get(".data", 0) == 0 and sizes.get(".bss", 0) == 0, f"{file.name}: {sizes}"


# --- sanitizers and valgrind ------------------------------------------------------------------------------------------

SANITIZERS = (
    "-O1",
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
)


@only_linux
@every_mechanism
def test_all_calls_in_random_order_under_sanitizers(native: Native, which: str) -> None:
    """3,000 sequences of legal and illegal calls of both types: an illegal one returns fmi2Error with a message and
    does not change the instance."""
    program = call_table(native, which, "sanitized", *SANITIZERS)
    for seed in (1, 2, 3):
        done = run([program, "random", str(seed), "1000"])
        assert re.search(r" 0 pairs of function and state never tried", done.stdout)
        assert int(done.stdout.split()[0]) > 30_000


@only_linux
@pytest.mark.slow
@every_mechanism
def test_all_calls_in_random_order_for_long(native: Native, which: str) -> None:
    program = call_table(native, which, "sanitized", *SANITIZERS)
    run([program, "random", "100", "5000"], timeout=600)


@only_linux
def test_a_chain_with_loops_under_sanitizers(native: Native) -> None:
    """Indices of generated loops stay inside their arrays."""
    mechanism = LinkChain(links=40)
    sources = [*native.c_files(mechanism), C / "call_table.c"]
    flags = ["-std=c99", f"-I{native.sources(mechanism)}", "-O0", *SANITIZERS[1:]]
    program = native.program("call_table_loops_sanitized", sources, flags)
    run([program, "random", "5", "150"])
    run([program, "lifecycles", "20"])


@only_linux
@pytest.mark.parametrize("simd", ["plain", "avx2", "avx512"])
@every_mechanism
def test_batches_under_sanitizers(native: Native, which: str, simd: str, tmp_path: Path) -> None:
    """Also with fewer instances than there are lanes, and with runs that fail."""
    if list(INSTRUCTION_SETS)[::-1].index(simd) > list(INSTRUCTION_SETS)[::-1].index(instruction_set()):
        pytest.skip(f"this processor has no {simd}")
    mechanism = MECHANISMS[which]()
    for name, text in batch_files(mechanism, simd).items():
        (tmp_path / name).write_text(text)
    sources = [*native.c_files(mechanism), *sorted(tmp_path.glob("*.c")), C / "batch_runs.c"]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", f"-I{native.sources(mechanism)}", f"-I{tmp_path}"]
    program = native.program(f"batch_{which}_{simd}", sources, [*flags, "-ffp-contract=off", *SANITIZERS])
    found = re.findall(r"(\d+) of 60 runs failed", run([program, "60"]).stdout)
    assert len(found) == 2 and found[0] == found[1] and int(found[0]) < 60
    assert int(found[0]) > 0 or not mechanism.table.of("input")


VALGRIND = (
    "-q",
    "--leak-check=full",
    "--show-leak-kinds=all",
    "--errors-for-leak-kinds=all",
    "--track-origins=yes",
    "--error-exitcode=9",
)


@only_linux
@every_mechanism
def test_no_leak_over_1000_instantiate_free_cycles(native: Native, which: str) -> None:
    done = run([tool("valgrind"), *VALGRIND, call_table(native, which, "plain", "-O1"), "lifecycles", "1000"])
    assert "1000 instantiate/free cycles" in done.stdout
    assert not done.stderr, done.stderr


@only_linux
@every_mechanism
def test_nothing_uninitialized_is_used(native: Native, which: str) -> None:
    """Values that were never written, which the sanitizers do not detect."""
    done = run([tool("valgrind"), *VALGRIND, call_table(native, which, "plain", "-O1"), "random", "11", "150"])
    assert not done.stderr, done.stderr


@only_linux
def test_valgrind_would_find_a_leak(native: Native, tmp_path: Path) -> None:
    """The two tests above can fail: a program with a leak does."""
    (tmp_path / "leak.c").write_text("#include <stdlib.h>\nint main(void) { return malloc(8) == 0; }\n")
    program = native.program("leak", [tmp_path / "leak.c"], ["-O0"])
    assert subprocess.run([tool("valgrind"), *VALGRIND, program], capture_output=True).returncode == 9


# --- threads and many instances ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chain(native: Native) -> Fmu:
    return Fmu(LinkChain(links=10), native.binary(LinkChain(links=10)))


def one_run(fmu: Fmu, mass: float, found: dict[float, bytes]) -> None:
    names = [s.name for s in fmu.mechanism.table.of("state", "output")]
    instance = fmu.open(name=f"mass {mass}").initialize({"link[2].mass": mass}, 1e-8)
    rows = [instance.run([0.003] * 300, names).tobytes(), instance.bytes()]
    found[mass] = b"".join(rows)


def test_two_threads_give_what_one_after_the_other_gives(chain: Fmu) -> None:
    """Bit by bit. The calls run without Python's lock, so both threads are inside the FMU at once."""
    masses = (1.0, 1.7)
    alone: dict[float, bytes] = {}
    together: dict[float, bytes] = {}
    for mass in masses:
        one_run(chain, mass, alone)
    for _ in range(3):
        together.clear()
        threads = [threading.Thread(target=one_run, args=(chain, mass, together)) for mass in masses]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert together == alone
    assert alone[1.0] != alone[1.7]


def test_instances_of_both_types_side_by_side(native: Native) -> None:
    """Two different FMUs and both interface types in one process, their calls interleaved."""
    ball = Fmu(extra("bouncing_ball"), native.binary(extra("bouncing_ball")))
    rod = Fmu(LinkChain(links=1), native.binary(LinkChain(links=1)))
    wanted_ball = ball.open().initialize().run([0.1] * 4, ["ball.height"])
    wanted_rod = rod.open().initialize().run([0.1] * 4, ["joint[1].angle"])
    falling, swinging = ball.open().initialize(), rod.open().initialize()
    exchanged = ball.open(MODEL_EXCHANGE).continuous()
    for i in range(4):
        falling.step(0.1)
        exchanged.set_states([5.0 + i, 0.0])
        swinging.step(0.1)
        assert falling["ball.height"] == wanted_ball[i, 0] and swinging["joint[1].angle"] == wanted_rod[i, 0]
        assert exchanged["ball.height"] == 5.0 + i


MANY = """
import ctypes, json, os, sys
library, guid, count = ctypes.CDLL(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3])
reference = ctypes.c_uint(int(sys.argv[4]))
LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
class Callbacks(ctypes.Structure):
    others = ("allocate", "free", "finished", "environment")
    _fields_ = [("logger", LOGGER), *zip(others, [ctypes.c_void_p] * 4)]
callbacks = Callbacks(logger=LOGGER(lambda *a: print(a[4])))
library.fmi2Instantiate.restype = ctypes.c_void_p
d = ctypes.c_double
def rss():
    if os.path.exists("/proc/self/statm"):
        return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS: bytes
def stepped(i):
    c = ctypes.c_void_p(library.fmi2Instantiate(b"%d" % i, 1, guid, None, ctypes.byref(callbacks), 0, 0))
    assert c.value
    assert library.fmi2SetupExperiment(c, 0, d(0), d(0), 0, d(0)) == 0
    assert library.fmi2EnterInitializationMode(c) == library.fmi2ExitInitializationMode(c) == 0
    assert library.fmi2DoStep(c, d(0), d(0.001), 1) == 0
    return c
library.fmi2FreeInstance(stepped(0))
before = rss()
alive = [stepped(i) for i in range(count)]
after = rss()
value = d()
seen = set()
for c in alive:
    assert library.fmi2GetReal(c, ctypes.byref(reference), ctypes.c_size_t(1), ctypes.byref(value)) == 0
    seen.add(value.value)
for c in alive:
    library.fmi2FreeInstance(c)
del alive
for i in range(1000):
    library.fmi2FreeInstance(stepped(i))
base = rss()
for i in range(10 * count // 4):
    library.fmi2FreeInstance(stepped(i))
print(json.dumps(dict(each=(after - before) / count, growth=rss() - base, seen=sorted(seen))))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the memory of a process is measured another way there")
def test_ten_thousand_instances(native: Native, chain: Fmu, tmp_path: Path) -> None:
    """All alive at once, and then 25,000 more one after the other without growth."""
    mechanism = LinkChain(links=10)
    binary, reference = native.binary(mechanism), [s.name for s in mechanism.table.scalars].index("joint[1].rate")
    done = run([sys.executable, "-c", MANY, binary, chain.guid, "10000", str(reference)], cwd=tmp_path)
    found = json.loads(done.stdout.splitlines()[-1])
    assert 1000 < found["each"] < MEMORY_PER_INSTANCE
    assert found["growth"] < 1_000_000
    assert len(found["seen"]) == 1 and found["seen"] != [0.0], "all have moved, and alike"


# --- locale -----------------------------------------------------------------------------------------------------------


def comma_locale(folder: Path) -> tuple[str, dict[str, str]] | None:
    """Return a locale with a decimal comma, installed or compiled here, and its environment; None without one."""
    if not shutil.which("locale"):
        return None
    installed = run(["locale", "-a"]).stdout.split()
    for name in installed:
        if name.lower().replace("-", "") in ("de_de.utf8", "fr_fr.utf8", "pl_pl.utf8", "ru_ru.utf8", "es_es.utf8"):
            return name, {}
    if shutil.which("localedef"):
        made = subprocess.run(
            ["localedef", "-i", "de_DE", "-f", "UTF-8", str(folder / "de_DE.UTF-8")], capture_output=True
        )
        if made.returncode == 0:
            return "de_DE.UTF-8", {"LOCPATH": str(folder)}
    return None


def test_messages_have_decimal_points_under_a_comma_locale(native: Native, tmp_path: Path) -> None:
    mechanism = LinkChain(links=1)
    sources, flags = [*native.c_files(mechanism), C / "comma.c"], ["-std=c99", f"-I{native.sources(mechanism)}"]
    real = comma_locale(tmp_path)
    stubbed = native.program("comma_stub", sources, [*flags, "-Dsnprintf=comma_snprintf"])
    outputs = [run([stubbed, "C"]).stdout]
    if real:
        name, environment = real
        outputs.append(run([native.program("comma", sources, flags), name], env={**os.environ, **environment}).stdout)
    for output in outputs:
        *numbers, message = output.splitlines()
        assert numbers == ["0.5", "-1234.5", "1e-07", "2.5e+20", "3", "nan", "inf", "-inf"]
        assert message == "solver.relative_tolerance = 0.5: must be at most 0.01"
