/** The camera and how it is moved: around a point, or along the plane of a planar drawing. */
import { THREE } from "./three.js";

const ANGLE = { plane: 26, space: 32 }; // vertical field of view [deg]
const FIRST = { azimuth: 0.72, elevation: 0.36 }; // of the first view in space
const STEEPEST = Math.PI / 2 - 0.01;
const WHEEL = 0.0012; // zoom per pixel of the wheel
const MARGIN = { plane: 1.14, space: 1.06 }; // around the first view
const ROUND = 1.5; // how round the box is: 1: not at all, 2: an ellipsoid
const RANGE = [0.02, 60]; // of the distance, relative to the first view's

export class Orbit {
  /** onMove(): after the user has moved the camera */
  constructor(element, dimension, onMove) {
    this.element = element;
    this.flat = dimension === 2;
    this.onMove = onMove;
    this.enabled = true;
    this.moved = false;
    this.camera = new THREE.PerspectiveCamera(this.flat ? ANGLE.plane : ANGLE.space, 1, 0.01, 100);
    this.camera.up.set(0, this.flat ? 1 : 0, this.flat ? 0 : 1);
    this.target = new THREE.Vector3();
    this.offset = new THREE.Vector3(); // of a target that follows the mechanism
    this.azimuth = this.elevation = 0;
    this.distance = this.firstDistance = 1;
    this.pointers = new Map();
    this.#listen();
  }

  /** Look at a box from the front, or at a rounded box in space, from a little above. */
  fit(low, high) {
    const half = high.map((h, k) => Math.max(1e-9, (h - low[k]) / 2));
    this.target.set(...low.map((l, k) => (l + high[k]) / 2));
    this.azimuth = this.flat ? 0 : FIRST.azimuth;
    this.elevation = this.flat ? 0 : FIRST.elevation;
    const up = Math.tan((this.camera.fov * Math.PI) / 360);
    const across = up * this.camera.aspect;
    if (this.flat) this.distance = MARGIN.plane * Math.max(half[0] / across, half[1] / up);
    else this.distance = this.#around(half, up, across);
    this.firstDistance = this.distance;
    this.moved = false;
  }

