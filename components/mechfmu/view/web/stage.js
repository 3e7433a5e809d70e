/** Renderer, lights, background and materials. */
import { linear, THREE } from "./three.js";

const SLOW = 30; // ms between pictures from which on the picture is made simpler
const PATIENCE = 24; // pictures
const RATIOS = [2, 1.5, 1, 0.75, 0.6]; // pixels per CSS pixel, from the best picture to the fastest
const SHADOW_MAP = 2048; // pixels

/**
 * Tone mapping that leaves colours as they are up to SHOULDER, and lets what is brighter run into white. three.js has
 * a place for a curve of one's own.
 */
const TONE_MAPPING = `vec3 CustomToneMapping(vec3 color) {
  color *= toneMappingExposure;
  const float shoulder = 0.72;
  float peak = max(color.r, max(color.g, color.b));
  if (peak <= shoulder) return color;
  float room = 1.0 - shoulder;
  float mapped = 1.0 - room * room / (peak - shoulder + room);
  return mix(color * mapped / peak, vec3(mapped), 1.0 - 1.0 / (0.18 * (peak - mapped) + 1.0));
}`;

export class Stage {
  constructor(canvas, dimension, { best }) {
    const chunk = "tonemapping_pars_fragment";
    THREE.ShaderChunk[chunk] = THREE.ShaderChunk[chunk].replace(/vec3 CustomToneMapping\([^}]*\}/, TONE_MAPPING);
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.best = best;
    this.renderer.outputEncoding = THREE.sRGBEncoding;
    this.renderer.toneMapping = THREE.CustomToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.flat = dimension === 2;
    this.scene = new THREE.Scene();
    this.#lights();
    this.materials = materialsOf();
    this.level = RATIOS.findIndex((ratio) => ratio <= Math.min(2, devicePixelRatio || 1));
    this.slow = 0;
    this.last = 0;
  }

  #lights() {
    this.sky = new THREE.HemisphereLight();
    this.sky.position.set(0, this.flat ? 1 : 0, this.flat ? 0 : 1);
    this.key = new THREE.DirectionalLight(0xfffaf2);
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(SHADOW_MAP, SHADOW_MAP);
    this.fill = new THREE.DirectionalLight(0xeef3ff);
    this.rim = new THREE.DirectionalLight(0xffffff);
    const lamps = [this.key, this.fill, this.rim];
    this.scene.add(this.sky, ...lamps, ...lamps.map((lamp) => lamp.target));
  }

  /** Light up the ball around `centre`, and nothing else gets a shadow. */
  aim(centre, radius) {
    const from = this.flat ? [-0.3, 0.55, 1.4] : [0.35, -0.75, 1.35];
    const side = this.flat ? [0.9, 0.1, 0.8] : [-0.9, -0.6, 0.35];
    const behind = this.flat ? [0.6, -0.9, 0.4] : [-0.3, 0.95, 0.5];
    const place = (light, direction) => {
      light.target.position.copy(centre);
      light.position.set(...direction).normalize().multiplyScalar(3 * radius).add(centre);
      light.target.updateMatrixWorld();
    };
    place(this.key, from);
    place(this.fill, side);
    place(this.rim, behind);
    const { camera } = this.key.shadow;
    Object.assign(camera, { left: -radius, right: radius, bottom: -radius, top: radius, near: radius, far: 6 * radius });
    camera.updateProjectionMatrix();
    this.key.shadow.bias = -0.0004;
    this.key.shadow.normalBias = 0.004 * radius;
    this.key.shadow.radius = this.flat ? 9 : 5;
  }

  paint(theme) {
    this.renderer.toneMappingExposure = theme.exposure;
    const [above, below, strength] = theme.hemisphere;
    this.sky.color.set(above).convertSRGBToLinear();
    this.sky.groundColor.set(below).convertSRGBToLinear();
    this.sky.intensity = strength;
    this.key.intensity = theme.key;
    this.fill.intensity = theme.fill;
    this.scene.background?.dispose();
    this.scene.background = gradient(theme.sky);
    this.rim.intensity = theme.rim;
    this.materials.ground.color.copy(linear(theme.ground));
    this.materials.support.color.copy(linear(theme.support));
    this.materials.shelf.color.copy(linear(theme.slab));
    this.materials.plate.color.copy(linear(theme.plate));
    this.materials.part.color.copy(linear(theme.part));
    this.materials.lit.color.copy(linear(theme.highlight));
    this.materials.highlighted.emissive.copy(linear(theme.highlight)).multiplyScalar(0.35);
  }

  resize(width, height) {
    const { domElement } = this.renderer;
    const ratio = RATIOS[this.level];
    const [w, h] = [Math.floor(width * ratio), Math.floor(height * ratio)];
    if (domElement.width === w && domElement.height === h) return;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
  }

  render(camera, moved) {
    if (moved) this.renderer.shadowMap.needsUpdate = this.key.castShadow;
    this.renderer.render(this.scene, camera);
  }

  /** Count pictures that come late; returns whether the picture is to be made simpler. */
  late(now) {
    const gap = now - this.last;
    this.last = now;
    if (this.best || gap > 250) return false; // a pause
    this.slow = gap > SLOW ? this.slow + 1 : Math.max(0, this.slow - 0.5);
    if (this.slow < PATIENCE || this.level === RATIOS.length - 1) return false;
    this.slow = 0;
    this.level += 1;
    if (RATIOS[this.level] <= 1 && this.key.shadow.mapSize.x > 1024) {
      this.key.shadow.mapSize.set(1024, 1024);
      this.key.shadow.map?.dispose();
      this.key.shadow.map = null;
    }
    return true;
  }
}

function materialsOf() {
  const standard = (more) => new THREE.MeshStandardMaterial({ roughness: 0.42, metalness: 0, ...more });
  return {
    rod: standard({ side: THREE.DoubleSide }),
    tube: standard({ vertexColors: true, roughness: 0.5 }),
    plate: standard({}),
    part: standard({ roughness: 0.75 }),
    solid: standard({ vertexColors: true, side: THREE.DoubleSide, roughness: 0.46 }),
    substitute: standard({ vertexColors: true, roughness: 0.36 }),
    lit: standard({}),
    highlighted: standard({ vertexColors: true, side: THREE.DoubleSide }),
    ground: standard({ roughness: 0.8 }),
    support: standard({ roughness: 0.6 }),
    shelf: standard({ roughness: 0.9 }),
  };
}

/** One translucent colour for all parts of a ghost. */
export function ghostMaterials(theme) {
  const look = { color: linear(theme.ghost), transparent: true, opacity: theme.ghostOpacity, depthWrite: false, roughness: 0.9 };
  const behind = { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 4 }; // what has not moved covers it
  const material = new THREE.MeshLambertMaterial({ ...look, ...behind });
  return Object.fromEntries(Object.keys(materialsOf()).map((name) => [name, material]));
}

function gradient(colours) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [4, 256];
  const pen = canvas.getContext("2d");
  const fill = pen.createLinearGradient(0, 0, 0, 256);
  colours.forEach((colour, k) => fill.addColorStop(k / (colours.length - 1), colour));
  pen.fillStyle = fill;
  pen.fillRect(0, 0, 4, 256);
  const texture = new THREE.CanvasTexture(canvas);
  texture.encoding = THREE.sRGBEncoding;
  return texture;
}
