/** Forces as arrows, moments as curved arrows, and their common scale. */
import { linear, THREE } from "./three.js";
import { pointOf } from "./layout.js";
import { across, instances } from "./rods.js";

const LONGEST = 0.34; // of the size: the arrow of the largest force
const WIDEST = (4 / 3) * Math.PI; // the arc of the largest moment
const FULL = 5.5; // rad: no arc is longer, so that its head does not cover its start
const SHORTEST = 0.012; // of the size: smaller arrows are not shown
const LEAST = 0.12; // rad: smaller arcs are not shown
const THICKNESS = 0.0065; // of the size
const HEAD = { length: 0.05, width: 2.6 }; // of the size; of the thickness
/** Numbers of sections: of a curved arrow along and around it, of shafts, of heads. */
const FINE = { arc: 28, sides: 8, shaft: 12, head: 18 };
const COARSE = { arc: 14, sides: 4, shaft: 5, head: 7 };
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
  constructor(forces, moments, { dimension, size, height, largest, coarse }) {
    Object.assign(this, { forces, moments, dimension, size, height });
    this.parts = coarse ? COARSE : FINE;
    this.scale = { force: new ArrowScale(largest?.force), moment: new ArrowScale(largest?.moment) };
    this.legend = { length: LONGEST * size, shown: roundUp(0.4 * LONGEST * size) };
    const count = forces.length + moments.length;
    this.momentColour = new THREE.Color();
    this.group = new THREE.Group();
    this.shaft = new THREE.CylinderGeometry(1, 1, 1, this.parts.shaft, 1).translate(0, 0.5, 0).rotateZ(-Math.PI / 2);
    this.head = new THREE.ConeGeometry(1, 1, this.parts.head, 1).translate(0, 0.5, 0).rotateZ(-Math.PI / 2);
    const material = new THREE.MeshStandardMaterial({ roughness: 0.9 });
    this.shafts = instances(this.shaft, Math.max(1, forces.length), material);
    this.heads = instances(this.head, Math.max(1, count), material);
    for (const mesh of [this.shafts, this.heads]) mesh.setColorAt(0, this.momentColour); // makes room for all colours
    this.arcs = new THREE.Mesh(arcGeometry(moments.length, this.parts), new THREE.MeshStandardMaterial({ roughness: 0.9 }));
    this.arcs.frustumCulled = false;
    for (const mesh of [this.shafts, this.heads, this.arcs]) {
      mesh.castShadow = mesh.receiveShadow = false;
      mesh.userData.behind = behind(mesh);
      this.group.add(mesh, mesh.userData.behind);
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

  /** The colours, from the next pose on. */
  paint(theme) {
    this.colours = this.forces.map(({ kind }) => linear(theme[kind]));
    this.momentColour = linear(theme.moment);
    for (const { material } of [this.arcs, this.arcs.userData.behind]) material.color.copy(this.momentColour);
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
    this.shafts.count = this.heads.count = this.bent = 0;
    this.forces.forEach(({ offset }, k) => this.#arrow(frame, offset, strength[k], this.colours[k]));
    this.moments.forEach(({ offset }, k) => this.#arc(frame, offset, turning[k]));
    for (const mesh of [this.shafts, this.heads]) {
      mesh.userData.behind.count = mesh.count;
      mesh.instanceMatrix.needsUpdate = mesh.instanceColor.needsUpdate = true;
    }
    const { geometry } = this.arcs; // the same behind
    geometry.setDrawRange(0, 6 * this.parts.sides * this.parts.arc * this.bent);
    geometry.attributes.position.needsUpdate = geometry.attributes.normal.needsUpdate = true;
  }

  #arrow(frame, offset, strength, colour) {
    const length = strength ? (LONGEST * this.size * strength) / this.scale.force.unit : 0;
    if (!(length > SHORTEST * this.size)) return;
    const at = this.#lifted(frame, offset);
    const e = pointOf(frame, offset + this.dimension, this.dimension).map((x) => x / strength);
    const head = Math.min(0.45 * length, HEAD.length * this.size);
    const thick = Math.min(THICKNESS * this.size, 0.3 * head);
    place(this.shafts, colour, at, e, length - head, thick);
    place(this.heads, colour, at.map((x, i) => x + (length - head) * e[i]), e, head, HEAD.width * thick);
  }

  /** An arc around the axis of the moment, which is the z axis in the plane; there it is open at its lower side. */
  #arc(frame, offset, turning) {
    const flat = this.dimension === 2;
    const angle = turning ? Math.min((WIDEST * turning) / this.scale.moment.unit, FULL) : 0;
    if (!(angle > LEAST)) return;
    const at = this.#lifted(frame, offset);
    const axis = (flat ? [0, 0, frame[offset + 2]] : pointOf(frame, offset + 3, 3)).map((x) => x / turning);
    const f = flat ? [0, 1, 0] : across(axis);
    const g = [axis[1] * f[2] - axis[2] * f[1], axis[2] * f[0] - axis[0] * f[2], axis[0] * f[1] - axis[1] * f[0]];
    const radius = (flat ? 0.05 : 0.07) * this.size;
    const head = Math.min(0.45 * angle, (0.8 * HEAD.length * this.size) / radius);
    const thick = Math.min(THICKNESS * this.size, 0.3 * head * radius);
    const out = (turn) => f.map((x, i) => x * Math.cos(turn) + g[i] * Math.sin(turn));
    const { position, normal } = this.arcs.geometry.attributes;
    const { arc, sides } = this.parts;
    for (let n = 0; n <= arc; n++) {
      const o = out(-angle / 2 + ((angle - head) * n) / arc);
      for (let s = 0; s < sides; s++) {
        const [c, d] = [Math.cos((2 * Math.PI * s) / sides), Math.sin((2 * Math.PI * s) / sides)];
        const v = o.map((x, i) => c * x + d * axis[i]);
        const index = (this.bent * (arc + 1) + n) * sides + s;
        position.setXYZ(index, ...v.map((x, i) => at[i] + radius * o[i] + thick * x));
        normal.setXYZ(index, ...v);
      }
    }
    this.bent += 1;
    const neck = out(angle / 2 - head);
    const middle = angle / 2 - head / 2;
    const along = f.map((x, i) => -x * Math.sin(middle) + g[i] * Math.cos(middle));
    const tip = at.map((x, i) => x + radius * neck[i]);
    place(this.heads, this.momentColour, tip, along, head * radius, HEAD.width * thick);
  }

  #lifted(frame, offset) {
    const at = pointOf(frame, offset, this.dimension);
    if (this.dimension === 2) at[2] = this.height;
    return at;
  }
}

