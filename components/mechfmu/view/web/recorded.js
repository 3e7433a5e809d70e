/** Numbers over time, as view/packed.py packs them. */
import { unpack } from "./unpack.js";

export function bytesOf(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

/** The columns of a table as Float32Array; columns that do not change share one number: {rows, columns, row(i)}. */
export async function recorded({ rows, columns, kept, moving, numbers }) {
  const weights = await unpack(numbers);
  const count = weights.length / 4;
  const bits = new Int32Array(count);
  for (let byte = 0; byte < 4; byte++) {
    for (let i = 0; i < count; i++) bits[i] |= weights[byte * count + i] << (8 * byte);
  }
  const found = Array.from({ length: kept }, (_, k) => {
    const own = k - (kept - moving);
    const column = new Int32Array(rows).fill(bits[k]);
    for (let i = 1; own >= 0 && i < rows; i++) column[i] = column[i - 1] + bits[kept + own * (rows - 1) + i - 1];
    return new Float32Array(column.buffer);
  });
  const all = Array.from(new Uint32Array(bytesOf(columns).buffer), (place) => found[place]);
  return { rows, columns: all, row: (i) => Float64Array.from(all, (column) => column[i]) };
}
