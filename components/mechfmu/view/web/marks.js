/** Marks that are shown on request: coordinate axes, and the spring with which a body is pulled. */
import { linear, THREE } from "./three.js";
import { across, instances } from "./rods.js";

const AXES = [["x", "#e0403a"], ["y", "#2fa84f"], ["z", "#2f6fed"]];
const TURNS = 9;

/** Arrows along x, y (and z) of length 1, in their colours. */
function triad(dimension) {
  const shaft = new THREE.CylinderGeometry(0.022, 0.022, 0.8, 10).translate(0, 0.4, 0);
  const head = new THREE.ConeGeometry(0.065, 0.2, 14).translate(0, 0.9, 0);
  const parts = AXES.slice(0, dimension).flatMap(([, colour], k) =>
    [shaft, head].map((part) => {
      const geometry = part.clone();
      if (k === 0) geometry.rotateZ(-Math.PI / 2);
      if (k === 2) geometry.rotateX(Math.PI / 2);
      return { geometry: geometry.toNonIndexed(), colour: linear(colour) };
    }),
  );
  const join = (name) => parts.flatMap(({ geometry }) => [...geometry.attributes[name].array]);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(join("position"), 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(join("normal"), 3));
  const colours = parts.flatMap(({ geometry: g, colour: { r, g: green, b } }) => Array.from({ length: g.attributes.position.count }, () => [r, green, b]).flat());
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
  return geometry;
}

/** Axes of bodies, or of the world. */
export class Axes {
  constructor(count, dimension, length) {
    this.length = length;
    this.mesh = instances(triad(dimension), Math.max(1, count), new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.6, depthTest: false, transparent: true }));
    this.mesh.castShadow = this.mesh.receiveShadow = false;
    this.mesh.renderOrder = 6;
    this.mesh.count = count;
  }

  /** matrices: of the bodies */
  pose(matrices) {
    matrices.forEach((matrix, k) => this.mesh.setMatrixAt(k, matrix.clone().scale(new THREE.Vector3(this.length, this.length, this.length))));
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}

/** The names of the axes of the world, at their ends. */
export function axisLabels(dimension, length) {
  const group = new THREE.Group();
  AXES.slice(0, dimension).forEach(([name, colour], k) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 64;
    const pen = canvas.getContext("2d");
    Object.assign(pen, { font: "600 46px system-ui, sans-serif", textAlign: "center", textBaseline: "middle", fillStyle: colour });
    pen.fillText(name, 32, 32);
    const map = new THREE.CanvasTexture(canvas);
    map.encoding = THREE.sRGBEncoding;
    const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthTest: false, transparent: true, toneMapped: false }));
    sprite.position.setComponent(k, 1.12 * length);
    sprite.scale.setScalar(0.2 * length);
    sprite.renderOrder = 7;
    group.add(sprite);
  });
  return group;
}

/** A coil spring between two points. */
export class Pull {
  constructor(size) {
    this.size = size;
    const path = new (class extends THREE.Curve {
      getPoint(t, at = new THREE.Vector3()) {
        const wound = Math.max(0, Math.min(1, (t - 0.12) / 0.76));
        const radius = 0.012 * size * Math.min(1, 12 * Math.min(wound, 1 - wound));
        const angle = 2 * Math.PI * TURNS * wound;
        return at.set(radius * Math.cos(angle), radius * Math.sin(angle), t);
      }
    })();
    const material = new THREE.MeshStandardMaterial({ roughness: 0.4, metalness: 0.1 });
    this.wire = new THREE.Mesh(new THREE.BufferGeometry(), material);
    this.path = path;
    this.balls = [0.014, 0.02].map((radius) => new THREE.Mesh(new THREE.SphereGeometry(radius * size, 20, 14), material));
    this.group = new THREE.Group();
    this.group.add(this.wire, ...this.balls);
    this.group.visible = false;
    this.group.traverse((child) => (child.castShadow = true));
    this.wire.frustumCulled = false;
    this.wire.geometry = new THREE.TubeGeometry(path, 20 * TURNS, 0.0035 * size, 6);
    this.sections = this.wire.geometry.attributes.position.array.slice();
  }

  paint(theme) {
    this.wire.material.color.copy(linear(theme.pull));
    this.wire.material.emissive.copy(linear(theme.pull)).multiplyScalar(0.25);
  }

  /** from, to: [x, y, z] */
  show(from, to) {
    this.group.visible = Boolean(from);
    if (!from) return;
    this.balls[0].position.set(...from);
    this.balls[1].position.set(...to);
    const along = new THREE.Vector3(...to).sub(this.balls[0].position);
    const length = along.length();
    this.wire.visible = length > 1e-6 * this.size;
    const e = along.divideScalar(length || 1).toArray();
    const f = across(e);
    const g = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]];
    this.wire.matrixAutoUpdate = false;
    this.wire.matrix.makeBasis(new THREE.Vector3(...f), new THREE.Vector3(...g), new THREE.Vector3(...e).multiplyScalar(length)).setPosition(...from);
  }
}
