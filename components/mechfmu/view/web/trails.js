/** Where points have been: ribbons that face the viewer and fade. */
import { linear, THREE } from "./three.js";

const LONGEST = 2.5; // of the size
const STEP = 0.006; // of the size: nearer points are not kept
const JUMP = 0.6; // of the size: a point that jumps leaves no trail
const MOST = 500; // points
const WIDTH = 0.0035; // of the size
const ROWS = MOST + 3; // pairs of vertices of one trail
const NOWHERE = [0, 0, 0];

export class Trails {
  constructor(count, size) {
    this.size = size;
    this.trails = Array.from({ length: count }, () => []);
    const geometry = new THREE.BufferGeometry();
    const rows = ROWS * count;
    const attribute = (n) => new THREE.BufferAttribute(new Float32Array(n * 2 * rows), n).setUsage(THREE.DynamicDrawUsage);
    geometry.setAttribute("position", attribute(3));
    geometry.setAttribute("color", attribute(4));
    const faces = [];
    for (let row = 0; row + 1 < rows; row++) faces.push(2 * row, 2 * row + 1, 2 * row + 2, 2 * row + 1, 2 * row + 3, 2 * row + 2);
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
    const { geometry } = this.mesh;
    const { position, color } = geometry.attributes;
    const { r, g, b } = linear(theme.trail);
    let row = 0;
    const put = (at, [x, y, z], alpha) => {
      position.setXYZ(2 * row, at[0] + x, at[1] + y, at[2] + z);
      position.setXYZ(2 * row + 1, at[0] - x, at[1] - y, at[2] - z);
      for (const vertex of [2 * row, 2 * row + 1]) color.setXYZW(vertex, r, g, b, alpha);
      row += 1;
    };
    for (const trail of this.trails) {
      const last = trail.length - 1;
      if (last < 1) continue;
      put(trail[0], NOWHERE, 0); // without a width: nothing joins two trails
      trail.forEach((at, n) => {
        const [from, to] = [trail[Math.max(0, n - 1)], trail[Math.min(last, n + 1)]];
        const t = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
        const e = [eye.x - at[0], eye.y - at[1], eye.z - at[2]];
        const v = [t[1] * e[2] - t[2] * e[1], t[2] * e[0] - t[0] * e[2], t[0] * e[1] - t[1] * e[0]];
        const length = Math.hypot(v[0], v[1], v[2]);
        const w = length > 0 ? (WIDTH * this.size * (0.4 + (0.6 * n) / last)) / length : 0;
        put(at, [w * v[0], w * v[1], w * v[2]], 0.85 * (n / last) ** 1.4);
      });
      put(trail[last], NOWHERE, 0);
    }
    geometry.setDrawRange(0, 6 * Math.max(0, row - 1));
    position.needsUpdate = color.needsUpdate = true;
  }
}
