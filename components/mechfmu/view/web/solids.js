/**
 * The solids of drawings in space. Those of one group usually are one body: they are drawn as one mesh as long as they
 * move together.
 */
import { linear, THREE } from "./three.js";
import { creased, merge, roundedBox, roundedCylinder } from "./shapes.js";

const TOGETHER = 1e-5; // relative to the scene's size: solids that move apart by more are drawn one by one
const CELL = 1 / 70; // of the scene's size: vertices of meshes that are nearer than this become one, where it is coarse
const made = new WeakMap(); // geometries of solids

export class Solids {
  /** solids: those of a member's scene; places: where their numbers begin in a frame; coarse: with few triangles */
  constructor(solids, places, size, materials, coarse) {
    this.solids = solids;
    this.places = places;
    this.size = size;
    this.materials = materials;
    this.coarse = coarse;
    this.group = new THREE.Group();
    this.clusters = null;
  }

  get objects() {
    return [this.group];
  }

  pose(frame) {
    if (!this.clusters) this.#build(frame);
    for (const cluster of [...this.clusters]) {
      if (cluster.indices.length > 1 && !this.#together(cluster, frame)) this.#split(cluster);
    }
    for (const { mesh, indices } of this.clusters) mesh.matrix.copy(poseOf(frame, this.places[indices[0]]));
  }

  /** Show a body, or none, brighter. */
  highlight(index) {
    for (const { mesh, indices, real } of this.clusters ?? []) {
      mesh.material = indices.includes(index) ? this.materials.highlighted : this.materials[real ? "solid" : "substitute"];
    }
  }

  /** The solid that a hit of a ray is on. */
  solidAt(hit) {
    const cluster = this.clusters.find(({ mesh }) => mesh === hit.object);
    return cluster.indices[cluster.ends.findIndex((end) => hit.faceIndex < end)];
  }

  #build(frame) {
    const groups = new Map();
    this.solids.forEach((solid, k) => {
      const key = `${solid.group} ${solid.real}`;
      groups.set(key, [...(groups.get(key) ?? []), k]);
    });
    this.clusters = [];
    for (const indices of groups.values()) this.#add(indices, frame);
  }

  #add(indices, frame) {
    const first = poseOf(frame, this.places[indices[0]]).invert();
    const relative = indices.map((k) => first.clone().multiply(poseOf(frame, this.places[k])));
    const { real } = this.solids[indices[0]];
    const { geometry, ends } = merged(indices.map((k) => this.solids[k]), relative, this.coarse && CELL * this.size);
    const mesh = new THREE.Mesh(geometry, this.materials[real ? "solid" : "substitute"]);
    mesh.matrixAutoUpdate = false;
    mesh.castShadow = mesh.receiveShadow = true;
    this.group.add(mesh);
    this.clusters.push({ mesh, indices, relative, ends, real });
  }

  #together({ indices, relative }, frame) {
    const first = poseOf(frame, this.places[indices[0]]);
    return indices.every((k, n) => {
      const expected = first.clone().multiply(relative[n]).elements;
      const now = poseOf(frame, this.places[k]).elements;
      return expected.every((x, i) => Math.abs(x - now[i]) < (i > 11 ? TOGETHER * this.size : 1e-4));
    });
  }

  #split(cluster) {
    this.clusters.splice(this.clusters.indexOf(cluster), 1);
    this.group.remove(cluster.mesh);
    cluster.mesh.geometry.dispose();
    const still = new Float64Array(Math.max(...cluster.indices.map((k) => this.places[k])) + 12);
    for (const k of cluster.indices) this.#add([k], still.fill(1, this.places[k], this.places[k] + 12));
  }
}

/** The pose of a solid: position, and rotation by rows. */
export function poseOf(frame, at) {
  const f = (k) => frame[at + k];
  return new THREE.Matrix4().set(
    f(3), f(4), f(5), f(0), f(6), f(7), f(8), f(1), f(9), f(10), f(11), f(2), 0, 0, 0, 1,
  );
}

function geometryOf(solid, coarse) {
  if (!made.has(solid)) made.set(solid, shapeOf(solid, coarse));
  return made.get(solid);
}

function shapeOf({ kind, size, real, mesh }, coarse) {
  if (kind === "mesh") {
    const [vertices, triangles] = [floats(mesh.vertices, Float32Array), floats(mesh.triangles, Uint32Array)];
    return creased(vertices, coarse ? merge(vertices, triangles, coarse) : triangles);
  }
  const edge = real ? 0.04 : 0.42;
  if (kind === "box") {
    const sides = size.map((s) => Math.max(s, 1e-3 * Math.max(...size)));
    return roundedBox(sides, edge * Math.min(...sides), real || coarse ? 2 : 5).toNonIndexed();
  }
  if (kind === "sphere") return new THREE.SphereGeometry(size[0], ...(coarse ? [16, 10] : [32, 20])).toNonIndexed();
  const [radius, length] = size;
  return roundedCylinder(radius, length, 1.5 * edge * Math.min(radius, length / 2), coarse ? 16 : 36, coarse ? 1 : 3).toNonIndexed();
}

function floats(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}

/** One geometry of several solids, and at which face each ends; coarse: 0, or how long a detail is that does not count. */
function merged(solids, places, coarse) {
  const parts = solids.map((solid, k) => geometryOf(solid, coarse).clone().applyMatrix4(places[k]));
  const total = parts.reduce((sum, part) => sum + part.attributes.position.array.length, 0);
  const arrays = { position: new Float32Array(total), normal: new Float32Array(total), color: new Float32Array(total) };
  const ends = [];
  let at = 0;
  parts.forEach((part, k) => {
    const { r, g, b } = linear(solids[k].colour);
    arrays.position.set(part.attributes.position.array, at);
    arrays.normal.set(part.attributes.normal.array, at);
    const end = at + part.attributes.position.array.length;
    for (; at < end; at += 3) arrays.color.set([r, g, b], at);
    ends.push(at / 9);
    part.dispose();
  });
  const geometry = new THREE.BufferGeometry();
  for (const name of Object.keys(arrays)) geometry.setAttribute(name, new THREE.BufferAttribute(arrays[name], 3));
  return { geometry, ends };
}
