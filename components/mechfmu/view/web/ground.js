/** What stands around a mechanism: the ground of a mechanism in space, the wall behind a planar one, floors, obstacles. */
import { linear, THREE } from "./three.js";
import { closes, distance, pointOf, pointsOf } from "./layout.js";
import { Plate } from "./plates.js";
import { Tubes } from "./tubes.js";

const GRID_VERTEX = `
varying vec2 at;
uniform vec2 centre;
uniform float reach;
void main() {
  at = centre + reach * position.xy;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(at, 0.0, 1.0);
}`;

// two grids, the finer of which fades while the distance grows to ten times as much
const GRID_FRAGMENT = `
varying vec2 at;
uniform vec2 centre;
uniform float reach, cell, fine, strength, opacity;
uniform vec3 colour, base;
float lines(float width, float thick) {
  vec2 c = at / width;
  vec2 d = max(fwidth(c), vec2(1e-6));
  vec2 l = clamp(thick + 0.5 - abs(fract(c - 0.5) - 0.5) / d, 0.0, 1.0) * (1.0 - smoothstep(0.15, 0.6, d));
  return max(l.x, l.y);
}
void main() {
  float out_there = length(at - centre) / reach;
  float fade = 1.0 - smoothstep(0.12, 0.92, out_there);
  float line = max(lines(cell, 0.25) * 0.55 * fine, lines(10.0 * cell, 0.55));
  float a = strength * line * fade;
  float b = opacity * (1.0 - smoothstep(0.0, 1.0, out_there));
  float alpha = a + b * (1.0 - a);
  gl_FragColor = vec4(mix(base, colour, alpha > 0.0 ? a / alpha : 0.0), alpha);
}`;

const TRACK = 0.015; // of the size: thickness of lines of the ground

/** An endless plane with a grid, on which shadows fall. Its cells are 1, 10, 100 ... of 1 m, mm ... in size. */
export class GridPlane {
  constructor(size) {
    this.size = size;
    this.uniforms = { centre: { value: new THREE.Vector2() }, colour: { value: new THREE.Color() }, base: { value: new THREE.Color() } };
    for (const name of ["reach", "cell", "fine", "strength", "opacity"]) this.uniforms[name] = { value: 1 };
    const material = new THREE.ShaderMaterial({
      uniforms: this.uniforms, vertexShader: GRID_VERTEX, fragmentShader: GRID_FRAGMENT,
      transparent: true, depthWrite: false, side: THREE.DoubleSide, extensions: { derivatives: true },
    });
    const grid = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), material);
    this.shadow = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), new THREE.ShadowMaterial({ depthWrite: false }));
    this.shadow.receiveShadow = true;
    grid.frustumCulled = this.shadow.frustumCulled = false;
    grid.renderOrder = -2;
    this.shadow.renderOrder = -1;
    this.object = new THREE.Group();
    this.object.add(grid, this.shadow);
    this.place([0, 0, 0], [0, 0, 1]);
  }

  paint(theme, base, opacity, shadow) {
    this.uniforms.colour.value.set(theme.grid);
    this.uniforms.base.value.set(base);
    this.uniforms.strength.value = theme.gridStrength;
    this.uniforms.opacity.value = opacity;
    this.shadow.material.opacity = shadow;
  }

  /** A point of the plane and its normal. */
  place(at, normal) {
    const n = new THREE.Vector3(...normal).normalize();
    const origin = n.clone().multiplyScalar(n.dot(new THREE.Vector3(...at))); // the point nearest to that of the world
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), n);
    this.object.position.copy(origin);
    this.object.quaternion.copy(turn);
    this.object.updateMatrixWorld();
  }

  /** Shadows fall where the light is. */
  light(centre, radius) {
    const at = this.object.worldToLocal(centre.clone());
    this.shadow.position.set(at.x, at.y, 0);
    this.shadow.scale.set(radius, radius, 1);
  }

  /** The grid is around what the camera looks at, and its cells suit the distance. */
  look(focus, far) {
    const at = this.object.worldToLocal(focus.clone());
    this.uniforms.centre.value.set(at.x, at.y);
    this.uniforms.reach.value = 3.2 * Math.max(this.size, far);
    const level = Math.log10(far / 12);
    this.uniforms.cell.value = 10 ** Math.floor(level);
    this.uniforms.fine.value = 1 - (level - Math.floor(level)) ** 3;
  }
}

