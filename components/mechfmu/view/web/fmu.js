/**
 * Runs the WebAssembly library of a native FMU of mechfmu (FMI 2.0, Co-Simulation) in a web page, a worker or Node.
 *
 *     const unit = await loadFmu("LinkChain.fmu");
 *     const chain = unit.instantiate();
 *     chain.initialize({ values: { "joint[1].angle_start": 0.5 } });
 *     chain.set({ "joint[1].torque": 10 });
 *     chain.doStep(0.01);
 *     console.log(chain.time, chain.get("joint[1].angle"));
 *     chain.free();
 *
 * All values are numbers, those of Boolean variables 0 or 1. A call that the FMU refuses throws an error with the name
 * FmuError and the FMU's log message. This file and the files fmu_*.js need no others; they are part of mechfmu and
 * have its license (BSD-3-Clause). docs/wasm.md describes all functions.
 */
import { Archive } from "./fmu_archive.js";
import { readDescription } from "./fmu_description.js";
import { FmuError } from "./fmu_error.js";
import { FmuInstance } from "./fmu_instance.js";

/** A unit from an FMU that was built with `--platform wasm`: its address (a string or URL), its bytes, or a File. */
export async function loadFmu(source) {
  const archive = new Archive(await bytesOf(source));
  const description = readDescription(await archive.text("modelDescription.xml"));
  const library = `binaries/wasm32/${description.modelIdentifier}.wasm`;
  if (!archive.has(library)) {
    throw new FmuError(`the FMU has no file ${library}: build it with  mechfmu build NAME --platform wasm`);
  }
  return loadUnit(await archive.bytes(library), description);
}

/**
 * A unit from the bytes of its library. description: {modelIdentifier, guid, variables}, as readDescription returns it;
 * of a variable {name, reference, type} is needed, type: "Real", "Integer" or "Boolean".
 */
export async function loadUnit(bytes, description) {
  const exports = await exportsOf(bytes, `${description.modelIdentifier}.wasm`);
  exports._initialize?.();
  return new FmuUnit(exports, description);
}

async function bytesOf(source) {
  if (typeof source !== "string" && !(source instanceof URL)) {
    return source instanceof Blob ? source.arrayBuffer() : source;
  }
  const answer = await fetch(source).catch((error) => {
    throw new FmuError(`${source} cannot be loaded: ${error.cause?.message ?? error.message}`);
  });
  if (!answer.ok) throw new FmuError(`${source} cannot be loaded: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

async function exportsOf(bytes, name) {
  const { instance } = await WebAssembly.instantiate(bytes, {}).catch((error) => {
    throw new FmuError(`${name} cannot be loaded: ${error.message}`);
  });
  const missing = ["memory", "malloc", "free", "mechfmu_host_new"].find((part) => !(part in instance.exports));
  if (missing) throw new FmuError(`${name} does not export ${missing}: it was not built by mechfmu`);
  return instance.exports;
}

/** A loaded library. Its instances share one memory. exports: what the library exports. */
class FmuUnit {
  constructor(exports, description) {
    this.exports = exports;
    this.description = description;
    this.variables = new Map(description.variables.map((variable) => [variable.name, variable]));
  }

  /** A new instance. logging: whether warnings are among its messages. */
  instantiate({ name = this.description.modelIdentifier, logging = true } = {}) {
    return new FmuInstance(this, name, logging);
  }

  /** The variable of this name. */
  variable(name) {
    const variable = this.variables.get(name);
    if (!variable) throw new FmuError(`${this.description.modelIdentifier} has no variable ${name}`);
    return variable;
  }
}
