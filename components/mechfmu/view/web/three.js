/** three.js as the package meshcat brings it; scripts of pages put it there before the modules run. */
export const THREE = globalThis.MeshCat?.THREE;

/** A colour for materials and vertices, which are linear, from a CSS colour. */
export function linear(colour) {
  return new THREE.Color(colour).convertSRGBToLinear();
}
