"""Functions of our own (sine, cosine, atan2), and generated code in SIMD lanes: the bits of a number alone."""

from __future__ import annotations

import ctypes
import math
from decimal import Decimal, localcontext
from pathlib import Path

import casadi
import numpy as np
import pytest

from helpers import needs
from helpers.native_build import RUNTIME, run
from helpers.programs import WARNINGS
from mechfmu.codegen.c_text import c_function
from mechfmu.codegen.operations import BINARY, UNARY
from mechfmu.codegen.sources import fmu_source

gcc = needs.tool("gcc")

BATCH = fmu_source("batch")
SINE_ULPS, ANGLE_ULPS = 1.1, 2.5  # as in sine.h and arctangent.h
SINE_LIMIT = 1e5  # as there

SCALARS = """
#include "arctangent.h"
#include "sine.h"
void numbers(int which, int n, const double *a, const double *b, double *out) {
    for (int i = 0; i < n; i++) out[i] = which == 0 ? sine(a[i]) : which == 1 ? cosine(a[i]) : angle_of(a[i], b[i]);
}
"""


def library(folder: Path, text: str, *flags: str) -> ctypes.CDLL:
    (folder / "code.c").write_text(text)
    common = ["-std=c99", "-O2", *WARNINGS, "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC"]
    places = [f"-I{RUNTIME}", f"-I{BATCH}"]
    run([gcc, *common, *flags, *places, folder / "code.c", "-o", folder / "code.so", "-lm"])
    return ctypes.CDLL(str(folder / "code.so"))


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


# --- sine, cosine, atan2 ----------------------------------------------------------------------------------------------


def sine_and_cosine(x: float) -> tuple[Decimal, Decimal]:
    """With 60 digits."""
    with localcontext() as context:
        context.prec = 60
        angle = Decimal(x) % (2 * PI)
        sums, term = [Decimal(0), Decimal(1)], Decimal(1)
        for k in range(1, 80):
            term *= angle / k
            sums[1 - k % 2] += term if k % 4 < 2 else -term
        return sums[0], sums[1]


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def ulps(found: np.ndarray, wanted: list[Decimal]) -> float:
    return max(
        float(abs(Decimal(f) - w) / Decimal(math.ulp(float(w)))) for f, w in zip(found.tolist(), wanted, strict=True)
    )


def test_sine_cosine_and_atan2_are_accurate(tmp_path: Path) -> None:
    """Also next to multiples of a quarter turn, where most digits cancel."""
    c, random = library(tmp_path, SCALARS), np.random.default_rng(1)
    near = random.integers(1, 60_000, 300) * (np.pi / 2)
    x = np.concatenate([random.uniform(-4, 4, 500), random.uniform(-SINE_LIMIT, SINE_LIMIT, 300), near,
                        np.nextafter(near, 0), [5e-324, 1e-300, 1e-9, np.pi, 1.0]])  # fmt: skip
    exact = [sine_and_cosine(v) for v in x.tolist()]
    out = np.zeros_like(x)
    for which in (0, 1):
        c.numbers(which, x.size, pointer(x), pointer(x), pointer(out))
        assert ulps(out, [pair[which] for pair in exact]) < SINE_ULPS
    # atan2 of (a, b): the angle by which (a, b) is turned back onto the axis, from the sine of the difference
    a, b = random.normal(size=(2, 2000)) * 10.0 ** random.uniform(-3, 3, (2, 2000))
    angle = np.zeros_like(a)
    c.numbers(2, a.size, pointer(a), pointer(b), pointer(angle))
    with localcontext() as context:
        context.prec = 50
        for y, x_, found in zip(a.tolist(), b.tolist(), angle.tolist(), strict=True):
            s, co = sine_and_cosine(found)
            length = (Decimal(y) ** 2 + Decimal(x_) ** 2).sqrt()
            error = (Decimal(y) * co - Decimal(x_) * s) / length  # sin(exact - found), as small as the difference
            assert abs(error) < Decimal(ANGLE_ULPS) * Decimal(math.ulp(found))


