/** The bodies of all members in one pose. The view has one that moves, and one that is its ghost. */
import { boundsOf, closes, distance, lengthOf, pointOf, pointsOf } from "./layout.js";
import { coordinates } from "./ground.js";
import { Plate } from "./plates.js";
import { Rods } from "./rods.js";
import { Solids } from "./solids.js";
import { THREE } from "./three.js";
import { Tubes } from "./tubes.js";

const RADIUS = 0.025; // of rods, relative to the extent of their member
const STOUT = 0.24; // relative to the length of the rods
const ROPE = 24; // points: a line of more, with short segments, is a rope
const FOOT = 1.3; // relative to the radius of a leg

/** How the parts of a scene are drawn, from the frame that is seen first: shared by a figure and its ghost. */
export function stylesOf(scene, layouts, frame) {
  const flat = scene.dimension === 2;
  const rods = [];
  const joints = [];
  const tubes = [];
  const plates = [];
  layouts.forEach((layout, member) => {
    const lines = layout.lines.map((line) => pointsOf(frame, line, scene.dimension));
    const outlines = layout.outlines.map((line) => pointsOf(frame, line, scene.dimension));
    const solids = scene.members[member].solids;
    const { extent } = boundsOf([...lines, ...outlines, ...layout.solids.map((at) => [[frame[at], frame[at + 1], frame[at + 2]]])].flat());
    const size = extent || scene.size;
    const meshed = solids.some(({ kind }) => kind === "mesh");
    const shaped = solids.some(({ real }) => real);
    const lengths = lines.filter((points) => !isThin(points, size)).flatMap((points) => segmentLengths(points)).filter((l) => l > 1e-6 * size).sort((a, b) => a - b);
    const typical = lengths.length ? lengths[Math.floor(lengths.length / 3)] : size;
    const radius = Math.min(RADIUS * size * (flat ? 1 : 0.8), STOUT * typical) || 0.01 * size;
    const floors = layout.floors.map((at) => frame.subarray(at, at + 2 * scene.dimension));
    let layer = 0;
    lines.forEach((points, line) => {
      const part = { member, part: "line", index: line };
      const at = layout.lines[line];
      if (meshed || points.length < 2) return;
      if (isThin(points, size) || shaped) {
        const thick = shaped ? 0.35 : isRope(points, size) ? 0.4 : 0.3;
        tubes.push({ ...part, count: points.length, at, radius: thick * radius, layer: 0, colour: shaped ? "bone" : isRope(points, size) ? "rope" : "spring", closed: closes(points, 1e-9 * size) });
        return;
      }
      const depth = flat ? stacked(layer++) * 2.0 * radius : 0;
      const colour = flat ? `line${(line + member) % 4}` : solids.length ? "bone" : `line${(line + member) % 4}`;
      const foot = flat && floors.some((floor) => above(points[points.length - 1], floor) < above(points[0], floor));
      for (let segment = 0; segment + 1 < points.length; segment++) {
        rods.push({ ...part, segment, at, radius, layer: depth + (flat ? (segment % 2 ? -0.42 : 0.42) * radius : 0), colour });
      }
      for (let point = 0; point < points.length; point++) {
        const last = point === points.length - 1;
        if (flat && last && !foot) continue;
        const sole = foot && last;
        const low = depth - (sole ? 0.95 : 1.02) * radius;
        const layers = point === 0 && flat && layer > 1 ? [-1.02 * radius, Math.abs(depth) + 1.02 * radius] : [low, depth + (sole ? 0.95 : 1.02) * radius];
        joints.push({ ...part, point, at, layers: depth < 0 && point === 0 ? [depth - radius, radius] : layers, radius: radius * (sole ? FOOT : flat ? 0.5 : 1.22), colour: sole ? "rubber" : flat ? "pin" : "joint" });
      }
    });
    const closed = outlines.map((points) => flat && closes(points, 1e-6 * size));
    const areas = outlines.map((points, k) => (closed[k] ? area(points) : 0));
    const largest = Math.max(0, ...areas);
    const thick = Math.min(0.035 * size, 0.25 * Math.sqrt(largest) || Infinity);
    outlines.forEach((points, index) => {
      const part = { member, part: "outline", index, at: layout.outlines[index] };
      if (closed[index]) {
        const big = areas[index] > 0.3 * largest;
        plates.push({ ...part, low: big ? -0.5 * thick : -thick, high: big ? 0.5 * thick : thick, look: big ? "plate" : "part", area: areas[index] });
      } else if (points.length > 1) {
        const mark = largest > 0;
        const short = mark ? 0.1 * thick : 0.35 * radius;
        tubes.push({ ...part, count: points.length, radius: short, layer: mark ? 1.02 * thick : 0, colour: mark ? "mark" : "edge", closed: closes(points, 1e-9 * size) });
      }
    });
  });
  const highs = [...rods.map((r) => r.layer + r.radius), ...joints.map((j) => j.layers[1]), ...plates.map((p) => p.high), ...tubes.map((t) => t.layer + t.radius)];
  const lows = [...rods.map((r) => r.layer - r.radius), ...joints.map((j) => j.layers[0]), ...plates.map((p) => p.low), ...tubes.map((t) => t.layer - t.radius)];
  return { rods, joints, tubes, plates, high: Math.max(0, ...highs), low: Math.min(0, ...lows) };
}

