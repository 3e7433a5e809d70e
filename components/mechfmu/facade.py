"""Convenience methods of mechanisms and results: `LinkChain().simulate(stop=10).plot()`.

The contract of a mechanism and the class of results do not import the parts of the package that do the work. This
module, which stands above all of them, adds the methods to the two classes when the package is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .model import Mechanism
from .model.extras import missing_packages_named
from .simulation.result import Result

if TYPE_CHECKING:
    from .live.page import LivePage
    from .simulation.controller import Controller
    from .simulation.inputs import Input
    from .simulation.rollout import Rollout


class MechanismMethods(Mechanism):
    """Methods of every mechanism: simulate it here, build its FMUs, make its live page."""

    def simulate(
        self,
        stop: float | None = None,
        step: float | None = None,
        start: Mapping[str, float] | None = None,
        inputs: Mapping[str, Input] | None = None,
        tolerance: float | None = None,
        engine: str = "casadi",
        progress: Callable[[float], None] = lambda t: None,
        controller: Controller | None = None,
        period: float | None = None,
    ) -> ResultMethods:
        """Simulate in this process, without an FMU: `LinkChain().simulate(stop=10).plot()`.

        stop, step   in s; default: those of the mechanism's own experiment
        start        parameters and constant inputs by name: `{"joint[1].angle_start": 0.5}`
        inputs       by name, each a number, a function of time, or a table (times, values) that is interpolated
                     linearly; held over each step
        tolerance    relative tolerance of the solver
        engine       numpy, casadi or c: how the equations are evaluated
        progress     called with the simulation time after each step
        controller   a function of the time and all outputs by name that returns inputs by name:
                     `lambda t, y: {"joint[1].torque": -5 * y["joint[1].angle"]}`
        period       in s, between calls of the controller, the first at the start; inputs are held in between; default:
                     the step
        """
        from .simulation.simulate import simulate_mechanism

        result = simulate_mechanism(self, stop, step, start, inputs, tolerance, engine, progress, controller, period)
        return cast(ResultMethods, result)

    def rollout(
        self,
        starts: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        stop: float | None = None,
        step: float | None = None,
        outputs: Sequence[str] | None = None,
        tolerance: float | None = None,
        threads: int | None = None,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Rollout:
        """Make many runs at once: `LinkChain().rollout({"joint[1].angle_start": angles}, stop=10)["tip.x"]`.

        Each run is that of `simulate` with the engine c, to the last bit. It needs a C compiler.

        starts, parameters   parameters and constant inputs by name, each a number, or an array with one for each run
        inputs               by name, each an array (runs x times), held from each time to the next, or (times) for all
                             runs; a number, or an array (runs), is constant
        stop, step           in s; default: those of the mechanism's own experiment
        outputs              the signals that are recorded; default: all outputs
        tolerance            relative tolerance of the solver
        threads              default: the processors of this computer
        progress             called now and then with the number of finished runs and that of all
        """
        from .simulation.rollout import rollout

        return rollout(self, starts, parameters, inputs, stop, step, outputs, tolerance, threads, progress)

    def build(
        self,
        folder: str | Path = ".",
        kind: str = "native",
        start: Mapping[str, float | str] | None = None,
        platforms: Sequence[str] | None = None,
        compiler: str | None = None,
        progress: Callable[[str], None] = lambda text: None,
        bake: str | Iterable[str] = (),
    ) -> list[Path]:
        """Write the FMUs into a folder and return the files: `LinkChain(links=3).build("out", kind="both")`.

        kind         native (no Python needed), python (readable, runs in a Python process), or both
        start        start values of parameters and inputs that differ from the defaults
        platforms    linux64, win64, darwin64, all of these, wasm (WebAssembly, native FMUs only); default: this
                     machine's for native FMUs, all for Python FMUs
        compiler     zig or cc; default: zig where it is installed
        progress     called with a text for each step of the build
        bake         parameters that become constants, by name; see Mechanism.baked
        """
        from .fmu.build import build

        return build(self, folder, kind, start, platforms, compiler, progress, bake)

    def live(self, start: Mapping[str, float | str] | None = None) -> LivePage:
        """Return a web page in which the mechanism runs: `LinkChain(links=5).live().save("chain.html")`.

        A notebook displays it. start: start values of parameters and inputs that differ from the defaults
        """
        from .live.page import LivePage, live_mechanism

        return LivePage(live_mechanism(self, {**self.live_start, **(start or {})}))


class ResultMethods(Result):
    """Plots and animations of every result. A notebook displays both for a result."""

    def plot(self, names: Sequence[str] | None = None, file: str | Path | None = None) -> Any:
        """Draw signals over time, one panel per unit; into a file (png, svg, pdf, html), or on the screen."""
        from .view.plot import plot

        return plot(self, names, file)

    def animate(
        self,
        file: str | Path | None = None,
        fps: float = 25.0,
        speed: float = 1.0,
        signals: Sequence[str] | None = None,
    ) -> Any:
        """Animate the mechanism; into a file (html: an interactive page, gif, mp4), or on the screen.

        signals   the curves beside the animation in the page
        """
        from .view.animate import animate

        return animate(self, file, fps, speed, signals)

    def _repr_html_(self) -> str:
        """The display in a notebook: one plot and the recording."""
        from .view.notebook import html_of

        return html_of(self)


def attach(methods: type, target: type) -> None:
    """Make the functions of one class methods of another. They name the extra if a package is missing."""
    for name, function in vars(methods).items():
        if isfunction(function):
            setattr(target, name, missing_packages_named()(function))


attach(MechanismMethods, Mechanism)
attach(ResultMethods, Result)
