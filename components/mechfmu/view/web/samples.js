/** Samples of signals over time: a recording as it is, or the last seconds of a running simulation. */

export class Samples {
  /** kept: seconds that a running simulation is kept; limit: samples of it, so those that come faster are left out */
  constructor(kept = 120, limit = 48000) {
    this.kept = kept;
    this.limit = limit;
    this.clear();
  }

  /** Forgets everything. */
  clear() {
    this.times = new Float64Array(0);
    this.columns = new Map();
    this.count = 0;
    this.room = 0;
  }

  /** Takes a recording. */
  load(times, columns) {
    this.times = times;
    this.columns = columns instanceof Map ? columns : new Map(Object.entries(columns));
    this.count = times.length;
    this.room = 0;
  }

  /** Adds one sample of the signals `keys`; those that were not sampled before begin with a gap. */
  append(t, keys, values) {
    if (this.count && t < this.last) this.clear();
    if (this.count && t - this.last < this.kept / this.limit) return;
    if (this.count === this.room) this.#makeRoom();
    this.times[this.count] = t;
    for (const column of this.columns.values()) column[this.count] = NaN;
    keys.forEach((key, k) => {
      if (!this.columns.has(key)) this.columns.set(key, new Float64Array(this.room).fill(NaN));
      this.columns.get(key)[this.count] = values[k];
    });
    this.count += 1;
  }

  /** Keeps the columns of these signals only. */
  keepOnly(keys) {
    for (const key of this.columns.keys()) if (!keys.includes(key)) this.columns.delete(key);
  }

  get first() {
    return this.count ? this.times[0] : 0;
  }

  get last() {
    return this.count ? this.times[this.count - 1] : 0;
  }

  /** The last sample that is not after t; -1: there is none. */
  indexAt(t) {
    let [low, high] = [-1, this.count - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The sample nearest to t; -1: there is none. */
  nearest(t) {
    const i = this.indexAt(t);
    const next = Math.min(i + 1, this.count - 1);
    return i < 0 || Math.abs(this.times[next] - t) < Math.abs(t - this.times[i]) ? next : i;
  }

  /** Room for more: samples that are too old go, and the arrays grow if most of them stay. */
  #makeRoom() {
    let stale = this.indexAt(this.last - this.kept) + 1;
    stale = stale > this.count / 4 ? stale : 0;
    const room = stale ? this.room : Math.max(1024, 2 * this.room);
    const moved = (from) => {
      const to = new Float64Array(room);
      to.set(from.subarray(stale, this.count));
      return to;
    };
    this.times = moved(this.times);
    for (const [key, column] of this.columns) this.columns.set(key, moved(column));
    this.count -= stale;
    this.room = room;
  }
}

/** {low, high} of the finite values with indices from `begin` up to `end`; null without any. */
export function extentOf(values, begin, end) {
  let [low, high] = [Infinity, -Infinity];
  for (let i = begin; i < end; i++) {
    const value = values[i];
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high && Number.isFinite(low) && Number.isFinite(high) ? { low, high } : null;
}

/**
 * Draws a curve with pen.moveTo(t, value) and pen.lineTo(t, value). Where there are many samples, each `bin` of time
 * gets at most four points (first, least, greatest, last), which look the same; NaN is a gap.
 */
export function traceCurve(pen, times, values, begin, end, bin) {
  if (end - begin < 2) return;
  const dense = (times[end - 1] - times[begin]) / bin < (end - begin) / 3;
  let drawing = false;
  const point = (i) => {
    if (drawing) pen.lineTo(times[i], values[i]);
    else pen.moveTo(times[i], values[i]);
    drawing = true;
  };
  for (let i = begin; i < end; ) {
    if (!Number.isFinite(values[i])) {
      drawing = false;
      i += 1;
      continue;
    }
    if (!dense) {
      point(i);
      i += 1;
      continue;
    }
    const next = (Math.floor(times[i] / bin) + 1) * bin;
    let [least, greatest, last] = [i, i, i];
    let j = i + 1;
    for (; j < end && times[j] < next && Number.isFinite(values[j]); j++) {
      if (values[j] < values[least]) least = j;
      if (values[j] > values[greatest]) greatest = j;
      last = j;
    }
    const [a, b] = least < greatest ? [least, greatest] : [greatest, least];
    point(i);
    if (a > i && a < last) point(a);
    if (b > a && b < last) point(b);
    if (last > i) point(last);
    i = j;
  }
}
