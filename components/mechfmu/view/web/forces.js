/** Forces as arrows, moments as curved arrows, and their common scale. */
import { linear, THREE } from "./three.js";
import { pointOf } from "./layout.js";
import { across, instances } from "./rods.js";

const LONGEST = 0.34; // of the size: the arrow of the largest force
const WIDEST = (4 / 3) * Math.PI; // the arc of the largest moment
const FULL = 5.5; // rad: no arc is longer, so that its head does not cover its start
const SHORTEST = 0.012; // of the size: smaller arrows are not shown
const THICKNESS = 0.0065; // of the size
const HEAD = { length: 0.05, width: 2.6 }; // of the size; of the thickness
const ARC = 28; // sections of a curved arrow
const SIDES = 8;
const FORGET = 0.999; // per frame: a large force long ago does not hide small ones for ever

/** The scale of one kind of arrow: `unit` is what its full size stands for, in steps of 1, 2, 5. */
export class ArrowScale {
  constructor(fixed = 0) {
    this.fixed = fixed;
    this.seen = 0;
    this.unit = 0;
  }

  /** part: of the full size, for which the number of the legend is to be round */
  see(largest, part) {
    this.seen = this.fixed || Math.max(largest, FORGET * this.seen);
    if (this.seen > this.unit || this.seen < this.unit / 6) this.unit = roundUp(this.seen * part) / part;
  }
}

function roundUp(x) {
  if (!(x > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(x) + 1e-9);
  return power * [1, 2, 5, 10].find((step) => step * power >= x * (1 - 1e-9));
}

export class Forces {
  /** forces: [{offset, kind, inner}], moments: [{offset}] in a frame */
  constructor(forces, moments, { dimension, size, height, largest }) {
    Object.assign(this, { forces, moments, dimension, size, height });
    this.scale = { force: new ArrowScale(largest?.force), moment: new ArrowScale(largest?.moment) };
    this.legend = { length: LONGEST * size, shown: roundUp(0.4 * LONGEST * size) };
    const count = forces.length + moments.length;
    this.group = new THREE.Group();
    this.shaft = new THREE.CylinderGeometry(1, 1, 1, 12, 1).translate(0, 0.5, 0).rotateZ(-Math.PI / 2);
    this.head = new THREE.ConeGeometry(1, 1, 18, 1).translate(0, 0.5, 0).rotateZ(-Math.PI / 2);
    const material = new THREE.MeshStandardMaterial({ roughness: 0.9 });
    this.shafts = instances(this.shaft, Math.max(1, forces.length), material);
    this.heads = instances(this.head, Math.max(1, count), material);
    this.arcs = new THREE.Mesh(arcGeometry(moments.length), new THREE.MeshStandardMaterial({ roughness: 0.9 }));
    this.arcs.frustumCulled = false;
    for (const mesh of [this.shafts, this.heads, this.arcs]) {
      mesh.castShadow = mesh.receiveShadow = false;
      this.group.add(mesh, behind(mesh));
    }
    this.show({ forces: true, reactions: true });
  }

  /** forces: whether those from outside and the moments are shown; reactions: whether those within the mechanism are */
  show({ forces, reactions }) {
    this.shown = { forces, reactions };
    const seen = this.forces.some(({ inner }) => (inner ? reactions : forces)) || (forces && this.moments.length > 0);
    this.arcs.visible = forces;
    this.group.visible = seen;
    this.drawn = { force: false, moment: false }; // whether there has been one
  }

  paint(theme) {
    this.forces.forEach(({ kind }, k) => {
      this.shafts.setColorAt(k, linear(theme[kind]));
      this.heads.setColorAt(k, linear(theme[kind]));
    });
    this.moments.forEach((_, k) => this.heads.setColorAt(this.forces.length + k, linear(theme.moment)));
    for (const child of this.group.children) {
      if (child.isInstancedMesh && child.instanceColor) child.instanceColor.needsUpdate = true;
      if (child.isInstancedMesh) child.instanceColor = child.userData.of?.instanceColor ?? child.instanceColor;
      else child.material.color.copy(linear(theme.moment));
      child.material.emissive.copy(linear("#000000"));
    }
  }

  /** What the scale is, for a legend; empty where there are no arrows. */
  text() {
    if (!this.group.visible) return "";
    const parts = [];
    const { force, moment } = this.scale;
    if (this.drawn.force) {
      const { shown, length } = this.legend;
      const unit = shown >= 1 ? ["m", 1] : shown >= 0.01 ? ["cm", 100] : ["mm", 1000];
      parts.push(`arrow ${short(shown * unit[1])} ${unit[0]} = ${short((force.unit * shown) / length)} N`);
    }
    if (this.drawn.moment) parts.push(`turn of 90° = ${short((moment.unit * Math.PI) / 2 / WIDEST)} N m`);
    return parts.join(", ");
  }

  pose(frame) {
    if (!this.group.visible) return;
    const size = (offset, count) => Math.hypot(...frame.subarray(offset, offset + count)) || 0;
    const { forces, reactions } = this.shown;
    const strength = this.forces.map(({ offset, inner }) => ((inner ? reactions : forces) ? size(offset + this.dimension, this.dimension) : 0));
    const turning = this.moments.map(({ offset }) => (forces ? size(offset + this.dimension, this.dimension === 2 ? 1 : 3) : 0));
    this.drawn.force ||= strength.some(Boolean);
    this.drawn.moment ||= turning.some(Boolean);
    this.scale.force.see(Math.max(0, ...strength), this.legend.shown / this.legend.length);
    this.scale.moment.see(Math.max(0, ...turning), Math.PI / 2 / WIDEST);
    this.forces.forEach(({ offset }, k) => this.#arrow(k, frame, offset, strength[k]));
    this.moments.forEach(({ offset }, k) => this.#arc(k, frame, offset, turning[k]));
    this.shafts.instanceMatrix.needsUpdate = this.heads.instanceMatrix.needsUpdate = true;
    const { position, normal } = this.arcs.geometry.attributes;
    position.needsUpdate = normal.needsUpdate = true;
  }

  #arrow(k, frame, offset, strength) {
    const length = strength ? (LONGEST * this.size * strength) / this.scale.force.unit : 0;
    const at = this.#lifted(frame, offset);
    const e = pointOf(frame, offset + this.dimension, this.dimension).map((x) => x / (strength || 1));
    const shown = length > SHORTEST * this.size;
    const head = shown ? Math.min(0.45 * length, HEAD.length * this.size) : 0;
    const thick = shown ? Math.min(THICKNESS * this.size, 0.3 * head) : 0;
    place(this.shafts, k, at, shown ? e : [1, 0, 0], shown ? length - head : 0, thick);
    place(this.heads, k, at.map((x, i) => x + (length - head) * e[i]), shown ? e : [1, 0, 0], head, HEAD.width * thick);
  }

  /** An arc around the axis of the moment, which is the z axis in the plane; there it is open at its lower side. */
  #arc(k, frame, offset, turning) {
    const flat = this.dimension === 2;
    const at = this.#lifted(frame, offset);
    const vector = flat ? [0, 0, frame[offset + 2]] : pointOf(frame, offset + 3, 3);
    const angle = turning ? Math.min((WIDEST * turning) / this.scale.moment.unit, FULL) : 0;
    const shown = angle > 0.12;
    const axis = shown ? vector.map((x) => x / turning) : [0, 0, 1];
    const f = flat ? [0, 1, 0] : across(axis);
    const g = [axis[1] * f[2] - axis[2] * f[1], axis[2] * f[0] - axis[0] * f[2], axis[0] * f[1] - axis[1] * f[0]];
    const radius = shown ? (flat ? 0.05 : 0.07) * this.size : 0;
    const head = Math.min(0.45 * angle, (0.8 * HEAD.length * this.size) / (radius || 1));
    const thick = shown ? Math.min(THICKNESS * this.size, 0.3 * head * radius) : 0;
    const out = (turn) => f.map((x, i) => x * Math.cos(turn) + g[i] * Math.sin(turn));
    const { position, normal } = this.arcs.geometry.attributes;
    for (let n = 0; n <= ARC; n++) {
      const o = out(-angle / 2 + ((angle - head) * n) / ARC);
      for (let s = 0; s < SIDES; s++) {
        const [c, d] = [Math.cos((2 * Math.PI * s) / SIDES), Math.sin((2 * Math.PI * s) / SIDES)];
        const v = o.map((x, i) => c * x + d * axis[i]);
        const index = (k * (ARC + 1) + n) * SIDES + s;
        position.setXYZ(index, ...v.map((x, i) => at[i] + radius * o[i] + thick * x));
        normal.setXYZ(index, ...v);
      }
    }
    const neck = out(angle / 2 - head);
    const middle = angle / 2 - head / 2;
    const along = f.map((x, i) => -x * Math.sin(middle) + g[i] * Math.cos(middle));
    const tip = at.map((x, i) => x + radius * neck[i]);
    place(this.heads, this.forces.length + k, tip, along, head * radius, HEAD.width * thick);
  }

  #lifted(frame, offset) {
    const at = pointOf(frame, offset, this.dimension);
    if (this.dimension === 2) at[2] = this.height;
    return at;
  }
}

