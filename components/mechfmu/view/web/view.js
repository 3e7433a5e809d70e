/**
 * The mechanism as people see it: three-dimensional, with light and shadow. Planar mechanisms are solids too, seen from
 * the front, before a wall. A scene says which parts there are, a frame where they are (view/scene_data.py).
 */
import { boundsOf, frameLayout, lengthOf, pointOf, pointsOf } from "./layout.js";
import { Figure, stylesOf } from "./figure.js";
import { Forces } from "./forces.js";
import { Framing } from "./framing.js";
import { GridPlane, Shelf, Surroundings } from "./ground.js";
import { Axes, axisLabels, Pull } from "./marks.js";
import { Orbit } from "./camera.js";
import { pickAt } from "./picking.js";
import { poseOf } from "./solids.js";
import { ghostMaterials, Stage } from "./stage.js";
import { THEMES } from "./themes.js";
import { THREE } from "./three.js";
import { Trails } from "./trails.js";

const DEFAULTS = {
  axes: false, frames: false, forces: true, reactions: false, trails: true, ghost: false, follow: false, shadows: true,
};
const STILL = 400; // ms without a new picture, after which the last one is drawn as finely as possible
const NO_WEBGL = "This browser cannot show the 3-D view: it has no WebGL, or WebGL is switched off.";

