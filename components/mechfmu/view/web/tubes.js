/** Thin polylines, such as springs, ropes and edges, as tubes: all those of a figure in one geometry. */
import { linear, THREE } from "./three.js";
import { across } from "./rods.js";

const SIDES = 8;
const SHARP = 0.45; // at a sharper corner a tube becomes thinner
const CAP = [[1, 0], [0.7, 0.7], [0, 1]]; // of an end: radius and how far it stands out, relative to the tube's radius

export class Tubes {
  /** tubes: [{count, radius, layer, colour, closed}] */
  constructor(tubes, flat, material) {
    this.flat = flat;
    let first = 0;
    this.tubes = tubes.map((tube) => {
      const rings = tube.count + (tube.closed ? 0 : 2 * (CAP.length - 1));
      first += rings;
      return { ...tube, rings, first: first - rings, drawn: null };
    });
    const geometry = new THREE.BufferGeometry();
    const dynamic = (size) => {
      const attribute = new THREE.BufferAttribute(new Float32Array(size * SIDES * first), size);
      return attribute.setUsage(THREE.DynamicDrawUsage);
    };
    geometry.setAttribute("position", dynamic(3));
    geometry.setAttribute("normal", dynamic(3));
    geometry.setAttribute("color", dynamic(3));
    geometry.setIndex(this.tubes.flatMap(({ first: start, rings }) => ringFaces(start, rings)));
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.objects = tubes.length ? [this.mesh] : [];
    this.paint();
  }

  paint() {
    const { color } = this.mesh.geometry.attributes;
    for (const { colour, first, rings } of this.tubes) {
      const { r, g, b } = linear(colour);
      for (let k = SIDES * first; k < SIDES * (first + rings); k++) color.setXYZ(k, r, g, b);
    }
    color.needsUpdate = true;
  }

  /** coordinates(k) -> Float64Array x, y, (z,) ... of the tube k */
  pose(coordinates) {
    let changed = false;
    this.tubes.forEach((tube, k) => {
      const now = coordinates(k);
      if (tube.drawn && same(tube.drawn, now)) return;
      tube.drawn = Float64Array.from(now);
      this.#bend(tube, now);
      changed = true;
    });
    if (!changed) return;
    this.mesh.geometry.attributes.position.needsUpdate = true;
    this.mesh.geometry.attributes.normal.needsUpdate = true;
  }

  #bend({ count, radius, layer, first, closed }, now) {
    const positions = this.mesh.geometry.attributes.position.array;
    const normals = this.mesh.geometry.attributes.normal.array;
    const size = this.flat ? 2 : 3;
    const point = (k) => [now[k * size], now[k * size + 1], this.flat ? layer : now[k * size + 2]];
    let side = null;
    let ring = first;
    const put = (at, t, v, w, r, out, stretch) => {
      for (let s = 0; s < SIDES; s++) {
        const c = Math.cos((2 * Math.PI * s) / SIDES);
        const d = Math.sin((2 * Math.PI * s) / SIDES);
        const o = 3 * (SIDES * ring + s);
        for (let i = 0; i < 3; i++) {
          positions[o + i] = at[i] + r * (c * stretch * v[i] + d * w[i]) + radius * out * t[i];
          normals[o + i] = c * v[i] + d * w[i] + out * t[i];
        }
      }
      ring += 1;
    };
    let before = closed ? unit(point(count - 2), point(count - 1)) : unit(point(0), point(1));
    const still = !before && now.every((x, i) => x === now[i % size]);
    const r = still ? 0 : radius;
    before = before || [1, 0, 0];
    for (let k = 0; k < count; k++) {
      const at = point(k);
      const next = k + 1 < count ? point(k + 1) : closed ? point(1) : null;
      const after = (next && unit(at, next)) || before;
      let t = [before[0] + after[0], before[1] + after[1], before[2] + after[2]];
      const length = Math.hypot(...t);
      t = length > 1e-6 ? t.map((x) => x / length) : after;
      const cosine = Math.max(SHARP, length / 2); // of half the angle at this corner
      const w = this.flat ? [0, 0, 1] : (side = turnedAlong(side, t));
      const v = [t[1] * w[2] - t[2] * w[1], t[2] * w[0] - t[0] * w[2], t[0] * w[1] - t[1] * w[0]];
      if (k === 0 && !closed) for (const [thick, out] of [...CAP].reverse().slice(0, -1)) put(at, t, v, w, thick * r, r && -out, 1);
      put(at, t, v, w, r, 0, this.flat ? 1 / cosine : 1);
      if (k === count - 1 && !closed) for (const [thick, out] of CAP.slice(1)) put(at, t, v, w, thick * r, r && out, 1);
      before = after;
    }
  }
}

function ringFaces(first, rings) {
  const faces = [];
  for (let i = first; i + 1 < first + rings; i++) {
    for (let s = 0; s < SIDES; s++) {
      const [a, b] = [SIDES * i + s, SIDES * i + ((s + 1) % SIDES)];
      faces.push(a, a + SIDES, b, b, a + SIDES, b + SIDES);
    }
  }
  return faces;
}

function unit(a, b) {
  const [x, y, z] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
  const length = Math.hypot(x, y, z);
  return length > 1e-12 ? [x / length, y / length, z / length] : null;
}

/** A vector across t that turns as little as possible from the last one. */
function turnedAlong(last, t) {
  if (!last) return across(t);
  const along = last[0] * t[0] + last[1] * t[1] + last[2] * t[2];
  const v = [last[0] - along * t[0], last[1] - along * t[1], last[2] - along * t[2]];
  const length = Math.hypot(...v);
  return length > 1e-3 ? v.map((x) => x / length) : across(t);
}

function same(a, b) {
  for (let k = 0; k < a.length; k++) if (a[k] !== b[k]) return false;
  return true;
}
