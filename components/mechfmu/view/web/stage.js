/** Renderer, lights, background and materials. */
import { Quality } from "./quality.js";
import { linear, THREE } from "./three.js";

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i; // names of renderers without a graphics card

const BANDS = 32; // of the background
const SEAM = 4; // CSS pixels by which they overlap

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
  /** best: always the finest picture; quality: what the user wants, see quality.js */
  constructor(canvas, dimension, { best = false, quality: wanted }) {
    const chunk = "tonemapping_pars_fragment";
    THREE.ShaderChunk[chunk] = THREE.ShaderChunk[chunk].replace(/vec3 CustomToneMapping\([^}]*\}/, TONE_MAPPING);
    // without a graphics card smooth edges and fine geometry take half the time
    this.coarse = !best && wanted !== "high" && drawsInSoftware();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.coarse, powerPreference: "high-performance" });
    this.quality = new Quality({ pixelRatio: best ? 2 : devicePixelRatio, software: this.coarse, wanted: best ? "high" : wanted });
    this.still = false; // whether nothing moves, so that there is time for the finest picture
    this.renderer.outputEncoding = THREE.sRGBEncoding;
    this.renderer.toneMapping = THREE.CustomToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.shadowMap.autoUpdate = false;
    this.flat = dimension === 2;
    this.scene = new THREE.Scene();
    this.#lights();
    this.materials = materialsOf();
    this.shadows = true; // whether they are wanted
  }

  get shadowed() {
    return this.shadows && this.level.shadows > 0;
  }

  /** The present level of the quality. */
  get level() {
    return this.still ? this.quality.finest : this.quality.level;
  }

  #lights() {
    this.sky = new THREE.HemisphereLight();
    this.sky.position.set(0, this.flat ? 1 : 0, this.flat ? 0 : 1);
    this.key = new THREE.DirectionalLight(0xfffaf2);
    this.key.castShadow = true;
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
    this.#backdrop(theme.sky);
    this.rim.intensity = theme.rim;
    this.materials.ground.color.copy(linear(theme.ground));
    this.materials.support.color.copy(linear(theme.support));
    this.materials.shelf.color.copy(linear(theme.slab));
    this.materials.plate.color.copy(linear(theme.plate));
    this.materials.part.color.copy(linear(theme.part));
    this.materials.lit.color.copy(linear(theme.highlight));
    this.materials.highlighted.emissive.copy(linear(theme.highlight)).multiplyScalar(0.35);
  }

  /** The background, a gradient: as a texture, or in bands, which need a tenth of the time without a graphics card. */
  #backdrop(colours) {
    this.scene.background?.dispose();
    this.scene.background = this.coarse ? null : gradient(colours);
    this.renderer.autoClear = !this.coarse;
    this.bands = this.coarse ? bandsOf(colours) : [];
  }

  #clear() {
    const { renderer, bands } = this;
    const { x: width, y: height } = renderer.getSize(new THREE.Vector2());
    renderer.setScissorTest(true);
    bands.forEach((colour, k) => {
      const [top, bottom] = [k, k + 1].map((row) => Math.round(height * (1 - row / bands.length)));
      const low = Math.max(0, bottom - SEAM);
      renderer.setScissor(0, low, width, top - low);
      renderer.setClearColor(colour, 1);
      renderer.clear();
    });
    renderer.setScissorTest(false);
  }

  resize(width, height) {
    const { domElement } = this.renderer;
    const { ratio } = this.level;
    const [w, h] = [Math.floor(width * ratio), Math.floor(height * ratio)];
    if (domElement.width === w && domElement.height === h) return;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
  }

  render(camera, moved) {
    const { shadow } = this.key;
    const { shadows } = this.level;
    const begins = this.shadowed && !(this.key.castShadow && shadow.mapSize.x === shadows);
    this.key.castShadow = this.shadowed;
    if (begins) {
      shadow.mapSize.set(shadows, shadows);
      shadow.map?.dispose();
      shadow.map = null;
    }
    if (moved || begins) this.renderer.shadowMap.needsUpdate = this.key.castShadow;
    if (this.coarse) this.#clear();
    this.renderer.render(this.scene, camera);
  }
}

function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl", { failIfMajorPerformanceCaveat: true });
  if (!gl) return true; // or there is no WebGL at all
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const software = SOFTWARE.test(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return software;
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

/** The colours of a gradient from above in equal bands. */
function bandsOf(colours) {
  const [last, steps] = [BANDS - 1, colours.length - 1];
  return Array.from({ length: BANDS }, (_, k) => {
    const from = Math.min(Math.floor((k * steps) / last), steps - 1);
    return new THREE.Color(colours[from]).lerp(new THREE.Color(colours[from + 1]), (k * steps) / last - from);
  });
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
