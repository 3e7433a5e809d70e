/**
 * Runs the WebAssembly library of a native FMU of mechfmu (FMI 2.0, Co-Simulation) in a web page, a worker or Node.
 *
 *     const unit = await loadFmu(await (await fetch("LinkChain.fmu")).arrayBuffer());
 *     const chain = unit.instantiate();
 *     chain.enterInitialization({ values: { "joint[1].angle_start": 0.5 } });
 *     chain.exitInitialization();
 *     chain.set({ "joint[1].torque": 10 });
 *     chain.doStep(0.01);
 *     console.log(chain.time, chain.get("joint[1].angle"));
 *
 * All values are numbers, those of Boolean variables 0 or 1. A call that the FMU refuses throws an FmuError with the
 * FMU's log message. This file needs no other; it is part of mechfmu and has its license (BSD-3-Clause).
 */

const STATUS = ["ok", "warning", "discard", "error", "fatal", "pending"];
const DISCARD = 2; // from this status on a call has failed
const ERROR = 3;
const CO_SIMULATION = 1;
const GETTERS = { Real: "fmi2GetReal", Integer: "fmi2GetInteger", Boolean: "fmi2GetBoolean" };
const SETTERS = { Real: "fmi2SetReal", Integer: "fmi2SetInteger", Boolean: "fmi2SetBoolean" };

/** What an FMU has refused. status: "discard" (a step that cannot be made), "error" or "fatal". */
export class FmuError extends Error {
  constructor(message, status = "error") {
    super(message);
    this.name = "FmuError";
    this.status = status;
  }
}

/** A unit from the bytes of an FMU that was built with `--platform wasm`. */
export async function loadFmu(bytes) {
  const archive = new Archive(bytes);
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
  const { instance } = await WebAssembly.instantiate(bytes, {});
  instance.exports._initialize?.();
  return new FmuUnit(instance.exports, description);
}

/** A loaded library. Its instances share one memory. */
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

  /** The text that ends with a zero at this address. */
  text(pointer) {
    const memory = new Uint8Array(this.exports.memory.buffer);
    return new TextDecoder().decode(memory.subarray(pointer, memory.indexOf(0, pointer)));
  }
}

/** An array in the memory of a unit. The memory may grow with every call, which detaches arrays of JavaScript on it. */
class Block {
  #exports;
  #view;

  constructor(unit, Type, content) {
    const length = typeof content === "number" ? content : content.length;
    this.#exports = unit.exports;
    this.pointer = unit.exports.malloc(Math.max(1, length) * Type.BYTES_PER_ELEMENT);
    if (!this.pointer) throw new FmuError("there is not enough memory");
    this.#view = new Type(unit.exports.memory.buffer, this.pointer, length);
    if (length && content === length) this.#view.fill(0);
    else if (length) this.#view.set(content);
  }

  get view() {
    if (this.#view.byteLength === 0) {
      this.#view = new this.#view.constructor(this.#exports.memory.buffer, this.pointer, this.#view.length);
    }
    return this.#view;
  }

  free() {
    this.#exports.free(this.pointer);
  }
}

/** One instance of an FMU. */
class FmuInstance {
  #unit;
  #exports;
  #host;
  #component;
  #blocks = []; // that are freed with the instance
  #calls = new Map(); // by name of the exported function
  #messages = [];

  constructor(unit, name, logging) {
    this.#unit = unit;
    this.#exports = unit.exports;
    this.name = name;
    this.time = 0;
    this.#host = this.#exports.mechfmu_host_new();
    if (!this.#host) throw new FmuError("there is not enough memory");
    const texts = [name, unit.description.guid].map((text) => new Block(unit, Uint8Array, utf8(text)));
    const [own, guid] = texts.map((block) => block.pointer);
    this.#component = this.#exports.fmi2Instantiate(own, CO_SIMULATION, guid, 0, this.#host, 0, logging ? 1 : 0);
    texts.forEach((block) => block.free());
    if (!this.#component) {
      const error = this.#error(ERROR);
      this.#exports.mechfmu_host_free(this.#host);
      throw error;
    }
  }

  /** What the FMU has logged since the last reading, but errors that were thrown: [{status, category, text}]. */
  get messages() {
    this.#readLog();
    return this.#messages.splice(0);
  }

  /** Everything is as after instantiate. */
  reset() {
    this.#check(this.#exports.fmi2Reset(this.#component));
    this.time = 0;
  }

  /** start, stop: times [s]; tolerance: relative, of the FMU's solver; values: as for set. */
  enterInitialization({ start = 0, tolerance = null, stop = null, values = {} } = {}) {
    const given = (x) => (x === null ? 0 : 1);
    this.#check(
      this.#exports.fmi2SetupExperiment(this.#component, given(tolerance), tolerance ?? 0, start, given(stop), stop ?? 0),
    );
    this.time = start;
    this.set(values);
    this.#check(this.#exports.fmi2EnterInitializationMode(this.#component));
  }

