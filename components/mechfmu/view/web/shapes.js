/** Geometries that three.js does not have: rods, bodies with rounded edges, meshes of files with their edges. */
import { THREE } from "./three.js";

function geometryOf(positions, normals, faces) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normals, 3));
  if (faces) geometry.setIndex(faces);
  return geometry;
}

/** Triangles between `count` rows of `width` vertices, seen from outside. */
function strip(count, width) {
  const faces = [];
  for (let i = 0; i + 1 < count; i++) {
    for (let j = 0; j + 1 < width; j++) {
      const a = i * width + j;
      faces.push(a, a + width, a + 1, a + 1, a + width, a + width + 1);
    }
  }
  return faces;
}

/**
 * The section of a rod of half width 1 from one flat side to the other: [distance from the middle, height, and the
 * normal]. thickness: its half; round: the radius of its edges.
 */
export function section(thickness, round, steps = 4) {
  const rows = round < thickness || round < 1 ? [[0, -thickness, 0, -1]] : [];
  for (const side of [-1, 1]) {
    for (let k = 0; k <= steps; k++) {
      const angle = (Math.PI / 2) * (side < 0 ? k / steps - 1 : k / steps);
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      rows.push([1 - round + round * c, side * (thickness - round) + round * s, c, s]);
    }
  }
  if (round < thickness || round < 1) rows.push([0, thickness, 0, 1]);
  return rows;
}

/** The half end of a rod of half width 1, around z, towards x. */
export function rodEnd(rows, steps = 10) {
  const positions = [];
  const normals = [];
  for (let k = 0; k <= steps; k++) {
    const angle = Math.PI * (k / steps - 0.5);
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    for (const [rho, z, out, up] of rows) {
      positions.push(rho * c, rho * s, z);
      normals.push(out * c, out * s, up);
    }
  }
  return geometryOf(positions, normals, strip(steps + 1, rows.length));
}

/** The middle of a rod, from 0 to 1 along x. */
export function rodMiddle(rows) {
  const loop = [...rows, ...rows.map(([rho, z, out, up]) => [-rho, z, -out, up]).reverse()];
  const positions = [];
  const normals = [];
  for (const x of [1, 0]) {
    for (const [y, z, out, up] of loop) {
      positions.push(x, y, z);
      normals.push(0, out, up);
    }
  }
  return geometryOf(positions, normals, strip(2, loop.length));
}

/** A body of revolution around z from [radius, z] rows, whose edges are rounded where they carry a radius. */
export function turned(rows, steps = 28) {
  const positions = [];
  const normals = [];
  for (let k = 0; k <= steps; k++) {
    const angle = (2 * Math.PI * k) / steps;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    for (const [rho, z, out, up] of rows) {
      positions.push(rho * c, rho * s, z);
      normals.push(out * c, out * s, up);
    }
  }
  return geometryOf(positions, normals, strip(steps + 1, rows.length));
}

export function roundedCylinder(radius, length, round, steps = 28, edge = 3) {
  const rows = section(length / 2 / radius, round / radius, edge);
  return turned(rows.map(([rho, z, out, up]) => [rho * radius, z * radius, out, up]), steps);
}

/** A box with round edges: a sphere whose eighths are moved apart. */
export function roundedBox(size, round, steps = 3) {
  const cells = 2 * steps + 1;
  const geometry = new THREE.BoxGeometry(2, 2, 2, cells, cells, cells);
  const { position, normal } = geometry.attributes;
  for (let i = 0; i < position.count; i++) {
    const corner = [position.getX(i), position.getY(i), position.getZ(i)];
    const sides = corner.map((c) => Math.sign(c));
    const inner = corner.map((c, k) => (Math.abs(c) > 1 - 1e-6 ? sides[k] : part(Math.abs(c), cells, steps) * sides[k]));
    const length = Math.hypot(...inner);
    const out = inner.map((c) => c / length);
    position.setXYZ(i, ...out.map((c, k) => c * round + sides[k] * Math.max(0, size[k] / 2 - round)));
    normal.setXYZ(i, ...out);
  }
  geometry.deleteAttribute("uv");
  return geometry;
}

/** Where a row of the box's grid is on its eighth of the sphere: the middle strip has none. */
function part(c, cells, steps) {
  return (Math.round(((c + 1) / 2) * cells) - steps - 1) / steps;
}

/** The triangles of a mesh that remain when the vertices in each cell of a grid become one; those that vanish go. */
export function merge(vertices, triangles, cell) {
  const first = new Map(); // cell -> its first vertex
  const of = (v) => {
    const key = [0, 1, 2].map((k) => Math.round(vertices[3 * v + k] / cell)).join();
    if (!first.has(key)) first.set(key, v);
    return first.get(key);
  };
  const kept = [];
  const seen = new Set();
  for (let f = 0; f < triangles.length; f += 3) {
    const corners = [0, 1, 2].map((k) => of(triangles[f + k]));
    const key = [...corners].sort((a, b) => a - b).join();
    if (new Set(corners).size < 3 || seen.has(key)) continue;
    seen.add(key);
    kept.push(...corners);
  }
  return kept.length ? Uint32Array.from(kept) : triangles;
}

const CREASE = Math.cos((38 / 180) * Math.PI); // faces that meet at a smaller angle are one smooth surface

/** A mesh of a file: smooth where it is round, with edges where it has them. */
export function creased(vertices, triangles) {
  const faceNormals = new Float32Array(triangles.length);
  const areas = new Float32Array(triangles.length);
  const around = new Map(); // corners that share a place
  const places = new Map();
  const place = new Int32Array(vertices.length / 3);
  for (let v = 0; v < place.length; v++) {
    const key = `${vertices[3 * v]},${vertices[3 * v + 1]},${vertices[3 * v + 2]}`;
    if (!places.has(key)) places.set(key, places.size);
    place[v] = places.get(key);
  }
  const [a, b, c, n] = Array.from({ length: 4 }, () => new THREE.Vector3());
  for (let f = 0; f < triangles.length; f += 3) {
    [a, b, c].forEach((corner, k) => corner.fromArray(vertices, 3 * triangles[f + k]));
    n.crossVectors(b.sub(a), c.sub(a));
    areas[f] = n.length();
    n.normalize().toArray(faceNormals, f);
    for (let k = 0; k < 3; k++) {
      const at = place[triangles[f + k]];
      if (!around.has(at)) around.set(at, []);
      around.get(at).push(f);
    }
  }
  const positions = new Float32Array(3 * triangles.length);
  const normals = new Float32Array(3 * triangles.length);
  for (let f = 0; f < triangles.length; f += 3) {
    const [x, y, z] = faceNormals.subarray(f, f + 3);
    for (let k = 0; k < 3; k++) {
      n.set(0, 0, 0);
      for (const other of around.get(place[triangles[f + k]])) {
        const [p, q, r] = faceNormals.subarray(other, other + 3);
        const cosine = x * p + y * q + z * r;
        const side = cosine < 0 ? -1 : 1; // files differ in the orientation of their faces
        if (Math.abs(cosine) >= CREASE) n.add(c.set(p, q, r).multiplyScalar(side * areas[other]));
      }
      if (n.lengthSq() === 0) n.set(x, y, z);
      n.normalize().toArray(normals, 3 * (f + k));
      for (let i = 0; i < 3; i++) positions[3 * (f + k) + i] = vertices[3 * triangles[f + k] + i];
    }
  }
  return geometryOf(positions, normals, null);
}
