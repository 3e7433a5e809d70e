/** The host's side of fmi2Instantiate in a WebAssembly module (fmu_src/wasm/host.c): callbacks, and a log. */
import { DISCARD, FmuError, STATUS } from "./fmu_error.js";
import { textAt } from "./fmu_memory.js";

/** The log of one instance. pointer: the address that fmi2Instantiate gets as its callbacks. */
export class Log {
  #exports;
  #messages = []; // {status, category, text}

  constructor(exports) {
    this.#exports = exports;
    this.pointer = exports.mechfmu_host_new();
    if (!this.pointer) throw new FmuError("there is not enough memory");
  }

  free() {
    this.#exports.mechfmu_host_free(this.pointer);
  }

  /** Removes and returns all messages. */
  take() {
    this.#read();
    return this.#messages.splice(0);
  }

  /** The error of a call that has returned this status: its text is what the call has logged, which is removed. */
  takeError(status) {
    this.#read();
    const failed = (message) => STATUS.indexOf(message.status) >= DISCARD;
    const text = this.#messages.filter(failed).map((message) => message.text).join("; ");
    this.#messages = this.#messages.filter((message) => !failed(message));
    return new FmuError(text || "the FMU gives no reason", STATUS[status]);
  }

  /** Takes the messages over from the module: of each one byte for the status, then category and text with zeros. */
  #read() {
    const length = this.#exports.mechfmu_host_length(this.pointer);
    if (!length) return;
    let at = this.#exports.mechfmu_host_messages(this.pointer);
    const memory = new Uint8Array(this.#exports.memory.buffer);
    for (const end = at + length; at < end; ) {
      const status = STATUS[memory[at]];
      const category = textAt(this.#exports, at + 1);
      const start = memory.indexOf(0, at + 1) + 1;
      this.#messages.push({ status, category, text: textAt(this.#exports, start) });
      at = memory.indexOf(0, start) + 1;
    }
    this.#exports.mechfmu_host_clear(this.pointer);
  }
}
