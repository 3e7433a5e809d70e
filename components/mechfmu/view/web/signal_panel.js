/** One panel of plotted signals: the curves of one unit over time, on two canvases, and its legend. */
import { element } from "./element.js";
import { commonExponent, powerOfTen, roundRange, roundStep, tickTexts, ticksBetween, valueText } from "./scales.js";
import { extentOf, traceCurve } from "./samples.js";

export const MARGIN = { left: 54, right: 14, top: 6, bottom: 5 }; // CSS pixels around the curves
const DASHES = [[], [8, 3], [2, 3], [8, 3, 2, 3]]; // beyond the number of colours
const TICK_HEIGHT = 34; // CSS pixels of the panel for each horizontal grid line
const TICK_WIDTH = 84;
const MIN_FILLED = 0.4; // of the height: a range that is filled less becomes smaller

/** A canvas that has the size of its element in device pixels; `onSize` is called when it changes. */
export class Sheet {
  constructor(className, onSize = () => {}) {
    this.canvas = element("canvas", { className });
    this.canvas.setAttribute("aria-hidden", "true");
    this.context = this.canvas.getContext("2d");
    this.width = this.height = 0;
    this.observer = new ResizeObserver(() => {
      if (this.fit()) onSize();
    });
    this.observer.observe(this.canvas);
  }

  /** Follows the size of the element; returns whether it changed. */
  fit() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    if (this.width === clientWidth && this.height === clientHeight && this.ratio === ratio) return false;
    [this.width, this.height, this.ratio] = [clientWidth, clientHeight, ratio];
    this.canvas.width = Math.max(1, Math.round(clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(clientHeight * ratio));
    return true;
  }

  /** Clears the canvas; returns the context, in CSS pixels. */
  begin() {
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
    return this.context;
  }

  remove() {
    this.observer.disconnect();
    this.canvas.remove();
  }
}

/** The time axis: a position on the canvas for each time of a window. */
export class TimeScale {
  constructor(from, to, width) {
    Object.assign(this, { from, to, left: MARGIN.left, right: Math.max(width - MARGIN.right, MARGIN.left + 1) });
  }

  x(t) {
    return this.left + ((t - this.from) / (this.to - this.from)) * (this.right - this.left);
  }

  t(x) {
    return this.from + ((x - this.left) / (this.right - this.left)) * (this.to - this.from);
  }

  get step() {
    return roundStep(this.to - this.from, Math.max(2, (this.right - this.left) / TICK_WIDTH));
  }

  get ticks() {
    return ticksBetween(this.from, this.to, this.step);
  }
}

export class SignalPanel {
  /** onRemove(key): the user takes a signal away */
  constructor(parent, unit, onRemove) {
    this.unit = unit;
    this.onRemove = onRemove;
    this.curves = []; // {choice, colour, dash, item, value}
    this.emphasis = null; // the curve under the pointer in the legend
    this.stale = true;
    this.visible = true;
    this.range = null;
    this.legend = element("ul", { className: "signals-legend" });
    this.scale = element("span", { className: "signals-unit" });
    this.plot = element("div", { className: "signals-plot" });
    const head = element("div", { className: "signals-head" }, this.scale, this.legend);
    this.root = element("section", { className: "signals-panel" }, head, this.plot);
    this.root.setAttribute("aria-label", `signals in ${unit || "1"}`);
    this.sheet = new Sheet("signals-curves", () => (this.stale = true));
    this.over = new Sheet("signals-over", () => (this.stale = true));
    this.plot.append(this.sheet.canvas, this.over.canvas);
    parent.append(this.root);
  }

  remove() {
    this.sheet.remove();
    this.over.remove();
    this.root.remove();
  }

