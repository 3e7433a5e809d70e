/** Closed outlines of a planar drawing as solid plates. A plate moves as a whole; one that deforms is made anew. */
import { THREE } from "./three.js";
import { creased } from "./shapes.js";

const FEW = 8; // corners of a shape that get round
const ROUND = 0.12; // of the shorter side at a corner
const BENT = 1e-3; // relative to its extent: a plate that deforms more is made anew

export class Plate {
  /** points: [[x, y, z], ...], the last one equal to the first; low, high: where it begins and ends above the plane */
  constructor(points, low, high, material) {
    this.low = low;
    this.high = high;
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), material);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.mesh.matrixAutoUpdate = false;
    this.drawn = null;
    this.pose(points);
  }

  pose(points) {
    if (this.drawn && same(points, this.drawn)) return;
    this.drawn = points;
    const flat = spread(points);
    this.mesh.visible = flat > 1e-9;
    if (!this.mesh.visible) return;
    const place = this.rest && fitted(this.rest, points);
    if (!place || place.error > BENT * flat) this.#make(points, flat);
    else this.mesh.matrix.makeRotationZ(place.angle).setPosition(...place.at, 0);
  }

  #make(points, extent) {
    this.rest = points.map(([x, y]) => [x, y]);
    const shape = rounded(this.rest.slice(0, -1).map(([x, y]) => new THREE.Vector2(x, y)));
    const depth = this.high - this.low;
    const round = Math.min(0.22 * depth, 0.04 * extent);
    const extruded = new THREE.ExtrudeGeometry(shape, {
      depth: depth - 2 * round, bevelEnabled: true, bevelThickness: round, bevelSize: round, bevelOffset: -round,
      bevelSegments: 3, curveSegments: 5,
    });
    extruded.translate(0, 0, this.low + round);
    const { array } = extruded.attributes.position;
    this.mesh.geometry.dispose();
    this.mesh.geometry = creased(array.map((x) => Math.fround(Number(x.toPrecision(6)))), [...Array(array.length / 3).keys()]);
    this.mesh.matrix.identity();
    extruded.dispose();
  }
}

/** A shape whose corners are round, where they are few. */
function rounded(corners) {
  if (corners.length > FEW) return new THREE.Shape(corners);
  const shape = new THREE.Shape();
  corners.forEach((corner, k) => {
    const before = corners[(k + corners.length - 1) % corners.length].clone().sub(corner);
    const after = corners[(k + 1) % corners.length].clone().sub(corner);
    const reach = ROUND * Math.min(before.length(), after.length());
    const [from, to] = [before, after].map((side) => side.setLength(reach).add(corner));
    if (k) shape.lineTo(from.x, from.y);
    else shape.moveTo(from.x, from.y);
    shape.quadraticCurveTo(corner.x, corner.y, to.x, to.y);
  });
  shape.closePath();
  return shape;
}

/** The displacement that brings points closest to others, and the largest distance that remains. */
function fitted(rest, points) {
  const middle = (rows) => [0, 1].map((k) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length);
  const [a, b] = [middle(rest), middle(points)];
  let [sine, cosine] = [0, 0];
  rest.forEach(([x, y], k) => {
    const [p, q, r, s] = [x - a[0], y - a[1], points[k][0] - b[0], points[k][1] - b[1]];
    cosine += p * r + q * s;
    sine += p * s - q * r;
  });
  const angle = Math.atan2(sine, cosine);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const at = [b[0] - c * a[0] + s * a[1], b[1] - s * a[0] - c * a[1]];
  const apart = ([x, y], k) => Math.hypot(c * x - s * y + at[0] - points[k][0], s * x + c * y + at[1] - points[k][1]);
  return { angle, at, error: Math.max(...rest.map(apart)) };
}

function spread(points) {
  const [x, y] = [0, 1].map((k) => points.map((p) => p[k]));
  return Math.min(Math.max(...x) - Math.min(...x), Math.max(...y) - Math.min(...y));
}

function same(a, b) {
  return a.every((p, k) => p[0] === b[k][0] && p[1] === b[k][1]);
}