  exitInitialization() {
    this.#check(this.#exports.fmi2ExitInitializationMode(this.#component));
  }

  /** One communication step of h seconds. */
  doStep(h) {
    this.#check(this.#exports.fmi2DoStep(this.#component, this.time, h, 0));
    this.time += h;
  }

  /** Ends the simulation; values can still be read. */
  terminate() {
    this.#check(this.#exports.fmi2Terminate(this.#component));
  }

  /** Sets variables: {name: number or boolean}. */
  set(values) {
    const groups = { Real: [], Integer: [], Boolean: [] };
    for (const name of Object.keys(values)) {
      const { reference, type } = this.#unit.variable(name);
      const value = Number(values[name]);
      if (type !== "Real" && !Number.isInteger(value)) throw new FmuError(`${name} = ${value}: must be a whole number`);
      groups[type].push([reference, value]);
    }
    for (const type in groups) if (groups[type].length) this.#setGroup(type, groups[type]);
  }

  #setGroup(type, pairs) {
    const references = new Block(this.#unit, Uint32Array, pairs.map(([reference]) => reference));
    const numbers = new Block(this.#unit, arrayType(type), pairs.map(([, value]) => value));
    const status = this.#exports[SETTERS[type]](this.#component, references.pointer, pairs.length, numbers.pointer);
    references.free();
    numbers.free();
    this.#check(status);
  }

  /** The value of a variable, or those of an array of names as a Float64Array. */
  get(names) {
    if (typeof names === "string") return this.get([names])[0];
    const { read, blocks } = this.#reader(names);
    try {
      return read();
    } finally {
      blocks.forEach((block) => block.free());
    }
  }

  /** A fast function that returns the present values of variables, always in the same Float64Array. */
  reader(names) {
    const { read, blocks } = this.#reader(names);
    this.#blocks.push(...blocks);
    return read;
  }

  #reader(names) {
    const values = new Float64Array(names.length);
    const all = names.map((name, place) => ({ ...this.#unit.variable(name), place }));
    const groups = Object.keys(GETTERS)
      .map((type) => ({ type, own: all.filter((variable) => variable.type === type) }))
      .filter(({ own }) => own.length)
      .map(({ type, own }) => ({
        getter: this.#exports[GETTERS[type]],
        references: new Block(this.#unit, Uint32Array, own.map(({ reference }) => reference)),
        numbers: new Block(this.#unit, arrayType(type), own.length),
        places: own.map(({ place }) => place),
      }));
    const read = () => {
      for (const { getter, references, numbers, places } of groups) {
        this.#check(getter(this.#component, references.pointer, places.length, numbers.pointer));
        const { view } = numbers;
        for (let i = 0; i < places.length; i++) values[places[i]] = view[i];
      }
      return values;
    };
    return { read, blocks: groups.flatMap(({ references, numbers }) => [references, numbers]) };
  }

  /** Derivative of the unknowns in the direction `seeds` of the knowns; both are names or value references. */
  directionalDerivative(unknowns, knowns, seeds) {
    const reference = (known) => (typeof known === "string" ? this.#unit.variable(known).reference : known);
    const blocks = [
      new Block(this.#unit, Uint32Array, unknowns.map(reference)),
      new Block(this.#unit, Uint32Array, knowns.map(reference)),
      new Block(this.#unit, Float64Array, seeds),
      new Block(this.#unit, Float64Array, unknowns.length),
    ];
    const [z, v, dv, dz] = blocks.map((block) => block.pointer);
    const { length } = unknowns;
    try {
      this.#check(this.#exports.fmi2GetDirectionalDerivative(this.#component, z, length, v, knowns.length, dv, dz));
      return blocks[3].view.slice();
    } finally {
      blocks.forEach((block) => block.free());
    }
  }

  /** The whole state: {time, bytes}, for restoreState of any instance of the same FMU. */
  saveState() {
    const place = new Block(this.#unit, Uint32Array, 1); // of the state's address, then of its size
    try {
      this.#check(this.#exports.fmi2GetFMUstate(this.#component, place.pointer));
      const state = place.view[0];
      this.#check(this.#exports.fmi2SerializedFMUstateSize(this.#component, state, place.pointer));
      const block = new Block(this.#unit, Uint8Array, place.view[0]);
      const status = this.#exports.fmi2SerializeFMUstate(this.#component, state, block.pointer, block.view.length);
      const bytes = block.view.slice();
      block.free();
      this.#freeState(place, state);
      this.#check(status);
      return { time: this.time, bytes };
    } finally {
      place.free();
    }
  }

  restoreState({ time, bytes }) {
    const place = new Block(this.#unit, Uint32Array, 1);
    const block = new Block(this.#unit, Uint8Array, bytes);
    try {
      const { pointer } = place;
      this.#check(this.#exports.fmi2DeSerializeFMUstate(this.#component, block.pointer, bytes.length, pointer));
      const status = this.#exports.fmi2SetFMUstate(this.#component, place.view[0]);
      this.#freeState(place, place.view[0]);
      this.#check(status);
      this.time = time;
    } finally {
      block.free();
      place.free();
    }
  }

  #freeState(place, state) {
    place.view[0] = state;
    this.#exports.fmi2FreeFMUstate(this.#component, place.pointer);
  }

  /**
   * Calls an exported function `void f(const double *in, double *out, double *work)`; returns `out`, in the same
   * Float64Array for all calls of this function.
   */
  call(exportName, numbers, resultCount, workCount) {
    let known = this.#calls.get(exportName);
    if (!known) {
      const sizes = [numbers.length, resultCount, workCount];
      const [input, output, work] = sizes.map((size) => new Block(this.#unit, Float64Array, size));
      known = { input, output, work, result: new Float64Array(resultCount) };
      this.#blocks.push(input, output, work);
      this.#calls.set(exportName, known);
    }
    known.input.view.set(numbers);
    this.#exports[exportName](known.input.pointer, known.output.pointer, known.work.pointer);
    known.result.set(known.output.view);
    return known.result;
  }

  /** Calls an exported function with this instance as its first argument. */
  callRaw(exportName, ...numbers) {
    if (!this.#component) throw this.#error(ERROR);
    return this.#exports[exportName](this.#component, ...numbers);
  }

  /** The text at an address that callRaw has returned. */
  text(pointer) {
    return this.#unit.text(pointer);
  }

  /** Frees the memory of the instance, which cannot be used afterwards. */
  free() {
    if (!this.#component) return;
    this.#exports.fmi2FreeInstance(this.#component);
    this.#exports.mechfmu_host_free(this.#host);
    this.#blocks.forEach((block) => block.free());
    this.#blocks = [];
    this.#calls.clear();
    this.#component = this.#host = 0;
  }

  #check(status) {
    if (status < DISCARD) return;
    throw this.#error(status);
  }

  /** The error of a call that has returned this status: its text is what the call has logged. */
  #error(status) {
    if (!this.#host) return new FmuError(`${this.name} has been freed`);
    this.#readLog();
    const failed = (message) => STATUS.indexOf(message.status) >= DISCARD;
    const text = this.#messages.filter(failed).map((message) => message.text).join("; ");
    this.#messages = this.#messages.filter((message) => !failed(message));
    return new FmuError(text || "the FMU gives no reason", STATUS[status]);
  }

  /** Takes the messages over from the log: of each one byte for the status, then category and text, ended by zeros. */
  #readLog() {
    const length = this.#host ? this.#exports.mechfmu_host_length(this.#host) : 0;
    if (!length) return;
    let at = this.#exports.mechfmu_host_messages(this.#host);
    const memory = new Uint8Array(this.#exports.memory.buffer);
    for (const end = at + length; at < end; ) {
      const status = STATUS[memory[at]];
      const category = this.text(at + 1);
      const start = memory.indexOf(0, at + 1) + 1;
      this.#messages.push({ status, category, text: this.text(start) });
      at = memory.indexOf(0, start) + 1;
    }
    this.#exports.mechfmu_host_clear(this.#host);
  }
}

function arrayType(type) {
  return type === "Real" ? Float64Array : Int32Array;
}

function utf8(text) {
  return new TextEncoder().encode(`${text}\0`);
}

/** The parts of modelDescription.xml that loadUnit needs, and more of each variable that has it. */
export function readDescription(xml) {
  const description = { modelName: "", modelIdentifier: "", guid: "", variables: [] };
  let variable = null;
  for (const { name, attributes } of elements(xml)) {
    if (name === "fmiModelDescription") {
      description.modelName = attributes.modelName;
      description.guid = attributes.guid;
    } else if (name === "CoSimulation") {
      description.modelIdentifier = attributes.modelIdentifier;
    } else if (name === "ScalarVariable") {
      const { valueReference, description: text = "", causality = "local", variability = "continuous" } = attributes;
      variable = { name: attributes.name, reference: Number(valueReference), description: text, causality, variability };
    } else if (variable && (name in GETTERS || name === "Enumeration")) {
      const { unit = "", start, min, max } = attributes;
      const number = (text) => (text === undefined ? null : text === "true" ? 1 : text === "false" ? 0 : Number(text));
      const type = name === "Enumeration" ? "Integer" : name;
      description.variables.push({ ...variable, type, unit, start: number(start), min: number(min), max: number(max) });
      variable = null;
    }
  }
  if (!description.modelIdentifier) throw new FmuError("modelDescription.xml is not that of a Co-Simulation FMU");
  return description;
}

/** The elements of an XML document in order; a worker has no other parser. */
function* elements(xml) {
  const element = /<([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*\/?>/g;
  for (const [, name, text] of xml.replace(/<!--[^]*?-->/g, "").matchAll(element)) {
    const found = text.matchAll(/([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
    yield { name, attributes: Object.fromEntries([...found].map(([, key, a, b]) => [key, withoutEntities(a ?? b)])) };
  }
}

function withoutEntities(text) {
  const named = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
  const character = (code) => String.fromCodePoint(code[1] === "x" ? parseInt(code.slice(2), 16) : Number(code.slice(1)));
  return text.replace(/&([a-z]+|#\d+|#x[\da-fA-F]+);/g, (_, code) => (code[0] === "#" ? character(code) : named[code]));
}

/** A ZIP archive. */
class Archive {
  #data;
  #view;
  #entries = new Map();

  constructor(bytes) {
    this.#data = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
    this.#view = new DataView(this.#data.buffer, this.#data.byteOffset, this.#data.byteLength);
    const u16 = (at) => this.#view.getUint16(at, true);
    const u32 = (at) => this.#view.getUint32(at, true);
    let end = this.#data.length - 22;
    while (end >= 0 && u32(end) !== 0x06054b50) end--;
    if (end < 0) throw new FmuError("this is not an FMU: it is not a ZIP archive");
    let at = u32(end + 16);
    for (let left = u16(end + 10); left > 0; left--) {
      const name = new TextDecoder().decode(this.#data.subarray(at + 46, at + 46 + u16(at + 28)));
      const [method, crc, packed, size, header] = [u16(at + 10), u32(at + 16), u32(at + 20), u32(at + 24), u32(at + 42)];
      this.#entries.set(name, { method, crc, packed, size, header });
      at += 46 + u16(at + 28) + u16(at + 30) + u16(at + 32);
    }
  }

  has(name) {
    return this.#entries.has(name);
  }

  async text(name) {
    return new TextDecoder().decode(await this.bytes(name));
  }

  /** A file of the archive, decompressed as gzip data, which differ only in header and trailer. */
  async bytes(name) {
    const entry = this.#entries.get(name);
    if (!entry) throw new FmuError(`this is not an FMU: it has no file ${name}`);
    const { method, crc, packed, size, header } = entry;
    const lengths = this.#view.getUint16(header + 26, true) + this.#view.getUint16(header + 28, true);
    const content = this.#data.subarray(header + 30 + lengths, header + 30 + lengths + packed);
    if (method === 0) return content;
    const trailer = new Uint8Array(new Uint32Array([crc, size]).buffer);
    const gzip = new Blob([Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 255), content, trailer]);
    const stream = gzip.stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
}
