"""The live pages of the gallery: mechanisms, robots, and systems with controllers; and a picture of each."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from PIL import Image

from mechfmu import ComputedTorque, PidController, Tree
from mechfmu.cosim.builtin import BUILTIN, build_builtin
from mechfmu.cosim.system import System, joined
from mechfmu.live.page import live_mechanism, live_system
from mechfmu.mechanisms import make
from mechfmu.model import Mechanism
from mechfmu.view.browser import BrowserError, find_browser, pictures

ALONE: dict[str, tuple[str, str, float, dict[str, float | str]]] = {  # title, text, time of the picture, start values
    "link_chain": ("Link chain", "Ten rods, hinged one after the other. Pull at any of them.", 0.35, {}),
    "spherical_arm": ("Spherical-joint arm", "Three bodies on two spherical joints and a hinge.", 0.6, {}),
    "tree": ("Tree of bodies", "A column with two arms. Robot files become mechanisms of this kind.", 0.8, {}),
    "exoskeleton": (
        "Exoskeleton",
        "It lands on its feet, staggers and stands, by the springs in its joints.",
        0.45,
        {},
    ),
    "wheeled_cart": ("Wheeled cart", "Three wheels that roll without slipping. Pull it anywhere.", 0.8, {}),
}
SYSTEMS = {  # title, mechanism
    "figure2": ("Cart among obstacles", "wheeled_cart"),
    "chain_gravity_compensation": ("Weightless chain", "link_chain"),
    "arm_computed_torque": ("Arm held by computed torque", "spherical_arm"),
    "exoskeleton_pd": ("Exoskeleton, standing", "exoskeleton"),
    "walk": ("Exoskeleton, walking", "exoskeleton"),
}
KEPT, QUALITY = (640, 360), 82  # pixels; JPEG
# The view alone, at a time after the start; its picture goes to view/browser.py. It stands before the policy of the
# page, which allows its own parts only.
VIEW_ALONE = """<style>
.live :is(header, footer, aside, .plots, .tools, .hint, .notes) { display: none !important }
.live main { display: block !important; padding: 0 !important }
.live .stage { width: 1024px; height: 576px !important; border: 0 !important; border-radius: 0 !important }
</style>
<script>
location.hash = "quality=high";
const loading = setInterval(async () => {
  const page = globalThis.livePage;
  if (!page) return;
  clearInterval(loading);
  page.play(false);
  page.reset();
  while (page.simulation.t < SECONDS) {
    page.simulation.step(page.data.step);
    page.view.show(page.simulation.draw());
  }
  await new Promise(requestAnimationFrame);
  page.view.render();
  const { canvas } = page.view, { width, height } = canvas;
  const picture = Object.assign(document.createElement("canvas"), { width, height });
  picture.getContext("2d").drawImage(canvas, 0, 0);
  picture.toBlob((png) => fetch("picture", { method: "POST", body: png }), "image/png");
}, 50);
</script>
"""
POLICY, WITH_SERVER = "default-src 'none'", "default-src 'none'; connect-src 'self'"
HEAD = '<meta charset="utf-8">\n'  # the beginning of every page

ROBOTS = "cmeel.prefix/share/example-robot-data/robots"  # in the package example-robot-data
PANDA_POSE = (0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8)  # rad
LEGS = {"FL": 1, "FR": 1, "HL": -1, "HR": -1}  # knees of the front legs point backwards, of the hind legs forwards
STANCE = {
    f"{leg}_{joint}": sign * angle
    for leg, sign in LEGS.items()
    for joint, angle in (("HAA", 0.0), ("HFE", 0.8), ("KFE", -1.6))
}  # rad


@dataclass(frozen=True)
class Exhibit:
    """A live page of the gallery."""

    name: str  # of its files
    group: str
    title: str
    text: str
    mechanism: str  # whose icon is shown where no picture can be made
    page: Callable[[Callable[[str], None]], str]  # called with where progress is reported
    moment: float = 0.8  # s: of the picture


def exhibits() -> list[Exhibit]:
    """All that can be shown here: robots need the package example-robot-data."""
    return [*_mechanisms(), *_robots(), *_ready_systems()]


def write_exhibit(exhibit: Exhibit, folder: Path, progress: Callable[[str], None]) -> None:
    """Write NAME.html, and its picture NAME.jpg if there is a browser; nothing that is there already."""
    page, picture = folder / f"{exhibit.name}.html", folder / f"{exhibit.name}.jpg"
    html = exhibit.page(progress)
    if page.exists() and picture.exists() and page.read_text(encoding="utf-8") == html:
        return
    page.write_text(html, encoding="utf-8")
    picture.unlink(missing_ok=True)
    progress(f"{exhibit.title}: picture")
    take_picture(html, exhibit.moment, picture)


def _mechanisms() -> Iterator[Exhibit]:
    for key, (title, text, moment, start) in ALONE.items():
        page = partial(_alone, key, start)
        yield Exhibit(key, "Mechanisms", title, f"{text} `mechfmu live {key}`", key, page, moment)


def _alone(key: str, start: Mapping[str, float | str], progress: Callable[[str], None]) -> str:
    mechanism = make(key)
    return live_mechanism(mechanism, {**mechanism.live_start, **start}, progress)


def _ready_systems() -> Iterator[Exhibit]:
    for name, ready in BUILTIN.items():
        text = f"{ready.title[:1].upper()}{ready.title[1:]}. `mechfmu live {name}`"
        title, mechanism = SYSTEMS[name]
        yield Exhibit(name, "Controlled systems", title, text, mechanism, partial(_ready, name))


def _ready(name: str, progress: Callable[[str], None]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return live_system(build_builtin(name, Path(folder), kind="python"), BUILTIN[name].title, progress)


def _robots() -> Iterator[Exhibit]:
    with suppress(PackageNotFoundError):
        robots = Path(str(distribution("example-robot-data").locate_file(ROBOTS)))
        panda = "A seven-joint arm with its meshes, held in its pose by computed torque while you pull at it."
        yield Exhibit("panda", "Robots", "Panda", panda, "tree", partial(_panda, robots))
        solo = "Solo 12 on its feet, its twelve joints held by PD controllers. Push it, lift it, let it drop."
        yield Exhibit("solo12", "Robots", "Quadruped", solo, "tree", partial(_quadruped, robots))


def _panda(robots: Path, progress: Callable[[str], None]) -> str:
    robot = Tree.from_file(robots / "panda_description/urdf/panda.urdf", package_paths=[robots.parent, robots])
    pose = {f"panda_joint{k}": angle for k, angle in enumerate(PANDA_POSE, 1)}
    values = {f"panda.{joint}.angle_start": angle for joint, angle in pose.items()}
    values |= {f"control.{joint}.angle_reference": angle for joint, angle in pose.items()}
    with tempfile.TemporaryDirectory() as folder:
        parts = _built(Path(folder), {"panda": robot, "control": ComputedTorque(model=robot.tree.to_json())})
        system = System("Panda", parts, joined(System("bare", parts), "panda", "control"), values, step=0.002)
        return live_system(system, "held in its pose by computed torque", progress)


def _quadruped(robots: Path, progress: Callable[[str], None]) -> str:
    feet = [f"{leg}_FOOT:0.015" for leg in LEGS]
    file = robots / "solo_description/robots/solo12.urdf"
    robot = Tree.from_file(file, base="free", contacts=feet, package_paths=[robots.parent, robots])
    connect, values = {}, {"solo.base.position_start[3]": 0.26}
    for k, (joint, angle) in enumerate(STANCE.items(), 1):
        connect |= {
            f"solo.{joint}.angle": f"control.measurement[{k}]",
            f"solo.{joint}.rate": f"control.measurement_rate[{k}]",
            f"control.output[{k}]": f"solo.{joint}.torque",
        }
        values |= {f"solo.{joint}.angle_start": angle, f"control.reference[{k}]": angle}
        values |= {f"control.gain.proportional[{k}]": 15.0, f"control.gain.derivative[{k}]": 0.3}
    with tempfile.TemporaryDirectory() as folder:
        parts = _built(Path(folder), {"solo": robot, "control": PidController(channels=len(STANCE))})
        return live_system(System("Solo12", parts, connect, values, step=0.001), "a quadruped on its feet", progress)


def _built(folder: Path, mechanisms: dict[str, Mechanism]) -> dict[str, str | Path]:
    return {name: mechanism.build(folder / name, kind="python")[0] for name, mechanism in mechanisms.items()}


def take_picture(html: str, moment: float, picture: Path) -> None:
    """Write a picture of the view of a live page as a browser shows it; nothing if there is none that does."""
    page = html.replace(HEAD, HEAD + VIEW_ALONE.replace("SECONDS", f"{moment}"), 1).replace(POLICY, WITH_SERVER, 1)
    with suppress(BrowserError), closing(pictures(page, 1, find_browser())) as arriving:
        image = Image.open(io.BytesIO(next(arriving))).convert("RGB")
        image.resize(KEPT).save(picture, quality=QUALITY, optimize=True)