/** Add an instance to a mesh. */
function place(mesh, colour, at, e, length, radius) {
  const k = mesh.count++;
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
  mesh.setColorAt(k, colour);
}

/** What is hidden of arrows inside bodies is shown faintly. */
function behind(mesh) {
  const faint = mesh.clone();
  faint.material = mesh.material.clone();
  Object.assign(faint.material, { transparent: true, opacity: 0.28, depthFunc: THREE.GreaterDepth, depthWrite: false });
  if (mesh.isInstancedMesh) Object.assign(faint, { instanceMatrix: mesh.instanceMatrix, instanceColor: mesh.instanceColor });
  faint.renderOrder = 4;
  return faint;
}

function arcGeometry(count, { arc, sides }) {
  const geometry = new THREE.BufferGeometry();
  for (const name of ["position", "normal"]) {
    const numbers = new Float32Array(3 * sides * (arc + 1) * count);
    geometry.setAttribute(name, new THREE.BufferAttribute(numbers, 3).setUsage(THREE.DynamicDrawUsage));
  }
  const faces = [];
  for (let k = 0; k < count; k++) {
    for (let n = 0; n < arc; n++) {
      const row = (k * (arc + 1) + n) * sides;
      for (let s = 0; s < sides; s++) {
        const [a, b] = [row + s, row + ((s + 1) % sides)];
        faces.push(a, b, a + sides, b, b + sides, a + sides);
      }
    }
  }
  geometry.setIndex(faces);
  return geometry;
}

function short(x) {
  return String(Number(x.toPrecision(3)));
}