function place(mesh, k, at, e, length, radius) {
  const f = across(e);
  const g = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]];
  const m = mesh.instanceMatrix.array;
  for (let i = 0; i < 3; i++) {
    m[16 * k + i] = length * e[i];
    m[16 * k + 4 + i] = radius * f[i];
    m[16 * k + 8 + i] = radius * g[i];
    m[16 * k + 12 + i] = at[i];
  }
  m[16 * k + 15] = 1;
}

/** What is hidden of arrows inside bodies is shown faintly. */
function behind(mesh) {
  const faint = mesh.clone();
  faint.material = mesh.material.clone();
  Object.assign(faint.material, { transparent: true, opacity: 0.28, depthFunc: THREE.GreaterDepth, depthWrite: false });
  if (mesh.isInstancedMesh) faint.instanceMatrix = mesh.instanceMatrix;
  faint.userData.of = mesh;
  faint.renderOrder = 4;
  return faint;
}

function arcGeometry(count) {
  const geometry = new THREE.BufferGeometry();
  for (const name of ["position", "normal"]) {
    const numbers = new Float32Array(3 * SIDES * (ARC + 1) * count);
    geometry.setAttribute(name, new THREE.BufferAttribute(numbers, 3).setUsage(THREE.DynamicDrawUsage));
  }
  const faces = [];
  for (let k = 0; k < count; k++) {
    for (let n = 0; n < ARC; n++) {
      const row = (k * (ARC + 1) + n) * SIDES;
      for (let s = 0; s < SIDES; s++) {
        const [a, b] = [row + s, row + ((s + 1) % SIDES)];
        faces.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
      }
    }
  }
  geometry.setIndex(faces);
  return geometry;
}

function short(x) {
  return String(Number(x.toPrecision(3)));
}