/** The level ground below a planar mechanism: a shelf from the wall to the viewer. */
export class Shelf {
  constructor(size, back, material) {
    this.size = size;
    const [depth, thickness, round] = [-2 * back, 0.16 * size, 0.012 * size];
    const shape = new THREE.Shape();
    shape.moveTo(0, 0).lineTo(depth - round, 0).absarc(depth - round, -round, round, Math.PI / 2, 0, true);
    shape.lineTo(depth, -thickness + round).absarc(depth - round, -thickness + round, round, 0, -Math.PI / 2, true);
    shape.lineTo(0, -thickness);
    const geometry = new THREE.ExtrudeGeometry(shape, { depth: 1, bevelEnabled: false, curveSegments: 6 });
    geometry.translate(0, 0, -0.5).rotateY(-Math.PI / 2); // x of the shape towards the viewer, its depth along x
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.scale.set(60 * size, 1, 1);
    this.mesh.receiveShadow = true;
    this.back = back;
  }

  place([x, y], [nx, ny]) {
    this.mesh.position.set(x, y, this.back);
    this.mesh.rotation.z = Math.atan2(-nx, ny);
  }
}

/**
 * The polylines of the ground: obstacles where they close, a mark where they close around a traced point, tubes
 * elsewhere; hatched lines are solid blocks.
 */
export class Surroundings {
  constructor(frame, layouts, { dimension, size, low, high, materials }) {
    Object.assign(this, { dimension, size, low, high, materials });
    this.group = new THREE.Group();
    this.plates = [];
    this.blocks = [];
    this.tubed = [];
    for (const layout of layouts) this.#sort(frame, layout);
    const tubes = this.tubed.map(({ mark, count, closed }) => ({
      count, closed, radius: (mark ? 0.006 : 0.007) * size, layer: mark ? low + 0.006 * size : 0, colour: mark ? "target" : "ground",
    }));
    this.tubes = new Tubes(tubes.map((tube) => ({ ...tube, colour: "#888" })), dimension === 2, materials.tube);
    this.looks = tubes.map(({ colour }) => colour);
    for (const object of [...this.tubes.objects, ...this.plates.map(({ plate }) => plate.mesh)]) this.group.add(object);
  }

