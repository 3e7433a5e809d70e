"""CVODE of SUNDIALS, from the libraries that FMPy brings: steps of its own size, dense output.

FMPy's own class CVodeSolver integrates to a given time. The checker looks at every step, and frees what it allocates,
since D13 counts the memory in use.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import POINTER, addressof, byref, c_double, c_int, c_long, c_void_p
from typing import Any

import numpy as np
from fmpy.sundials import cvode, cvode_ls, libraries, nvector_serial, sundials_context, sunlinsol_dense, sunmatrix_dense
from fmpy.sundials.sundials_types import SUN_COMM_NULL, SUNContext

Rates = Callable[[float, Any], Any]
FORMULAS = {"BDF": cvode.CV_BDF, "Adams": cvode.CV_ADAMS}
ONE_STEP = 2  # CV_ONE_STEP: return after each step
RECOVERABLE = 1  # CVRhsFn: a shorter step may help
MAX_STEPS = 100_000  # within one step that is returned


def _function(library: Any, name: str, arguments: list[Any]) -> Any:
    """A function that FMPy does not declare."""
    function = library[name]
    function.argtypes, function.restype = arguments, c_int
    return function


_interpolate = _function(libraries.sundials_cvode, "CVodeGetDky", [c_void_p, c_double, c_int, c_void_p])
_set_first_step = _function(libraries.sundials_cvode, "CVodeSetInitStep", [c_void_p, c_double])
_set_end = _function(libraries.sundials_cvode, "CVodeSetStopTime", [c_void_p, c_double])
_set_max_steps = _function(libraries.sundials_cvode, "CVodeSetMaxNumSteps", [c_void_p, c_long])
_last_step = _function(libraries.sundials_cvode, "CVodeGetLastStep", [c_void_p, POINTER(c_double)])
_silence = _function(libraries.sundials_core, "SUNContext_ClearErrHandlers", [SUNContext])
_free_context = _function(libraries.sundials_core, "SUNContext_Free", [POINTER(SUNContext)])
_free_vector = _function(libraries.sundials_core, "N_VDestroy", [c_void_p])
_free_matrix = _function(libraries.sundials_core, "SUNMatDestroy", [c_void_p])
_free_linear_solver = _function(libraries.sundials_core, "SUNLinSolFree", [c_void_p])


class CvodeSolver:
    """Integrates from t to `end` with error control; `rates` is the right-hand side. After a step, `t` and `y` are at
    its end. Where rates are not finite the solver tries shorter steps, then it fails."""

    def __init__(
        self,
        method: str,
        rates: Rates,
        t: float,
        x: Any,
        end: float,
        rtol: float,
        atol: Any,
        max_step: float,
        first_step: float | None = None,
    ):
        n = len(x)
        self.t, self.y, self.failed, self._end = t, np.array(x), False, end
        self._context = SUNContext()
        sundials_context.SUNContext_Create(SUN_COMM_NULL, byref(self._context))
        _silence(self._context)  # messages would count as the FMU's output
        self._vectors = [nvector_serial.N_VNew_Serial(n, self._context) for _ in range(3)]
        self._x, self._atol, self._dense = self._vectors
        _view(self._x, n)[:], _view(self._atol, n)[:] = x, atol

        views: dict[int, Any] = {}  # CVODE calls with vectors that it keeps

        def view(vector: Any) -> Any:
            place = addressof(vector.contents)
            if place not in views:
                views[place] = _view(vector, n)
            return views[place]

        def right_hand_side(t: float, y: Any, ydot: Any, _: Any) -> int:
            dx = rates(t, view(y))
            view(ydot)[:] = dx
            return 0 if np.isfinite(dx).all() else RECOVERABLE

        self._callback = cvode.CVRhsFn(right_hand_side)  # without a reference to self, whose end frees the memory
        self._memory = c_void_p(cvode.CVodeCreate(FORMULAS[method], self._context))
        self._matrix = sunmatrix_dense.SUNDenseMatrix(n, n, self._context)
        self._linear_solver = sunlinsol_dense.SUNLinSol_Dense(self._x, self._matrix, self._context)
        for status in (
            cvode.CVodeInit(self._memory, self._callback, t, self._x),
            cvode.CVodeSVtolerances(self._memory, rtol, self._atol),
            cvode_ls.CVodeSetLinearSolver(self._memory, self._linear_solver, self._matrix),
            cvode.CVodeSetMaxStep(self._memory, max_step),
            _set_max_steps(self._memory, MAX_STEPS),
            _set_end(self._memory, end),
            _set_first_step(self._memory, first_step or 0.0),  # 0: CVODE chooses
        ):
            self.failed |= status != cvode.CV_SUCCESS

    def step(self) -> None:
        reached = c_double(self.t)
        if not self.failed:
            status = cvode.CVode(self._memory, self._end, self._x, byref(reached), ONE_STEP)
            self.failed = status < 0
        if not self.failed:
            self.t, self.y = reached.value, _view(self._x, len(self.y)).copy()

    def dense_output(self) -> Callable[[float], Any]:
        """x(t) within the last step, until the next one."""
        n, t, y, h = len(self.y), self.t, self.y, c_double()
        _last_step(self._memory, byref(h))
        begin = t - h.value

        def x(s: float) -> Any:
            if s >= t:
                return y
            _interpolate(self._memory, max(s, begin), 0, self._dense)
            return _view(self._dense, n).copy()

        return x

    def __del__(self) -> None:
        cvode.CVodeFree(byref(self._memory))
        _free_linear_solver(self._linear_solver)
        _free_matrix(self._matrix)
        for vector in self._vectors:
            _free_vector(vector)
        _free_context(byref(self._context))


def _view(vector: Any, n: int) -> Any:
    """The elements of a vector as an array."""
    return np.ctypeslib.as_array(nvector_serial.NV_DATA_S(vector), (n,))