export class View {
  /**
   * options: what `set` takes, and `best`: always the finest picture, for recordings; largest: {force, moment}, which
   * fixes the scale of the arrows; widens: whether the limits of the scene are unknown, so the view widens with the
   * motion
   */
  constructor(parent, scene, options = {}) {
    this.parent = parent;
    this.data = scene;
    this.canvas = document.createElement("canvas");
    this.onCamera = null;
    this.shown = { ...DEFAULTS };
    this.theme = THEMES.light;
    this.layouts = frameLayout(scene);
    this.frame = null;
    this.ghostFrame = null;
    this.options = options;
    this.framing = options.widens ? new Framing(scene.size, scene.dimension === 2) : null;
    this.orbit = new Orbit(this.canvas, scene.dimension, () => {
      this.#later();
      this.onCamera?.();
    });
    try {
      this.stage = new Stage(this.canvas, scene.dimension, options);
    } catch {
      this.stage = null;
      this.#apologize();
      return;
    }
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `3-D view ${scene.members.map(({ name }) => name).join(", ")}`);
    Object.assign(this.canvas.style, { display: "block", width: "100%", height: "100%", touchAction: "none", userSelect: "none" });
    parent.append(this.canvas);
    this.set({ theme: "light", ...options });
    new ResizeObserver(() => {
      this.box = null; // its size is read again
      this.#later();
    }).observe(parent);
  }

  /** Show a pose: the numbers of all members. */
  show(frame) {
    if (!this.stage || (this.figure && this.frame.every((x, k) => Object.is(x, frame[k])))) return;
    this.frame = Float64Array.from(frame);
    if (!this.figure) this.#build();
    this.#pose();
    if (this.waiting) return;
    this.waiting = true;
    queueMicrotask(() => {
      this.waiting = false;
      this.render();
    });
  }

  /** Draw now. */
  render() {
    if (!this.stage || !this.figure) return;
    const { width, height } = (this.box ??= this.parent.getBoundingClientRect());
    if (!width || !height) return;
    this.stage.resize(width, height);
    this.plane.shadow.visible = this.stage.shadowed;
    this.#aim(width / height);
    this.plane.look(this.orbit.focus, this.orbit.distance);
    if (this.trails.mesh.visible) this.trails.face(this.orbit.camera.position, this.theme);
    this.stage.render(this.orbit.camera, this.changed);
    this.changed = false;
    if (this.framing?.easing && !this.orbit.moved) this.#later();
    this.#measure();
  }

  /** How long this picture takes; when no other follows it is drawn again as finely as possible. */
  #measure() {
    const { stage } = this;
    clearTimeout(this.resting);
    if (stage.still || this.measuring) return;
    this.measuring = true;
    const begun = document.timeline.currentTime;
    requestAnimationFrame((now) => {
      this.measuring = false;
      if (stage.quality.took(now - begun)) this.#later();
    });
    if (stage.level !== stage.quality.finest) this.resting = setTimeout(() => this.#refine(), STILL);
  }

  #refine() {
    this.stage.still = true;
    this.render();
    this.stage.still = false;
  }

  /** The camera, for a picture of some width over height. */
  #aim(aspect) {
    const { orbit, framing } = this;
    const box = framing ? framing.at(performance.now() / 1000) : this;
    orbit.offset.set(0, 0, 0);
    if (this.shown.follow) orbit.offset.copy(this.centre).sub(this.firstCentre);
    if (!orbit.moved && (framing || this.aspect !== aspect)) {
      orbit.camera.aspect = aspect;
      orbit.fit(box.low, box.high);
      this.fitted = { low: [...box.low], high: [...box.high] };
    } else if (framing && !this.shown.follow) orbit.offset.set(...framing.gone((this.fitted ??= box)));
    this.aspect = aspect;
    orbit.update(aspect);
  }

  /** What is under a point of the window, or null; see picking.js. */
  pick(clientX, clientY) {
    if (!this.figure) return null;
    const { orbit, figure, data: scene, layouts, frame } = this;
    return pickAt(clientX, clientY, { orbit, figure, scene, layouts, frame, touch: orbit.touch });
  }

  /** The point under the pointer in the plane through a point, parallel to the screen. */
  dragPoint(clientX, clientY, through) {
    const at = new THREE.Vector3(...through.slice(0, this.data.dimension), ...(this.data.dimension === 2 ? [0] : []));
    return (this.orbit.inPlane(clientX, clientY, at) ?? at).toArray().slice(0, this.data.dimension);
  }

  /** Show a spring between two points; pull(null) hides it. */
  pull(from, to) {
    if (!this.figure) return;
    const lifted = (point) => (this.data.dimension === 3 ? [...point] : [point[0], point[1], this.styles.high + 0.02 * this.data.size]);
    if (!from && !this.spring.group.visible) return;
    this.spring.show(from && lifted(from), from && lifted(to));
    this.changed = true;
    this.#later();
  }

  /** theme, quality ("automatic", "high" or "low"), and what is shown: see DEFAULTS */
  set({ theme, quality, ...changes }) {
    for (const key of Object.keys(DEFAULTS)) if (key in changes) this.shown[key] = Boolean(changes[key]);
    if (!this.stage) return;
    if (theme) {
      this.theme = THEMES[theme === "dark" ? "dark" : "light"];
      this.stage.paint(this.theme);
    }
    if (quality) this.stage.quality.choose(quality);
    this.stage.shadows = this.shown.shadows;
    if (!this.figure) return;
    if (theme) this.#paint();
    this.#choose();
    this.changed = true;
    this.#later();
  }

  /** The pose that the ghost shows. */
  keepGhost(frame) {
    this.ghostFrame = Float64Array.from(frame);
    if (!this.figure) return;
    this.#choose();
    this.#later();
  }

  /** A new motion begins: no trails, and the first view again. */
  begin() {
    this.trails?.clear();
    this.framing?.begin();
    this.#later();
  }

  /** A pose that the first view has room for. */
  preview(frame) {
    this.framing?.preview(this.#framed(frame));
  }

  /** Add a pose to the trails without showing it: for steps between two pictures. */
  trace(frame) {
    this.trails?.add(this.#traced(frame));
  }

  home() {
    this.orbit.moved = false;
    this.aspect = 0;
    this.#later();
    this.onCamera?.();
  }

  /** Whether the user has moved the camera. */
  get moved() {
    return this.orbit.moved;
  }

  get controlsEnabled() {
    return this.orbit.enabled;
  }

  set controlsEnabled(enabled) {
    this.orbit.enabled = enabled;
  }

  get cameraState() {
    return this.orbit.state;
  }

  set cameraState(numbers) {
    this.orbit.state = numbers;
    this.#later();
  }

  /** How fine the picture is: see quality.js. */
  get quality() {
    return this.stage?.quality ?? null;
  }

  /** What the arrows stand for, such as "arrow 10 cm = 50 N"; empty without arrows. */
  arrowScale() {
    return this.forces?.text() ?? "";
  }

  /** Light up what `pick` returned, or nothing. */
  highlight(pick) {
    const key = pick ? `${pick.member} ${pick.part} ${pick.index} ${pick.part === "line" ? pick.segment : ""}` : "";
    if (!this.figure || key === this.lit) return;
    this.lit = key;
    this.figure.highlight(pick, this.theme);
    this.#later();
  }

  #later() {
    if (this.asked || !this.stage) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.render();
    });
  }

  #apologize() {
    const text = document.createElement("p");
    text.setAttribute("role", "alert");
    text.textContent = NO_WEBGL;
    Object.assign(text.style, { padding: "2em", textAlign: "center" });
    this.parent.append(text);
  }

  // --- what is seen --------------------------------------------------------------------------------------------------

  #build() {
    const { data: scene, layouts, frame, stage } = this;
    const { dimension, size } = scene;
    const flat = dimension === 2;
    this.styles = stylesOf(scene, layouts, frame);
    this.figure = new Figure(scene, layouts, this.styles, stage.materials, { coarse: stage.coarse });
    this.floors = layouts.flatMap((layout) => layout.floors);
    const standing = flat && !scene.members.some(({ lines }) => lines.length); // seen from above, on its wheels
    this.back = !flat ? 0 : standing ? this.styles.low : this.styles.low - (this.floors.length ? 0.22 : 0.07) * size;
    const front = this.styles.low - 0.008 * size;
    const block = standing ? [this.back, this.back + 0.05 * size] : [this.back, front];
    const materials = stage.materials;
    this.surroundings = new Surroundings(frame, layouts, { dimension, size, low: block[0], high: block[1], materials });
    const forces = layouts.flatMap((layout, m) => layout.arrows.map((offset, k) => ({ offset, ...scene.members[m].arrows[k] })));
    const moments = layouts.flatMap((layout) => layout.moments.map((offset) => ({ offset })));
    const height = this.styles.high + 0.015 * size;
    const reach = Math.max(0.25 * size, this.#extent(layouts.filter(({ arrows, moments: m }) => arrows.length + m.length)));
    this.forces = new Forces(forces, moments, { dimension, size: Math.min(size, reach), height, largest: this.options.largest, coarse: stage.coarse });
    this.trails = new Trails(layouts.reduce((sum, layout) => sum + layout.trails.length, 0), size);
    this.plane = new GridPlane(size);
    this.shelf = flat && this.floors.length ? new Shelf(size, this.back, materials.shelf) : null;
    this.spring = new Pull(size);
    this.worldAxes = new Axes(1, dimension, 0.25 * size);
    this.worldAxes.mesh.add(axisLabels(dimension, 0.25 * size));
    this.worldAxes.pose([new THREE.Matrix4()]);
    this.bodies = this.#bodies();
    this.bodyAxes = new Axes(this.bodies.length, dimension, 0.12 * size);
    const parts = [this.figure.group, this.surroundings.group, this.forces.group, this.trails.mesh, this.plane.object];
    stage.scene.add(...parts, this.spring.group, this.worldAxes.mesh, this.bodyAxes.mesh);
    if (this.shelf) stage.scene.add(this.shelf.mesh);
    this.#limits();
    this.#paint();
    this.#choose();
  }

  /** The first view: the limits of the scene. */
  #limits() {
    const { data: scene } = this;
    const points = this.#points();
    this.firstCentre = this.#centre(points);
    this.low = [...scene.low, 0].slice(0, 3);
    this.high = [...scene.high, 0].slice(0, 3);
    const floor = this.framing ? this.#lowest(boundsOf(points)) : scene.low[2]; // without framing: of the whole motion
    if (scene.dimension === 2) this.plane.place([0, 0, this.back], [0, 0, 1]);
    else if (!this.floors.length) this.plane.place([0, 0, floor], [0, 0, 1]);
  }

  /** The height of the ground below a mechanism in space: its lowest point, or below all that can hang on its base. */
  #lowest({ low, extent }) {
    const { layouts, frame } = this;
    const lines = layouts.flatMap((layout) => layout.lines.map((line) => pointsOf(frame, line, 3)));
    const base = lines.length ? Math.min(...lines.map((points) => points[0][2])) : low[2];
    const last = lines[lines.length - 1]; // it begins at the base
    if (!last || last[0][2] - low[2] < 0.2 * extent) return low[2];
    const reach = lines.reduce((sum, points) => sum + lengthOf(points), 0);
    return Math.min(low[2], Math.max(base, last[0][2] - reach));
  }

  #extent(layouts) {
    return layouts.length ? boundsOf(this.#points(layouts)).extent : 0;
  }

  /** All points that are drawn; of a solid, the ends of the diagonal of a box around it. */
  #points(layouts = this.layouts, frame = this.frame) {
    const { data: scene } = this;
    return layouts.flatMap((layout) => [
      ...[...layout.lines, ...layout.outlines, ...layout.ground].flatMap((line) => pointsOf(frame, line, scene.dimension)),
      ...layout.solids.flatMap((at, k) => {
        const { kind, size } = scene.members[this.layouts.indexOf(layout)].solids[k];
        const half = kind === "sphere" ? [size[0], size[0], size[0]] : kind === "cylinder" ? [size[0], size[0], size[1] / 2] : size.map((s) => s / 2);
        const reach = [0, 1, 2].map((i) => half.reduce((sum, h, j) => sum + Math.abs(frame[at + 3 + 3 * i + j]) * h, 0));
        return [-1, 1].map((side) => reach.map((r, i) => frame[at + i] + side * r));
      }),
    ]);
  }

  /** The points that the view has room for; with a camera that follows, relative to where the mechanism is. */
  #framed(frame) {
    const points = this.#points(this.layouts, frame);
    if (!this.shown.follow || !this.firstCentre) return points;
    const gone = this.#centre(points).sub(this.firstCentre).toArray();
    return points.map((point) => point.map((x, k) => x - gone[k]));
  }

  #centre(points) {
    const { low, high } = boundsOf(points);
    return new THREE.Vector3(...low.map((l, k) => (Number.isFinite(l) ? (l + high[k]) / 2 : 0)));
  }

  /** The poses of bodies for the axes on request: where they are in the frame. */
  #bodies() {
    const { data: scene, layouts } = this;
    if (scene.dimension === 2) return this.styles.rods.map(({ at, segment, layer }) => ({ at: at.start + 2 * segment, layer }));
    return layouts.flatMap((layout, m) => {
      const groups = new Set();
      return layout.solids.flatMap((at, k) => {
        const { group } = scene.members[m].solids[k];
        if (group >= 0 && groups.has(group)) return [];
        groups.add(group);
        return [{ at }];
      });
    });
  }

  #bodyPose({ at, layer }) {
    const { frame } = this;
    if (this.data.dimension === 3) return poseOf(frame, at);
    const angle = Math.atan2(frame[at + 3] - frame[at + 1], frame[at + 2] - frame[at]);
    return new THREE.Matrix4().makeRotationZ(angle).setPosition(frame[at], frame[at + 1], layer);
  }

  #pose() {
    const { frame, data: scene, stage } = this;
    const { dimension } = scene;
    this.figure.pose(frame);
    this.surroundings.pose(frame);
    this.forces.pose(frame);
    this.trails.add(this.#traced(frame));
    if (this.bodyAxes.mesh.visible) this.bodyAxes.pose(this.bodies.map((body) => this.#bodyPose(body)));
    if (this.floors.length) {
      const [floor] = this.floors;
      const [at, normal] = [pointOf(frame, floor, dimension), pointOf(frame, floor + dimension, dimension)];
      if (this.shelf) this.shelf.place(at, normal);
      else this.plane.place(at, normal);
    }
    const points = this.#points();
    this.framing?.see(this.#framed(frame));
    this.centre = this.#centre(points);
    const { low, high } = boundsOf(points);
    const radius = 0.6 * Math.hypot(...high.map((h, k) => h - low[k])) + 0.25 * scene.size;
    if (!(radius < this.lightRadius) || radius < this.lightRadius / 4) this.lightRadius = 1.15 * radius;
    stage.aim(this.centre, this.lightRadius);
    this.plane.light(this.centre, 1.4 * this.lightRadius);
    this.changed = true;
  }

  #traced(frame) {
    const { dimension } = this.data;
    const height = dimension === 2 ? this.styles.high + 0.004 * this.data.size : null;
    return this.layouts.flatMap((layout) => layout.trails.map((offset) => {
      const [x, y, z] = pointOf(frame, offset, dimension);
      return [x, y, height ?? z];
    }));
  }

  #paint() {
    const { theme, data: scene } = this;
    this.figure.paint(theme);
    this.surroundings.paint(theme);
    this.forces.paint(theme);
    this.spring.paint(theme);
    const flat = scene.dimension === 2;
    const [base, opacity, shadow] = flat ? [theme.wall, 0.7, 0.55 * theme.shadow] : [theme.floor, 0.55, theme.shadow];
    this.plane.paint(theme, base, opacity, shadow);
    if (this.ghost) {
      this.stage.scene.remove(this.ghost.group);
      this.ghost = null;
    }
  }

  /** Show what is chosen. */
  #choose() {
    const { shown } = this;
    this.forces.show(shown);
    if (this.frame) this.forces.pose(this.frame);
    this.trails.mesh.visible = shown.trails;
    this.worldAxes.mesh.visible = shown.axes;
    this.bodyAxes.mesh.visible = shown.frames;
    if (shown.frames) this.bodyAxes.pose(this.bodies.map((body) => this.#bodyPose(body)));
    if (shown.ghost && this.ghostFrame && !this.ghost) {
      this.ghost = new Figure(this.data, this.layouts, this.styles, ghostMaterials(this.theme), { coarse: this.stage.coarse, ghost: true });
      this.ghost.paint(this.theme);
      this.stage.scene.add(this.ghost.group);
    }
    if (!this.ghost) return;
    this.ghost.group.visible = shown.ghost;
    if (shown.ghost) this.ghost.pose(this.ghostFrame);
    this.ghost.group.traverse((child) => {
      child.castShadow = child.receiveShadow = false;
      child.renderOrder = 2;
    });
  }
}
