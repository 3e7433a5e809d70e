/** Arrays and texts in the memory of a WebAssembly module. */
import { FmuError } from "./fmu_error.js";

/** An array in the memory. The memory may grow with every call, which detaches arrays of JavaScript on it. */
export class Block {
  #exports;
  #view;
  #length; // a view of memory that has grown since has no length of its own

  /** content: the values, or how many there are. */
  constructor(exports, Type, content) {
    const length = typeof content === "number" ? content : content.length;
    this.#length = length;
    this.#exports = exports;
    this.pointer = exports.malloc(Math.max(1, length) * Type.BYTES_PER_ELEMENT);
    if (!this.pointer) throw new FmuError("there is not enough memory");
    this.#view = new Type(exports.memory.buffer, this.pointer, length);
    if (content === length) this.#view.fill(0);
    else this.#view.set(content);
  }

  get view() {
    if (this.#view.byteLength === 0 && this.#length) {
      this.#view = new this.#view.constructor(this.#exports.memory.buffer, this.pointer, this.#length);
    }
    return this.#view;
  }

  free() {
    this.#exports.free(this.pointer);
  }
}

/** What `action` returns for the blocks, which are then freed. */
export function withBlocks(blocks, action) {
  try {
    return action(...blocks);
  } finally {
    for (const block of blocks) block.free();
  }
}

/** The text that ends with a zero at this address. */
export function textAt(exports, pointer) {
  const memory = new Uint8Array(exports.memory.buffer);
  return new TextDecoder().decode(memory.subarray(pointer, memory.indexOf(0, pointer)));
}

/** A block with a text and a zero at its end. */
export function textBlock(exports, text) {
  return new Block(exports, Uint8Array, new TextEncoder().encode(`${text}\0`));
}
