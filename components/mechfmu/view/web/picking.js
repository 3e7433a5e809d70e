/** Which part of a mechanism is under the pointer. */
import { pointsOf } from "./layout.js";
import { inside } from "./ground.js";
import { THREE } from "./three.js";

const NEAR = { mouse: 6, touch: 18 }; // pixels from a thin part that still hit it

/**
 * What View.pick returns. orbit: the camera; touch: whether a finger points; figure, scene, layouts, frame: what is
 * shown. Lines are found by their distance on the screen, outlines by the point in their plane, solids by a ray.
 */
export function pickAt(x, y, { orbit, figure, scene, layouts, frame, touch }) {
  const near = NEAR[touch ? "touch" : "mouse"];
  const box = orbit.element.getBoundingClientRect();
  const flat = scene.dimension === 2;
  const caster = orbit.ray(x, y);
  const eye = caster.ray.origin;
  const screen = (point) => {
    const v = new THREE.Vector3(...point).project(orbit.camera);
    return [box.left + ((v.x + 1) / 2) * box.width, box.top + ((1 - v.y) / 2) * box.height, v.z];
  };
  const perMetre = (point) => box.height / (2 * Math.tan((orbit.camera.fov * Math.PI) / 360)) / eye.distanceTo(new THREE.Vector3(...point));
  const candidates = [];

  const thin = (member, part, index, radius, at, layer) => {
    const points = pointsOf(frame, at, scene.dimension);
    const shown = points.map((p) => screen(flat ? [p[0], p[1], layer] : p));
    let best = null;
    for (let k = 0; k + 1 < points.length; k++) {
      const found = nearest([x, y], shown[k], shown[k + 1]);
      if (found.ahead && (!best || found.distance < best.distance)) best = { ...found, segment: k };
    }
    if (!best) return;
    const [a, b] = [points[best.segment], points[best.segment + 1]];
    const along = flat ? best.along : alongRay(a, b, caster.ray) ?? best.along;
    const point = a.map((c, k) => c + along * (b[k] - c));
    const size = radius * perMetre(point);
    if (best.distance > size + near) return;
    const exact = best.distance <= size;
    const depth = eye.distanceTo(new THREE.Vector3(...point)) - radius;
    candidates.push({ exact, depth: flat ? depth - layer : depth, distance: best.distance, pick: { member, part, index, segment: best.segment, along, point: point.slice(0, scene.dimension) } });
  };
  const seen = new Set();
  for (const { member, part, index, radius, at, layer } of [...figure.styles.rods, ...figure.styles.tubes]) {
    const key = `${member} ${part} ${index}`;
    if (!seen.has(key)) thin(member, part, index, radius, at, layer ?? 0);
    seen.add(key);
  }
  if (flat) {
    const at = orbit.inPlane(x, y, new THREE.Vector3());
    for (const { member, part, index, at: line, high } of figure.styles.plates) {
      const points = pointsOf(frame, line, 2);
      if (!at || !inside([at.x, at.y], points)) continue;
      candidates.push({ exact: true, depth: eye.z - high, distance: 0, pick: { member, part, index, segment: 0, along: 0, point: [at.x, at.y] } });
    }
  } else {
    figure.solids.forEach((solids, member) => {
      const [hit] = caster.intersectObject(solids.group, true);
      if (!hit) return;
      const index = solids.solidAt(hit);
      candidates.push({ exact: true, depth: hit.distance, distance: 0, pick: { member, part: "solid", index, segment: 0, along: 0, point: hit.point.toArray() } });
    });
  }
  candidates.sort((a, b) => Number(b.exact) - Number(a.exact) || (a.exact ? a.depth - b.depth : a.distance - b.distance));
  return candidates[0]?.pick ?? null;
}

/** The point of a segment nearest to p, on the screen. */
function nearest(p, a, b) {
  const [x, y] = [b[0] - a[0], b[1] - a[1]];
  const square = x * x + y * y;
  const along = square ? Math.max(0, Math.min(1, ((p[0] - a[0]) * x + (p[1] - a[1]) * y) / square)) : 0;
  const distance = Math.hypot(p[0] - a[0] - along * x, p[1] - a[1] - along * y);
  return { along, distance, ahead: a[2] < 1 && b[2] < 1 };
}

/** Where a segment in space comes nearest to a ray, as a part of the segment; null where they are parallel. */
function alongRay(a, b, { origin, direction }) {
  const u = new THREE.Vector3(...b).sub(new THREE.Vector3(...a));
  const w = new THREE.Vector3(...a).sub(origin);
  const [uu, ud, uw, dw] = [u.dot(u), u.dot(direction), u.dot(w), direction.dot(w)];
  const determinant = uu - ud * ud;
  if (determinant < 1e-9 * uu || uu === 0) return null;
  return Math.max(0, Math.min(1, (ud * dw - uw) / determinant));
}
