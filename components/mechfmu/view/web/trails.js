/** Where points have been: ribbons that face the viewer and fade. */
import { linear, THREE } from "./three.js";

const LONGEST = 2.5; // of the size
const STEP = 0.006; // of the size: nearer points are not kept
const JUMP = 0.6; // of the size: a point that jumps leaves no trail
const MOST = 500; // points
const WIDTH = 0.0035; // of the size

export class Trails {
  constructor(count, size) {
    this.size = size;
    this.trails = Array.from({ length: count }, () => []);
    const geometry = new THREE.BufferGeometry();
    const attribute = (n) => new THREE.BufferAttribute(new Float32Array(n * 2 * MOST * count), n).setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("position", attribute(3));
    geometry.setAttribute("color", attribute(4));
    const faces = [];
    for (let row = 0; row + 1 < MOST * count; row++) {
      if ((row + 1) % MOST) faces.push(2 * row, 2 * row + 1, 2 * row + 2, 2 * row + 1, 2 * row + 3, 2 * row + 2);
    }
    geometry.setIndex(faces);
    const look = { vertexColors: true, transparent: true, depthWrite: false, side: THREE.DoubleSide, toneMapped: false };
    this.mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial(look));
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 3;
  }

  clear() {
    for (const trail of this.trails) trail.length = 0;
  }

  /** points: where the points are now */
  add(points) {
    this.trails.forEach((trail, k) => {
      const now = points[k];
      const apart = (point) => Math.hypot(now[0] - point[0], now[1] - point[1], now[2] - point[2]);
      if (trail.length && apart(trail[trail.length - 1]) > JUMP * this.size) trail.length = 0;
      // the last point moves along until it is far enough from the one before
      if (trail.length > 1 && apart(trail[trail.length - 2]) < STEP * this.size) trail.pop();
      trail.push(now);
      let length = 0;
      let first = trail.length - 1;
      for (; first > 0 && length < LONGEST * this.size && trail.length - first < MOST; first--) {
        const [a, b] = [trail[first], trail[first - 1]];
        length += Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
      }
      if (first > 0) trail.splice(0, first);
    });
  }

  /** Turn the ribbons to a camera at `eye`. */
  face(eye, theme) {
    const { position, color } = this.mesh.geometry.attributes;
    const { r, g, b } = linear(theme.trail);
    this.trails.forEach((trail, k) => {
      for (let i = 0; i < MOST; i++) {
        const n = Math.min(i, trail.length - 1);
        const at = trail[n] ?? [0, 0, 0];
        const [from, to] = [trail[Math.max(0, n - 1)] ?? at, trail[Math.min(trail.length - 1, n + 1)] ?? at];
        const t = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
        const e = [eye.x - at[0], eye.y - at[1], eye.z - at[2]];
        const v = [t[1] * e[2] - t[2] * e[1], t[2] * e[0] - t[0] * e[2], t[0] * e[1] - t[1] * e[0]];
        const length = Math.hypot(...v);
        const part = trail.length > 1 ? n / (trail.length - 1) : 0;
        const w = length > 0 ? (WIDTH * this.size * (0.4 + 0.6 * part)) / length : 0;
        const row = 2 * (k * MOST + i);
        position.setXYZ(row, at[0] + w * v[0], at[1] + w * v[1], at[2] + w * v[2]);
        position.setXYZ(row + 1, at[0] - w * v[0], at[1] - w * v[1], at[2] - w * v[2]);
        for (const vertex of [row, row + 1]) color.setXYZW(vertex, r, g, b, 0.85 * part ** 1.4);
      }
    });
    position.needsUpdate = color.needsUpdate = true;
  }
}