def test_sine_and_cosine_of_angles_beyond_the_limit_are_those_of_the_library(tmp_path: Path) -> None:
    c = library(tmp_path, SCALARS)
    x = np.array([1.0001e5, -3e7, 1e22, 1e300, np.inf, -np.inf, np.nan])
    for which, function in enumerate((np.sin, np.cos)):
        out = np.zeros_like(x)
        c.numbers(which, x.size, pointer(x), pointer(x), pointer(out))
        with np.errstate(invalid="ignore"):
            assert out == pytest.approx(function(x), rel=1e-15, nan_ok=True)


# --- every operation in lanes -----------------------------------------------------------------------------------------

VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 0.7, 2e5, 1e-300, np.inf, -np.inf, np.nan)
OPERATIONS = {name: getattr(casadi, f"OP_{name}") for name in {**UNARY, **BINARY}}


@pytest.mark.parametrize("lanes, flags", [(2, ()), (4, ("-mavx2",))], ids=["plain", "avx2"])
def test_every_operation_has_the_same_bits_in_lanes(tmp_path: Path, lanes: int, flags: tuple[str, ...]) -> None:
    """Neighbours are other values, also infinite ones and NaN."""
    if flags and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    a, b = casadi.SX.sym("a"), casadi.SX.sym("b")
    results = [
        casadi.SX.binary(code, a, b) if name in BINARY else casadi.SX.unary(code, a)
        for name, code in OPERATIONS.items()
    ]
    factor = casadi.SX.sym("f")
    graph = casadi.Function(
        "all", [a, b, factor], [casadi.vertcat(*results, factor * casadi.tanh(a), 0.25)], ["a", "b", "f"], ["out"]
    )
    alone, wide_code = c_function(graph, "alone"), c_function(graph, "in_lanes", lanes=True)
    head = "#define NOINLINE __attribute__((noinline))\n#include <math.h>\n"
    ours = '#include "arctangent.h"\n#include "sine.h"\n'
    (tmp_path / "alone").mkdir()
    (tmp_path / "lanes").mkdir()
    single = library(tmp_path / "alone", head + ours + alone.prototype + alone.text)
    wide_text = f'{head}#define LANES {lanes}\n{ours}#include "lane_functions.h"\n{wide_code.prototype}{wide_code.text}'
    wide = library(tmp_path / "lanes", wide_text, *flags)
    pairs = np.array(np.meshgrid(VALUES, VALUES)).reshape(2, -1)
    pairs = np.hstack([pairs, np.random.default_rng(1).normal(size=(2, 4 * lanes))])
    factors = np.where(np.arange(pairs.shape[1]) % 3, 1.5, 0.0)
    rows = len(results) + 2
    for first in range(0, pairs.shape[1], lanes):
        point = np.vstack([pairs[:, first : first + lanes], factors[first : first + lanes]])
        block = aligned(3 + rows + wide_code.work + 1, lanes)
        block[:3] = point
        wide.in_lanes(*(pointer(block[i:]) for i in (0, 1, 2, 3, 3 + rows)))
        for lane in range(lanes):
            inputs, out, work = point[:, lane].copy(), np.zeros(rows), np.zeros(alone.work + 1)
            single.alone(*(pointer(inputs[i:]) for i in range(3)), pointer(out), pointer(work))
            found = block[3 : 3 + rows, lane]
            same = (found.view(np.uint64) == out.view(np.uint64)) | (np.isnan(found) & np.isnan(out))
            assert same.all(), [[*OPERATIONS, "conditional tanh", "constant"][k] for k in np.flatnonzero(~same)]


def aligned(rows: int, lanes: int) -> np.ndarray:
    """Zeros (rows x lanes), placed as vectors must be."""
    size = 8 * lanes
    memory = np.zeros(rows * size + size, dtype=np.uint8)
    shift = -memory.ctypes.data % size
    return memory[shift : shift + rows * size].view(float).reshape(rows, lanes)
