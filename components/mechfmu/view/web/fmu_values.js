/** Moves values of variables between JavaScript and a WebAssembly module: one call of FMI for each type. */
import { FmuError } from "./fmu_error.js";
import { Block } from "./fmu_memory.js";

const TYPES = {
  Real: { array: Float64Array, get: "fmi2GetReal", set: "fmi2SetReal", allows: isNumber, must: "must be a number" },
  Integer: {
    array: Int32Array,
    get: "fmi2GetInteger",
    set: "fmi2SetInteger",
    allows: (value) => value === (value | 0),
    must: "must be a whole number of 32 bits",
  },
  Boolean: {
    array: Int32Array,
    get: "fmi2GetBoolean",
    set: "fmi2SetBoolean",
    allows: (value) => value === true || value === false || value === 0 || value === 1,
    must: "must be true or false",
  },
};

/** Some variables, always the same, for reading and writing. free() frees its memory. */
export class Values {
  #groups;
  #result;
  #blocks;

  constructor(exports, variables) {
    this.#result = new Float64Array(variables.length);
    this.#blocks = [];
    const all = variables.map((variable, place) => ({ ...variable, place }));
    const other = all.find(({ type }) => !(type in TYPES));
    if (other) throw new FmuError(`${other.name} is of type ${other.type}: only numbers can be exchanged`);
    const block = (Type, content) => {
      const made = new Block(exports, Type, content);
      this.#blocks.push(made);
      return made;
    };
    this.#groups = Object.keys(TYPES)
      .map((type) => ({ ...TYPES[type], own: all.filter((variable) => variable.type === type) }))
      .filter(({ own }) => own.length)
      .map(({ array, get, set, allows, must, own }) => ({
        own,
        allows,
        must,
        getter: exports[get],
        setter: exports[set],
        references: block(Uint32Array, own.map(({ reference }) => reference)),
        numbers: block(array, own.length),
      }));
  }

  /** The present values, always in the same Float64Array. check: what judges the status of a call. */
  read(component, check) {
    for (const { getter, references, numbers, own } of this.#groups) {
      check(getter(component, references.pointer, own.length, numbers.pointer));
      const { view } = numbers;
      for (let i = 0; i < own.length; i++) this.#result[own[i].place] = view[i];
    }
    return this.#result;
  }

  /** Sets the variables to these values. */
  write(component, check, values) {
    if (values.length !== this.#result.length) {
      throw new FmuError(`${values.length} values for ${this.#result.length} variables`);
    }
    for (const { own, allows, must } of this.#groups) {
      const wrong = own.find(({ place }) => !allows(values[place]));
      if (wrong) throw new FmuError(`${wrong.name} = ${String(values[wrong.place])}: ${must}`);
    }
    for (const { setter, references, numbers, own } of this.#groups) {
      const { view } = numbers;
      for (let i = 0; i < own.length; i++) view[i] = values[own[i].place];
      check(setter(component, references.pointer, own.length, numbers.pointer));
    }
  }

  free() {
    for (const block of this.#blocks) block.free();
  }
}

function isNumber(value) {
  return typeof value === "number";
}