  /** The distance from which all of a rounded box is seen: its points p have |p . right| <= (d - p . back) across. */
  #around(half, up, across) {
    const { right, above, back } = this.#axes();
    const farthest = (e) => half.reduce((sum, h, k) => sum + Math.abs(h * e.getComponent(k)) ** ROUND, 0) ** (1 / ROUND);
    const towards = (side, tangent) => farthest(side.clone().divideScalar(tangent).add(back));
    const sides = [towards(right, across), towards(right, -across), towards(above, up), towards(above, -up)];
    return MARGIN.space * Math.max(...sides);
  }

  get state() {
    return [this.azimuth, this.elevation, this.distance, ...this.target.toArray()];
  }

  set state([azimuth, elevation, distance, x, y, z]) {
    Object.assign(this, { azimuth, elevation, distance: Math.max(1e-9, distance) });
    this.target.set(x, y, z);
    this.moved = true;
  }

  /** The unit vectors of the view: to the right, upwards, and to the viewer. */
  #axes() {
    const [c, s] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const [C, S] = [Math.cos(this.elevation), Math.sin(this.elevation)];
    const turned = (x, y, z) => (this.flat ? new THREE.Vector3(x, z, -y) : new THREE.Vector3(x, y, z));
    // azimuth 0 looks along y in space, along -z in the plane
    return { right: turned(c, s, 0), above: turned(-S * s, S * c, C), back: turned(C * s, -C * c, S) };
  }

  /** Where the camera looks. */
  get focus() {
    return this.target.clone().add(this.offset);
  }

  update(aspect) {
    const focus = this.focus;
    this.camera.aspect = aspect;
    this.camera.position.copy(focus).addScaledVector(this.#axes().back, this.distance);
    this.camera.near = 0.02 * this.distance;
    this.camera.far = this.distance + 40 * Math.max(this.distance, this.firstDistance);
    this.camera.updateProjectionMatrix();
    this.camera.lookAt(focus);
    this.camera.updateMatrixWorld();
  }

  /** A ray from the camera through a point of the window. */
  ray(x, y) {
    const caster = new THREE.Raycaster();
    const box = this.element.getBoundingClientRect();
    const at = { x: ((x - box.left) / box.width) * 2 - 1, y: 1 - ((y - box.top) / box.height) * 2 };
    this.camera.updateMatrixWorld();
    caster.setFromCamera(at, this.camera);
    return caster;
  }

  /** The point under a point of the window in the plane through `point` that is parallel to the screen. */
  inPlane(x, y, point) {
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.flat ? new THREE.Vector3(0, 0, 1) : this.#axes().back, point);
    return this.ray(x, y).ray.intersectPlane(plane, new THREE.Vector3());
  }

  #listen() {
    const on = (name, action) => this.element.addEventListener(name, action, { passive: false });
    on("pointerdown", (event) => {
      this.touch = event.pointerType === "touch";
      this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, button: event.button });
      try {
        this.element.setPointerCapture(event.pointerId);
      } catch {
        // the pointer is gone already
      }
    });
    on("pointermove", (event) => this.#drag(event));
    for (const end of ["pointerup", "pointercancel"]) on(end, (event) => this.pointers.delete(event.pointerId));
    on("contextmenu", (event) => event.preventDefault());
    on("wheel", (event) => {
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 300 : 1);
      this.#zoom(Math.exp(WHEEL * Math.max(-300, Math.min(300, pixels)) * (event.ctrlKey ? 6 : 1)), event.clientX, event.clientY);
      this.#done();
    });
  }

  #drag(event) {
    const pointer = this.pointers.get(event.pointerId);
    if (!pointer) return;
    const before = [...this.pointers.values()].map(({ x, y }) => [x, y]);
    const [dx, dy] = [event.clientX - pointer.x, event.clientY - pointer.y];
    [pointer.x, pointer.y] = [event.clientX, event.clientY];
    if (!this.enabled || (dx === 0 && dy === 0)) return;
    if (before.length > 1) {
      const after = [...this.pointers.values()].map(({ x, y }) => [x, y]);
      const apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
      const middle = ([a, b]) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
      const [from, to] = [middle(before), middle(after)];
      this.#pan(to[0] - from[0], to[1] - from[1]);
      this.#zoom(apart(before) / apart(after), ...to);
    } else {
      const other = pointer.button === 2 || event.shiftKey || event.ctrlKey;
      if (this.flat !== other) this.#pan(dx, dy);
      else this.#turn(dx, dy);
    }
    this.#done();
  }

  #turn(dx, dy) {
    const pixels = Math.max(200, Math.min(this.element.clientWidth, this.element.clientHeight));
    this.azimuth -= (Math.PI * dx) / pixels;
    this.elevation = Math.max(-STEEPEST, Math.min(STEEPEST, this.elevation + (Math.PI * dy) / pixels));
    if (this.flat) this.azimuth = Math.max(-1.3, Math.min(1.3, this.azimuth)); // not behind the wall
  }

  #pan(dx, dy) {
    const { right, above } = this.#axes();
    const metres = (2 * this.distance * Math.tan((this.camera.fov * Math.PI) / 360)) / this.element.clientHeight;
    this.target.addScaledVector(right, -dx * metres).addScaledVector(above, dy * metres);
  }

  /** Change the distance; what is under the pointer stays there. */
  #zoom(factor, x, y) {
    const distance = Math.min(RANGE[1] * this.firstDistance, Math.max(RANGE[0] * this.firstDistance, this.distance * factor));
    const held = this.inPlane(x, y, this.focus);
    if (held) this.target.addScaledVector(held.sub(this.focus), 1 - distance / this.distance);
    this.distance = distance;
  }

  #done() {
    this.moved = true;
    this.onMove();
  }
}
