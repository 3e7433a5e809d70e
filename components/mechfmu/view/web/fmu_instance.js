/** One instance of an FMU: the functions of FMI 2.0 for Co-Simulation. fmu.js describes their use. */
import { DISCARD, ERROR, FmuError } from "./fmu_error.js";
import { Log } from "./fmu_log.js";
import { Block, textAt, textBlock, withBlocks } from "./fmu_memory.js";
import { Values } from "./fmu_values.js";

const CO_SIMULATION = 1;
const MOST_KNOWN = 100;

export class FmuInstance {
  #unit;
  #exports;
  #log;
  #component;
  #kept = []; // memory that is freed with the instance
  #known = new Map(); // Values of recent calls of set and get, by their names
  #calls = new Map(); // by name of the exported function
  #check = (status) => {
    if (status >= DISCARD) throw this.#error(status);
  };

  constructor(unit, name, logging) {
    this.#unit = unit;
    this.#exports = unit.exports;
    this.name = name;
    this.time = 0;
    this.#log = new Log(this.#exports);
    const texts = [name, unit.description.guid].map((text) => textBlock(this.#exports, text));
    this.#component = withBlocks(texts, (own, guid) =>
      this.#exports.fmi2Instantiate(own.pointer, CO_SIMULATION, guid.pointer, 0, this.#log.pointer, 0, logging ? 1 : 0),
    );
    if (!this.#component) {
      const error = this.#log.takeError(ERROR);
      this.#log.free();
      throw error;
    }
  }

  /** What the FMU has logged since the last reading, but errors that were thrown: [{status, category, text}]. */
  get messages() {
    return this.#component ? this.#log.take() : [];
  }

  /** Everything is as after instantiate. */
  reset() {
    this.#check(this.#exports.fmi2Reset(this.#component));
    this.time = 0;
  }

  /** Enters and leaves initialization. */
  initialize(options) {
    this.enterInitialization(options);
    this.exitInitialization();
  }

  /** start, stop: times [s]; tolerance: relative, of the FMU's solver; values: as for set. */
  enterInitialization({ start = 0, tolerance = null, stop = null, values = {} } = {}) {
    const times = { start, tolerance: tolerance ?? 0, stop: stop ?? 0 };
    for (const name in times) checkNumber(name, times[name]);
    const given = (x) => (x === null ? 0 : 1);
    this.#check(
      this.#exports.fmi2SetupExperiment(
        this.#component,
        given(tolerance),
        times.tolerance,
        start,
        given(stop),
        times.stop,
      ),
    );
    this.time = start;
    this.set(values);
    this.#check(this.#exports.fmi2EnterInitializationMode(this.#component));
  }

  exitInitialization() {
    this.#check(this.#exports.fmi2ExitInitializationMode(this.#component));
  }

  /** One communication step of h seconds. A step that fails leaves the instance where it was. */
  doStep(h) {
    checkNumber("step", h);
    this.#check(this.#exports.fmi2DoStep(this.#component, this.time, h, 0));
    this.time += h;
  }

  /** Ends the simulation; values can still be read. */
  terminate() {
    this.#check(this.#exports.fmi2Terminate(this.#component));
  }

  /** Sets variables: {name: number or boolean}. */
  set(values) {
    const names = Object.keys(values);
    const numbers = names.map((name) => values[name]);
    if (names.length) this.#recent(names).write(this.#component, this.#check, numbers);
  }

  /** The value of a variable, or those of an array of names as a Float64Array. */
  get(names) {
    if (typeof names === "string") return this.#recent([names]).read(this.#component, this.#check)[0];
    if (!Array.isArray(names)) throw new FmuError(`get(${String(names)}): must be a name or an array of names`);
    return this.#recent(names).read(this.#component, this.#check).slice();
  }

  /** A fast function that returns the present values of variables, always in the same Float64Array. */
  reader(names) {
    const variables = this.#keep(this.#values(names));
    return () => {
      this.#use();
      return variables.read(this.#component, this.#check);
    };
  }

  /** A fast function that sets variables to the values of an array. */
  writer(names) {
    const variables = this.#keep(this.#values(names));
    return (values) => {
      this.#use();
      variables.write(this.#component, this.#check, values);
    };
  }

  #values(names) {
    this.#use();
    return new Values(this.#exports, names.map((name) => this.#unit.variable(name)));
  }

  /** The same for set and get, which are mostly called with the same names again. */
  #recent(names) {
    const key = names.join("\0");
    const known = this.#known.get(key);
    if (known) return known;
    if (this.#known.size === MOST_KNOWN) this.#forget();
    const values = this.#values(names);
    this.#known.set(key, values);
    return values;
  }

  #forget() {
    for (const values of this.#known.values()) values.free();
    this.#known.clear();
  }

  #keep(memory) {
    this.#kept.push(memory);
    return memory;
  }

  /** Derivative of the unknowns in the direction `seeds` of the knowns; both are names or value references. */
  directionalDerivative(unknowns, knowns, seeds) {
    this.#use();
    const reference = (known) => (typeof known === "string" ? this.#unit.variable(known).reference : known);
    const blocks = [
      new Block(this.#exports, Uint32Array, unknowns.map(reference)),
      new Block(this.#exports, Uint32Array, knowns.map(reference)),
      new Block(this.#exports, Float64Array, seeds),
      new Block(this.#exports, Float64Array, unknowns.length),
    ];
    return withBlocks(blocks, (...all) => {
      const [z, v, dv, dz] = all.map((block) => block.pointer);
      const sizes = [unknowns.length, knowns.length];
      this.#check(this.#exports.fmi2GetDirectionalDerivative(this.#component, z, sizes[0], v, sizes[1], dv, dz));
      return all[3].view.slice();
    });
  }

  /** The whole state: {time, bytes}, for restoreState of any instance of the same FMU. */
  saveState() {
    this.#use();
    return withBlocks([new Block(this.#exports, Uint32Array, 2)], (place) => {
      const [state, size] = [place.pointer, place.pointer + 4]; // where the state's address and its size will be
      this.#check(this.#exports.fmi2GetFMUstate(this.#component, state));
      try {
        this.#check(this.#exports.fmi2SerializedFMUstateSize(this.#component, place.view[0], size));
        const bytes = withBlocks([new Block(this.#exports, Uint8Array, place.view[1])], (block) => {
          const { pointer, view } = block;
          this.#check(this.#exports.fmi2SerializeFMUstate(this.#component, place.view[0], pointer, view.length));
          return block.view.slice();
        });
        return { time: this.time, bytes };
      } finally {
        this.#exports.fmi2FreeFMUstate(this.#component, state);
      }
    });
  }

  restoreState({ time, bytes }) {
    this.#use();
    if (!(bytes instanceof Uint8Array)) throw new FmuError("this is not a state: it has no bytes");
    const blocks = [new Block(this.#exports, Uint32Array, 1), new Block(this.#exports, Uint8Array, bytes)];
    withBlocks(blocks, (place, { pointer }) => {
      this.#check(this.#exports.fmi2DeSerializeFMUstate(this.#component, pointer, bytes.length, place.pointer));
      try {
        this.#check(this.#exports.fmi2SetFMUstate(this.#component, place.view[0]));
      } finally {
        this.#exports.fmi2FreeFMUstate(this.#component, place.pointer);
      }
    });
    this.time = time;
  }

  /**
   * Calls an exported function `void f(const double *in, double *out, double *work)`; returns `out`, in the same
   * Float64Array for all calls of this function.
   */
  call(exportName, numbers, resultCount, workCount) {
    this.#use();
    let known = this.#calls.get(exportName);
    if (!known) {
      const sizes = [numbers.length, resultCount, workCount];
      const blocks = sizes.map((size) => this.#keep(new Block(this.#exports, Float64Array, size)));
      known = { blocks, pointers: blocks.map(({ pointer }) => pointer), result: new Float64Array(resultCount) };
      this.#calls.set(exportName, known);
    }
    known.blocks[0].view.set(numbers);
    this.#exports[exportName](...known.pointers);
    known.result.set(known.blocks[1].view);
    return known.result;
  }

  /** Calls an exported function with this instance as its first argument. */
  callRaw(exportName, ...numbers) {
    this.#use();
    return this.#exports[exportName](this.#component, ...numbers);
  }

  /** The text at an address that callRaw has returned. */
  text(pointer) {
    return textAt(this.#exports, pointer);
  }

  /** Frees the memory of the instance, which cannot be used afterwards. */
  free() {
    if (!this.#component) return;
    this.#exports.fmi2FreeInstance(this.#component);
    this.#log.free();
    this.#forget();
    for (const memory of this.#kept) memory.free();
    this.#kept = [];
    this.#calls.clear();
    this.#component = 0;
  }

  #use() {
    if (!this.#component) throw new FmuError(`${this.name} has been freed`);
  }

  #error(status) {
    this.#use();
    return this.#log.takeError(status);
  }
}

function checkNumber(name, value) {
  if (typeof value !== "number") throw new FmuError(`${name} = ${String(value)}: must be a number`);
}