export class Figure {
  /** coarse: with few triangles; ghost: the materials have one colour */
  constructor(scene, layouts, styles, materials, { coarse, ghost = false }) {
    Object.assign(this, { scene, layouts, styles, materials, ghost });
    const flat = scene.dimension === 2;
    this.group = new THREE.Group();
    this.rods = new Rods(styles.rods.map((rod) => ({ ...rod, colour: "#888" })), styles.joints.map((joint) => ({ ...joint, colour: "#888" })), flat, materials.rod, coarse);
    this.tubes = new Tubes(styles.tubes.map((tube) => ({ ...tube, colour: "#888" })), flat, materials.tube);
    this.solids = scene.members.map((member, k) => new Solids(member.solids, layouts[k].solids, scene.size, materials, coarse));
    this.plates = null;
    for (const object of [...this.rods.objects, ...this.tubes.objects, ...this.solids.flatMap((solids) => solids.objects)]) this.group.add(object);
  }

  paint(theme) {
    const colour = (name) => (this.ghost ? theme.ghost : lookOf(theme, name));
    const repaint = (parts, styles) => parts.forEach((part, k) => (part.colour = colour(styles[k].colour)));
    repaint(this.rods.rods, this.styles.rods);
    repaint(this.rods.joints, this.styles.joints);
    repaint(this.tubes.tubes, this.styles.tubes);
    this.rods.paint();
    this.tubes.paint();
  }

  pose(frame) {
    const { dimension } = this.scene;
    this.rods.pose((line, point) => pointOf(frame, line.start + point * dimension, dimension));
    this.tubes.pose((k) => coordinates(frame, this.styles.tubes[k].at, dimension));
    if (!this.plates) this.#plates(frame);
    this.plates.forEach((plate, k) => plate.pose(pointsOf(frame, this.styles.plates[k].at, dimension)));
    for (const solids of this.solids) solids.pose(frame);
  }

  /** Brighten a part, or none: a whole solid body, a plate, or a segment of a line. */
  highlight(pick, theme) {
    this.paint(theme);
    const matches = ({ member, part, index }) => pick && member === pick.member && part === pick.part && index === pick.index;
    this.styles.rods.forEach((style, k) => {
      if (matches(style) && style.segment === pick.segment) this.rods.rods[k].colour = theme.highlight;
    });
    this.styles.tubes.forEach((style, k) => {
      if (matches(style)) this.tubes.tubes[k].colour = theme.highlight;
    });
    this.rods.paint();
    this.tubes.paint();
    this.plates?.forEach((plate, k) => {
      const style = this.styles.plates[k];
      plate.mesh.material = this.materials[matches(style) ? "lit" : style.look];
    });
    this.solids.forEach((solids, member) => solids.highlight(pick?.part === "solid" && pick.member === member ? pick.index : -1));
  }

  #plates(frame) {
    this.plates = this.styles.plates.map(({ at, low, high, look }) => new Plate(pointsOf(frame, at, 2), low, high, this.materials[look]));
    for (const { mesh } of this.plates) this.group.add(mesh);
  }
}

function lookOf(theme, name) {
  if (name.startsWith("line")) return theme.lines[Number(name.slice(4))];
  return { spring: theme.bone, rope: theme.lines[2], joint: theme.pin, edge: theme.lines[0] }[name] ?? theme[name];
}

/** Lines of a layer's number: 0, 1, -1, 2, -2, ... so that legs are before and behind the body. */
function stacked(k) {
  return k % 2 ? (k + 1) / 2 : -k / 2;
}

function segmentLengths(points) {
  return points.slice(1).map((point, k) => distance(point, points[k]));
}

/** Ropes, and springs that are drawn as zigzag lines. */
function isThin(points, size) {
  return isRope(points, size) || isZigzag(points);
}

function isRope(points, size) {
  return points.length > ROPE && lengthOf(points) / (points.length - 1) < 0.05 * size;
}

function isZigzag(points) {
  let turns = 0;
  let last = 0;
  for (let k = 1; k + 1 < points.length; k++) {
    const [a, b, c] = [points[k - 1], points[k], points[k + 1]];
    const cross = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
    if (Math.abs(cross) > 0.3 * distance(a, b) * distance(b, c) && cross * last < 0) turns += 1;
    last = cross;
  }
  return points.length > 5 && turns >= 0.5 * (points.length - 3);
}

function area(points) {
  return Math.abs(points.slice(1).reduce((sum, p, k) => sum + points[k][0] * p[1] - p[0] * points[k][1], 0)) / 2;
}

function above(point, floor) {
  return (point[0] - floor[0]) * floor[2] + (point[1] - floor[1]) * floor[3];
}