  #sort(frame, layout) {
    const { dimension, size } = this;
    const traced = layout.trails.map((offset) => pointOf(frame, offset, dimension));
    const hidden = hatches(frame, layout.ground, dimension);
    let marked = null;
    layout.ground.forEach((line, k) => {
      const points = pointsOf(frame, line, dimension);
      if (hidden.has(k)) {
        const base = layout.ground[hidden.get(k)];
        if (!this.blocks.some((block) => block.line === base)) this.#block(frame, base, line);
      } else if ([...hidden.values()].includes(k)) {
        return; // the line of a block
      } else if (dimension === 2 && closes(points, 1e-6 * size)) {
        if (traced.some((point) => inside(point, points))) {
          marked = points;
          this.tubed.push({ ...line, mark: true, closed: true });
        } else {
          this.#plate(line, points, false);
        }
      } else {
        const middle = points[0].map((x, i) => (x + points[points.length - 1][i]) / 2);
        const mark = marked !== null && inside(middle, marked);
        if (mark || dimension === 3) this.tubed.push({ ...line, mark, closed: closes(points, 1e-6 * size) });
        else this.#plate(line, points, true);
      }
    });
  }

  /** An obstacle; open: a wall or a track along a line. */
  #plate(line, points, open) {
    const shape = (p) => (open ? band(p, TRACK * this.size) : p);
    this.plates.push({ plate: new Plate(shape(points), this.low, this.high, this.materials.ground), line, shape });
  }

  #block(frame, line, hatch) {
    const [a, b] = pointsOf(frame, line, this.dimension);
    const [from, to] = pointsOf(frame, hatch, this.dimension);
    const length = distance(a, b);
    const normal = [-(b[1] - a[1]) / length, (b[0] - a[0]) / length];
    const height = (to[0] - from[0]) * normal[0] + (to[1] - from[1]) * normal[1];
    const points = [[0, 0], [length, 0], [length, height], [0, height], [0, 0]].map(([x, y]) => [x, y, 0]);
    const plate = new Plate(height < 0 ? points.reverse() : points, this.low, this.high, this.materials.support);
    const holder = new THREE.Group();
    holder.add(plate.mesh);
    this.group.add(holder);
    this.blocks.push({ line, holder });
  }

  paint(theme) {
    this.tubes.tubes.forEach((tube, k) => (tube.colour = theme[this.looks[k]]));
    this.tubes.paint();
  }

  pose(frame) {
    const { dimension } = this;
    for (const { plate, line, shape } of this.plates) plate.pose(shape(pointsOf(frame, line, dimension)));
    for (const { line, holder } of this.blocks) {
      const [a, b] = pointsOf(frame, line, dimension);
      holder.position.set(a[0], a[1], 0);
      holder.rotation.z = Math.atan2(b[1] - a[1], b[0] - a[0]);
    }
    this.tubes.pose((k) => coordinates(frame, this.tubed[k], dimension));
  }
}

export function coordinates(frame, { start, count }, dimension) {
  return frame.subarray(start, start + count * dimension);
}

/** The closed outline of a line with a width; its upper side is the line. */
function band(points, width) {
  const normals = points.slice(1).map(([x, y], k) => {
    const [dx, dy] = [x - points[k][0], y - points[k][1]];
    const length = Math.hypot(dx, dy) || 1;
    return [dy / length, -dx / length];
  });
  const lower = points.map(([x, y], k) => {
    const [a, b] = [normals[Math.max(0, k - 1)], normals[Math.min(k, normals.length - 1)]];
    const stretch = width / Math.max(0.3, (1 + a[0] * b[0] + a[1] * b[1]) / 2) / 2;
    return [x + stretch * (a[0] + b[0]), y + stretch * (a[1] + b[1]), 0];
  });
  return [...points, ...lower.reverse(), points[0]];
}

/** Lines of two points that begin on the line of two points before them: index -> index of that line. */
function hatches(frame, lines, dimension) {
  const found = new Map();
  if (dimension === 3) return found;
  const shown = lines.map((line) => pointsOf(frame, line, dimension));
  for (let base = 0; base < lines.length; base++) {
    if (lines[base].count !== 2 || found.has(base)) continue;
    const [a, b] = shown[base];
    const on = ([p, q], k) => {
      const length = distance(a, b);
      return lines[k].count === 2 && distance(p, q) > 0 && distance(p, q) < 0.7 * length &&
        Math.abs(distance(a, p) + distance(p, b) - length) < 1e-6 * length && Math.abs(distance(a, q) + distance(q, b) - length) > 1e-3 * length;
    };
    const own = [];
    for (let k = base + 1; k < lines.length && on(shown[k], k); k++) own.push(k);
    if (own.length > 2) for (const k of own) found.set(k, base);
  }
  return found;
}

export function inside([x, y], points) {
  let odd = false;
  for (let k = 0, m = points.length - 1; k < points.length; m = k++) {
    const [a, b] = [points[k], points[m]];
    if (a[1] > y !== b[1] > y && x < ((b[0] - a[0]) * (y - a[1])) / (b[1] - a[1]) + a[0]) odd = !odd;
  }
  return odd;
}