  /** The signals of the panel: [{choice, colour: number}]. */
  show(curves) {
    this.curves = curves.map((curve) => ({ ...curve, ...this.#entry(curve) }));
    this.legend.replaceChildren(...this.curves.map((curve) => curve.item));
    this.range = null;
    this.stale = true;
  }

  #entry({ choice, colour, colours }) {
    const swatch = element("i", { className: "signals-swatch" });
    const name = element("span", { className: "signals-name", textContent: choice.title, title: choice.title });
    const value = element("b", { className: "signals-value", textContent: "–" });
    const close = element("button", { type: "button", className: "signals-remove", textContent: "×" });
    close.title = `hide ${choice.title}`;
    close.setAttribute("aria-label", close.title);
    close.addEventListener("click", () => this.onRemove(choice.key));
    const item = element("li", {}, swatch, name, value, close);
    item.dataset.key = choice.key;
    const emphasize = (key) => () => {
      this.emphasis = key;
      this.stale = true;
    };
    item.addEventListener("pointerenter", emphasize(choice.key));
    item.addEventListener("pointerleave", emphasize(null));
    return { item, value, swatch, dash: DASHES[Math.floor(colour / colours) % DASHES.length] };
  }

  /** Sets the values in the legend: those of sample `i`. */
  showValues(samples, i) {
    const size = this.range ? Math.max(Math.abs(this.range.low), Math.abs(this.range.high)) : 0;
    for (const { choice, value } of this.curves) {
      const text = `${valueText(this.#valueOf(choice, samples, i), size)} ${choice.unit}`.trim();
      if (value.textContent !== text) value.textContent = text;
    }
  }

  #valueOf(choice, samples, i) {
    const column = samples.columns.get(choice.key);
    return column && i >= 0 ? choice.factor * column[i] + (choice.offset ?? 0) : NaN;
  }

  /** Draws the grid and the curves. */
  draw(samples, time, colours) {
    const context = this.sheet.begin();
    const { width, height } = this.sheet;
    if (width < MARGIN.left + MARGIN.right + 10 || height < 20) return;
    const begin = Math.max(samples.indexAt(time.from), 0);
    const end = Math.min(samples.indexAt(time.to) + 2, samples.count);
    this.#findRange(samples, begin, end);
    const { low, high, step } = this.range;
    const bottom = height - MARGIN.bottom;
    const y = (v) => bottom - ((v - low) / (high - low)) * (bottom - MARGIN.top);
    this.y = y;
    this.#drawGrid(context, time, y, colours);
    context.save();
    context.beginPath();
    context.rect(time.left, MARGIN.top - 2, time.right - time.left, bottom - MARGIN.top + 4);
    context.clip();
    context.lineJoin = "round";
    const bin = (time.to - time.from) / ((time.right - time.left) * this.sheet.ratio);
    const last = this.curves.findIndex((curve) => curve.choice.key === this.emphasis);
    const order = this.curves.filter((_, k) => k !== last).reverse(); // the first is drawn over the others
    for (const curve of last < 0 ? order : [...order, this.curves[last]]) {
      const column = samples.columns.get(curve.choice.key);
      if (!column) continue;
      const { factor, offset = 0, key } = curve.choice;
      const path = { moveTo: (t, v) => context.moveTo(time.x(t), y(factor * v + offset)) };
      path.lineTo = (t, v) => context.lineTo(time.x(t), y(factor * v + offset));
      context.beginPath();
      traceCurve(path, samples.times, column, begin, end, bin);
      context.globalAlpha = this.emphasis && this.emphasis !== key ? 0.25 : 1;
      context.strokeStyle = colours.curves[curve.colour % colours.curves.length];
      context.lineWidth = this.emphasis === key ? 2.5 : 1.5;
      context.setLineDash(curve.dash);
      context.stroke();
    }
    context.restore();
    this.stale = false;
  }

  /** The range of the values in sight. While it fits the one before stays, so that a running plot is calm. */
  #findRange(samples, begin, end) {
    let [low, high] = [Infinity, -Infinity];
    for (const { choice } of this.curves) {
      const extent = samples.columns.has(choice.key) && extentOf(samples.columns.get(choice.key), begin, end);
      if (!extent) continue;
      const { factor, offset = 0 } = choice;
      const ends = [factor * extent.low + offset, factor * extent.high + offset];
      low = Math.min(low, ...ends);
      high = Math.max(high, ...ends);
    }
    if (!(low <= high)) [low, high] = [0, 1];
    const lines = Math.max(2, (this.sheet.height - MARGIN.top - MARGIN.bottom) / TICK_HEIGHT);
    const before = this.range;
    const calm = before && before.lines === lines && low >= before.low && high <= before.high;
    if (calm && high - low > MIN_FILLED * (before.high - before.low)) return;
    this.range = { ...roundRange(low, high, lines), lines };
    const exponent = commonExponent(this.range.low, this.range.high);
    const unit = this.unit || "1";
    this.scale.textContent = exponent ? `${powerOfTen(exponent)} ${unit}` : unit;
    this.exponent = exponent;
  }

