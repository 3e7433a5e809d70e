/** Reads ZIP archives. */
import { FmuError } from "./fmu_error.js";

const END = 0x06054b50; // signatures: of the end of the archive, of an entry of its list, and of a file
const ENTRY = 0x02014b50;
const FILE = 0x04034b50;
const END_SIZE = 22;
const LONGEST_COMMENT = 0xffff;
const STORED = 0;
const DEFLATED = 8;

/** A ZIP archive without encryption, of less than 4 GB. */
export class Archive {
  #data;
  #view;
  #entries = new Map();

  constructor(bytes) {
    this.#data = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
    this.#view = new DataView(this.#data.buffer, this.#data.byteOffset, this.#data.byteLength);
    const last = this.#data.length - END_SIZE;
    let end = last;
    while (end >= 0 && end >= last - LONGEST_COMMENT && this.#u32(end) !== END) end--;
    if (end < 0 || this.#u32(end) !== END) throw new FmuError("this is not an FMU: it is not a ZIP archive");
    let at = this.#u32(end + 16);
    for (let left = this.#u16(end + 10); left > 0; left--) {
      if (this.#u32(at) !== ENTRY) throw damaged(`its list of files ends before file ${this.#entries.size + 1}`);
      const name = new TextDecoder().decode(this.#part(at + 46, this.#u16(at + 28)));
      const [flags, method] = [this.#u16(at + 8), this.#u16(at + 10)];
      const [crc, packed, size, header] = [16, 20, 24, 42].map((offset) => this.#u32(at + offset));
      this.#entries.set(name, { encrypted: flags & 1, method, crc, packed, size, header });
      at += 46 + this.#u16(at + 28) + this.#u16(at + 30) + this.#u16(at + 32);
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
    const { encrypted, method, crc, packed, size, header } = entry;
    if (encrypted) throw new FmuError(`${name} is encrypted`);
    if (this.#u32(header) !== FILE) throw damaged(`${name} is not where its list of files says`);
    const content = this.#part(header + 30 + this.#u16(header + 26) + this.#u16(header + 28), packed);
    if (method === STORED) return content;
    if (method !== DEFLATED) throw new FmuError(`${name} is compressed by method ${method}: must be deflate or store`);
    const trailer = new Uint8Array(8);
    new DataView(trailer.buffer).setUint32(0, crc, true);
    new DataView(trailer.buffer).setUint32(4, size, true);
    const gzip = new Blob([Uint8Array.of(31, 139, 8, 0, 0, 0, 0, 0, 0, 255), content, trailer]);
    try {
      const stream = gzip.stream().pipeThrough(new DecompressionStream("gzip"));
      return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
      throw damaged(`${name} cannot be decompressed`);
    }
  }

  #part(at, length) {
    this.#check(at, length);
    return this.#data.subarray(at, at + length);
  }

  #u16(at) {
    this.#check(at, 2);
    return this.#view.getUint16(at, true);
  }

  #u32(at) {
    this.#check(at, 4);
    return this.#view.getUint32(at, true);
  }

  #check(at, length) {
    if (at < 0 || at + length > this.#data.length) throw damaged(`it ends before byte ${at + length}`);
  }
}

function damaged(what) {
  return new FmuError(`the FMU is damaged: ${what}`);
}
