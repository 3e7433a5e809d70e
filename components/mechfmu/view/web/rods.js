/**
 * Rods between joints: all those of a figure in three draw calls. A rod is two half ends and a middle that is
 * stretched, so rods that change their length keep their shape. In the plane rods are flat bars, one behind the other,
 * with pins through their ends; in space they are round, with balls.
 */
import { linear, THREE } from "./three.js";
import { rodEnd, rodMiddle, roundedCylinder, section } from "./shapes.js";

/** Numbers of sections: of edges of bars, of round rods, of ends, of pins, of balls (around, from pole to pole). */
const FINE = { edge: 4, round: 7, end: 10, pin: 20, ball: [20, 14] };
const COARSE = { edge: 1, round: 3, end: 5, pin: 10, ball: [12, 7] };

export class Rods {
  /**
   * rods: [{at, segment, radius, layer, colour}], joints: [{at, point, radius, layers: [low, high], colour}];
   * `at` is a line, as `read` of `pose` knows it;
   * a layer is a height above the plane of the drawing, in m; coarse: with few triangles
   */
  constructor(rods, joints, flat, material, coarse) {
    this.rods = rods;
    this.joints = joints;
    this.flat = flat;
    const parts = coarse ? COARSE : FINE;
    const rows = flat ? section(0.42, 0.3, parts.edge) : section(1, 1, parts.round);
    this.middles = instances(rodMiddle(rows), rods.length, material);
    this.ends = instances(rodEnd(rows, parts.end), 2 * rods.length, material);
    const pin = flat ? roundedCylinder(1, 2, 0.35, parts.pin, parts.edge) : new THREE.SphereGeometry(1, ...parts.ball);
    this.pins = instances(pin, joints.length, material);
    this.objects = [this.middles, this.ends, this.pins].filter((mesh) => mesh.count);
    this.paint();
  }

  /** Set the colours of all instances, which may have changed. */
  paint() {
    const set = (mesh, index, colour) => mesh.setColorAt(index, linear(colour));
    this.rods.forEach((rod, k) => {
      set(this.middles, k, rod.colour);
      set(this.ends, 2 * k, rod.colour);
      set(this.ends, 2 * k + 1, rod.colour);
    });
    this.joints.forEach((joint, k) => set(this.pins, k, joint.colour));
    for (const mesh of this.objects) mesh.instanceColor.needsUpdate = true;
  }

  /** read(at, k) -> [x, y, z]: the point k of a line */
  pose(read) {
    this.rods.forEach(({ at, segment, radius, layer }, k) => {
      const a = read(at, segment);
      const b = read(at, segment + 1);
      const [x, y, z] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
      const length = Math.hypot(x, y, z);
      const r = length > 1e-9 ? radius : 0;
      const u = r ? [x / length, y / length, z / length] : [1, 0, 0];
      const n = this.flat ? UP : across(u);
      const v = [n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]];
      put(this.middles, k, u, length, v, r, n, a, layer);
      put(this.ends, 2 * k, u, -r, v, -r, n, a, layer, r);
      put(this.ends, 2 * k + 1, u, r, v, r, n, b, layer, r);
    });
    this.joints.forEach(({ at: line, point, radius, layers }, k) => {
      const at = read(line, point);
      const r = radius;
      const half = this.flat ? (layers[1] - layers[0]) / 2 : r;
      put(this.pins, k, RIGHT, r, AHEAD, r, UP, at, this.flat ? (layers[0] + layers[1]) / 2 : 0, half);
    });
    for (const mesh of this.objects) mesh.instanceMatrix.needsUpdate = true;
  }
}

const RIGHT = [1, 0, 0];
const AHEAD = [0, 1, 0];
const UP = [0, 0, 1];

/** A mesh of `count` copies that are placed one by one. */
export function instances(geometry, count, material) {
  const mesh = new THREE.InstancedMesh(geometry, material, count);
  mesh.frustumCulled = false;
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

/** A unit vector across a unit vector. */
export function across([x, y, z]) {
  const length = Math.abs(z) < 0.9 ? Math.hypot(x, y) : Math.hypot(y, z);
  return Math.abs(z) < 0.9 ? [y / length, -x / length, 0] : [0, z / length, -y / length];
}

function put(mesh, index, u, su, v, sv, n, at, layer, sn = sv) {
  const m = mesh.instanceMatrix.array;
  const o = 16 * index;
  for (let i = 0; i < 3; i++) {
    m[o + i] = u[i] * su;
    m[o + 4 + i] = v[i] * sv;
    m[o + 8 + i] = n[i] * sn;
    m[o + 12 + i] = at[i];
  }
  m[o + 14] += layer;
  m[o + 15] = 1;
}