  #drawGrid(context, time, y, colours) {
    const { low, high, step } = this.range;
    const ticks = ticksBetween(low, high, step);
    const sharp = (at) => Math.round(at * this.sheet.ratio - 0.5) / this.sheet.ratio + 0.5 / this.sheet.ratio;
    context.lineWidth = 1 / this.sheet.ratio;
    const rule = (x1, y1, x2, y2) => {
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    };
    context.strokeStyle = colours.line;
    context.beginPath();
    for (const tick of ticks) rule(time.left, sharp(y(tick)), time.right, sharp(y(tick)));
    for (const tick of time.ticks) rule(sharp(time.x(tick)), y(high), sharp(time.x(tick)), y(low));
    context.stroke();
    if (low < 0 && high > 0) {
      context.strokeStyle = colours.soft;
      context.beginPath();
      rule(time.left, sharp(y(0)), time.right, sharp(y(0)));
      context.globalAlpha = 0.6;
      context.stroke();
      context.globalAlpha = 1;
    }
    context.fillStyle = colours.soft;
    context.font = colours.font;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const texts = tickTexts(ticks, step, this.exponent);
    ticks.forEach((tick, k) => context.fillText(texts[k], time.left - 8, y(tick)));
  }

  /** Draws what moves over the curves: the present time, the time under the pointer, and a chosen span. */
  drawOver(samples, time, { now, hover, span }, colours) {
    const context = this.over.begin();
    if (!this.y) return;
    const [top, bottom] = [MARGIN.top - 4, this.over.height - MARGIN.bottom + 4];
    if (span) {
      const [a, b] = span.map((t) => time.x(Math.min(Math.max(t, time.from), time.to)));
      context.fillStyle = colours.accent;
      context.globalAlpha = 0.16;
      context.fillRect(a, top, b - a, bottom - top);
      context.globalAlpha = 1;
    }
    const upright = (t, colour, width) => {
      if (!(t >= time.from && t <= time.to)) return;
      context.fillStyle = colour;
      context.fillRect(time.x(t) - width / 2, top, width, bottom - top);
    };
    if (now !== null) upright(now, colours.accent, 1.5);
    if (hover < 0) return;
    upright(samples.times[hover], colours.soft, 1);
    for (const { choice, colour } of this.curves) {
      const value = this.#valueOf(choice, samples, hover);
      if (!Number.isFinite(value)) continue;
      context.beginPath();
      context.arc(time.x(samples.times[hover]), this.y(value), 3.5, 0, 2 * Math.PI);
      context.fillStyle = colours.curves[colour % colours.curves.length];
      context.strokeStyle = colours.paper;
      context.lineWidth = 1.5;
      context.fill();
      context.stroke();
    }
  }

  /** Follows the colours of the page. */
  paint(colours) {
    for (const { swatch, colour, dash } of this.curves) {
      swatch.style.setProperty("--swatch", colours.curves[colour % colours.curves.length]);
      swatch.classList.toggle("dashed", dash.length > 0);
    }
    this.stale = true;
  }
}
