/**
 * What the camera looks at while a mechanism moves: a box that widens with the motion. Along a direction in which the
 * mechanism travels, as one that walks does, the box has a fixed width and moves with it.
 */
import { boundsOf } from "./layout.js";

const TRAVELS = 1.25; // a box that becomes so much wider than `room` belongs to a mechanism that travels
const PREVIEWED = 5; // sizes: the first box is not made wider than this for the motion that follows
const LEAST = 0.3; // of the longest side: how long each side is at least
const EASE = 0.35; // s, in which the camera follows the box
const LAG = 0.25; // of a side: the camera is not farther behind one that travels fast, as one that falls does
const LONG_AGO = 0.5; // s without a picture, after which the camera is where it has to be at once

export class Framing {
  /** size: of the mechanism; flat: whether it is planar */
  constructor(size, flat) {
    Object.assign(this, { size, flat });
    this.axes = flat ? [0, 1] : [0, 1, 2];
    this.first = { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
    this.shown = null;
    this.begin();
  }

  /** A new motion begins, with the first box. */
  begin() {
    [this.low, this.high] = [[...this.first.low], [...this.first.high]];
    this.room = null; // the longest side of the first box, which a side may exceed a little
    this.travels = [false, false, false];
  }

  /** Widen the first box for the points of a pose, unless the mechanism is far away by then, as one that falls is. */
  preview(points) {
    const box = { low: [...this.first.low], high: [...this.first.high] };
    this.#widen(box, boundsOf(points));
    if (this.axes.some((k) => box.high[k] - box.low[k] > PREVIEWED * this.size)) return;
    this.first = box;
    this.begin();
  }

  /** See the points of a pose. */
  see(points) {
    const bounds = boundsOf(points);
    const { low, high } = bounds;
    if (!this.axes.every((k) => Number.isFinite(low[k]) && Number.isFinite(high[k]))) return;
    this.#widen(this, bounds);
    const longest = Math.max(...this.axes.map((k) => this.high[k] - this.low[k]));
    this.room ??= Math.max(longest, this.size);
    for (const k of this.axes) {
      const room = Math.max(TRAVELS * this.room, high[k] - low[k]);
      if (this.high[k] - this.low[k] > room) this.travels[k] = true;
      if (!this.travels[k]) continue;
      const [middle, half] = [(low[k] + high[k]) / 2, Math.max(this.room, high[k] - low[k]) / 2];
      [this.low[k], this.high[k]] = [middle - half, middle + half];
    }
  }

  #widen(box, { low, high }) {
    for (const k of this.axes) {
      box.low[k] = Math.min(box.low[k], low[k]);
      box.high[k] = Math.max(box.high[k], high[k]);
    }
  }

  /** The box to be shown now [s]: {low, high}; the camera does not jump. */
  at(now) {
    const longest = Math.max(...this.axes.map((k) => this.high[k] - this.low[k]), 1e-9);
    const wanted = { low: [0, 0, 0], high: [0, 0, 0] };
    for (const k of this.axes) {
      const middle = (this.low[k] + this.high[k]) / 2;
      const half = Math.max(this.high[k] - this.low[k], LEAST * longest) / 2;
      [wanted.low[k], wanted.high[k]] = [middle - half, middle + half];
    }
    const gap = this.shown ? now - this.shown.now : Infinity;
    const part = gap > LONG_AGO ? 1 : 1 - Math.exp(-gap / EASE);
    const eased = (side) => wanted[side].map((x, k) => (part === 1 ? x : this.shown[side][k] + part * (x - this.shown[side][k])));
    const shown = { low: eased("low"), high: eased("high"), now };
    for (const k of this.axes) {
      if (!this.travels[k]) continue;
      const behind = (wanted.low[k] + wanted.high[k] - shown.low[k] - shown.high[k]) / 2;
      const most = LAG * (shown.high[k] - shown.low[k]);
      const shift = behind - Math.max(-most, Math.min(most, behind));
      shown.low[k] += shift;
      shown.high[k] += shift;
    }
    this.shown = shown;
    return shown;
  }

  /** Whether the box has yet to grow, although nothing may move any more. */
  get easing() {
    const beyond = 1e-3 * this.size;
    return this.axes.some((k) => this.low[k] < this.shown.low[k] - beyond || this.high[k] > this.shown.high[k] + beyond);
  }

  /** How far the middle of the box has gone along directions in which the mechanism travels, from a box before. */
  gone(from) {
    return [0, 1, 2].map((k) => (this.travels[k] ? (this.shown.low[k] + this.shown.high[k] - from.low[k] - from.high[k]) / 2 : 0));
  }
}
