/** Signals over time, beside the view: one panel for each unit, a common time axis, a legend with present values. */
import { element } from "./element.js";
import { MARGIN, Sheet, SignalPanel, TimeScale } from "./signal_panel.js";
import { SignalMenu } from "./signal_menu.js";
import { Samples } from "./samples.js";
import { tickTexts, valueText } from "./scales.js";

const SPANS = [5, 10, 30, 60]; // s that a running plot shows
const VALUES_EVERY = 80; // ms between two texts of one value, so that it can be read
const CLICK = 4; // pixels: a shorter movement of the pointer is a click
const SHORTEST = 1e-4; // of the whole time: nobody zooms in further
const COLOURS = ["#0b66b2", "#d55e00", "#00876a", "#a83c80", "#8a6a00", "#2f9fd0", "#6b4fc4", "#5b6472"];
const PROPERTIES = { paper: "#ffffff", ink: "#1f2933", soft: "#616e7c", line: "#dde3ea", accent: "#1769aa" };

export class Signals {
  /** choices: [{key, title, unit, factor, offset?, group}]; onTime(t): the user has clicked at a time of a recording */
  constructor(parent, choices, { onTime = null, fileName = "signals.csv" } = {}) {
    this.choices = new Map(choices.map((choice) => [choice.key, choice]));
    this.onTime = onTime;
    this.fileName = fileName;
    this.onChoice = null;
    this.samples = new Samples();
    this.running = true; // false: a recording is shown
    this.span = SPANS[1];
    this.zoomed = null; // [from, to]
    this.now = null;
    this.pointer = null; // {x, y, panel} of the pointer over the plots
    this.drag = null; // times at which a drag began and is
    this.panels = new Map();
    this.colourOf = new Map();
    this.keys = [];
    this.shownAt = this.drawnAt = -Infinity;
    this.stale = true;
    this.#build(parent, choices);
    this.#watchTheme();
    this.choose([]);
  }

  // --- what is plotted -------------------------------------------------------------------------------------------

  get chosen() {
    return [...this.keys];
  }

  choose(keys) {
    this.keys = [...new Set(keys)].filter((key) => this.choices.has(key));
    if (this.running) this.samples.keepOnly(this.keys);
    const units = new Map();
    for (const key of this.keys) {
      const { unit } = this.choices.get(key);
      units.set(unit, [...(units.get(unit) ?? []), key]);
    }
    for (const [unit, panel] of this.panels) {
      if (units.has(unit)) continue;
      this.visibility.unobserve(panel.root);
      panel.remove();
      this.panels.delete(unit);
    }
    for (const key of this.colourOf.keys()) if (!this.keys.includes(key)) this.colourOf.delete(key);
    for (const [unit, own] of units) this.#panelOf(unit).show(own.map((key) => this.#curve(key, own)));
    for (const unit of units.keys()) this.area.append(this.panels.get(unit).root); // in the order of the signals
    this.empty.hidden = this.keys.length > 0;
    this.menu.follow();
    this.#repaint();
  }

  #curve(key, panel) {
    const colours = COLOURS.length;
    if (!this.colourOf.has(key)) {
      const taken = [...this.colourOf.values()];
      const own = panel.filter((other) => this.colourOf.has(other)).map((other) => this.colourOf.get(other));
      const free = (used) => [...Array(4 * colours).keys()].find((n) => !used.includes(n)) ?? 0;
      const n = free(taken);
      this.colourOf.set(key, n < colours ? n : free(own));
    }
    return { choice: this.choices.get(key), colour: this.colourOf.get(key), colours };
  }

  #panelOf(unit) {
    if (!this.panels.has(unit)) {
      const panel = new SignalPanel(this.area, unit, (key) => this.#toggle(key, false));
      this.panels.set(unit, panel);
      this.visibility.observe(panel.root);
    }
    return this.panels.get(unit);
  }

  #toggle(key, chosen) {
    this.choose(chosen ? [...this.keys, key] : this.keys.filter((other) => other !== key));
    this.onChoice?.(this.chosen);
  }

  // --- samples ---------------------------------------------------------------------------------------------------

  append(t, values) {
    if (!this.running) this.clear();
    this.samples.append(t, this.keys, values);
    this.stale = true;
  }

  load(times, columns) {
    this.running = false;
    this.root.classList.add("recorded");
    this.samples.load(times, columns);
    this.#redraw();
  }

  cursor(t) {
    if (this.now === t) return;
    this.now = t;
    this.overStale = true;
  }

  clear() {
    this.running = true;
    this.root.classList.remove("recorded");
    this.samples.clear();
    this.now = null;
    this.#zoom(null);
  }

  // --- the file --------------------------------------------------------------------------------------------------

  csv() {
    const { from, to } = this.window();
    const { times, columns } = this.samples;
    const choices = this.keys.map((key) => this.choices.get(key));
    const titles = choices.map(({ title, unit }) => `${title} [${unit || "1"}]`);
    const rows = [["time [s]", ...titles].map(fieldOfCsv).join(",")];
    const number = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(10))) : "");
    for (let i = 0; i < this.samples.count; i++) {
      if (this.zoomed && (times[i] < from || times[i] > to)) continue;
      const values = choices.map(({ key, factor, offset = 0 }) => number(factor * (columns.get(key)?.[i] ?? NaN) + offset));
      rows.push([number(times[i]), ...values].join(","));
    }
    return `${rows.join("\r\n")}\r\n`;
  }

  #download() {
    const link = element("a", { download: this.fileName });
    link.href = URL.createObjectURL(new Blob([this.csv()], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // --- time ------------------------------------------------------------------------------------------------------

  /** The times that are shown: {from, to}. */
  window() {
    if (this.zoomed) return { from: this.zoomed[0], to: this.zoomed[1] };
    const { first, last, count } = this.samples;
    if (!this.running) return { from: first, to: count > 1 ? last : first + 1 };
    const begin = count ? Math.max(first, last - this.span) : 0;
    return { from: begin, to: begin + this.span };
  }

  #zoom(window) {
    if (window) {
      const whole = Math.max(this.samples.last - this.samples.first, 1e-9);
      const [from, to] = window;
      if (!(to - from > SHORTEST * whole)) return;
      window = !this.running && to - from >= whole * (1 - 1e-9) ? null : this.#moved(from, to);
    }
    this.zoomed = window;
    this.all.hidden = !window;
    this.#redraw();
  }

  /** A window of the same length inside the samples. */
  #moved(from, to) {
    const { first, last } = this.samples;
    const shift = Math.max(first - from, 0) || Math.min(last - to, 0);
    return [Math.max(first, from + shift), Math.min(last, to + shift)];
  }

  // --- drawing ---------------------------------------------------------------------------------------------------

  /** interval: ms after the last drawing within which nothing is drawn anew but what the user moves */
  draw(interval = 0) {
    const clock = performance.now();
    if (clock - this.drawnAt < interval && !this.pointer) return;
    this.drawnAt = clock;
    if (this.themeStale) this.#readTheme();
    if (this.samples.last !== this.lastShown && this.running) this.stale = true;
    this.lastShown = this.samples.last;
    const { from, to } = this.window();
    const width = this.area.clientWidth;
    const time = (this.time = new TimeScale(from, to, width));
    const hover = this.#hovered();
    const over = this.overStale || this.stale;
    const marks = { now: this.running ? null : this.now, hover, span: this.drag?.span };
    for (const panel of this.panels.values()) {
      if (!panel.visible) {
        panel.stale ||= this.stale;
        continue;
      }
      const redrawn = this.stale || panel.stale;
      if (redrawn) panel.draw(this.samples, time, this.colours);
      if (redrawn || over) panel.drawOver(this.samples, time, marks, this.colours);
    }
    if (over) this.#drawAxis(time, marks);
    this.#showValues(hover);
    if (over) this.#showTip(hover, time);
    this.stale = this.overStale = false;
  }

  #hovered() {
    return this.pointer && !this.drag?.span && this.keys.length ? this.samples.nearest(this.time.t(this.pointer.x)) : -1;
  }

  #drawAxis(time, { now, hover }) {
    const context = this.axis.begin();
    context.font = this.colours.font;
    context.textBaseline = "middle";
    context.textAlign = "center";
    context.fillStyle = this.colours.soft;
    const ticks = time.ticks;
    const texts = tickTexts(ticks, time.step);
    const marked = hover >= 0 ? this.samples.times[hover] : now;
    const near = (tick) => marked !== null && marked !== undefined && Math.abs(time.x(tick) - time.x(marked)) < 44;
    const shown = ticks.map((tick, k) => [tick, texts[k]]).filter(([tick]) => !near(tick) && time.x(tick) < time.right - 8);
    for (const [tick, text] of shown) context.fillText(text, time.x(tick), 10);
    if (marked === null || marked === undefined || marked < time.from || marked > time.to) {
      context.textAlign = "right";
      context.fillText("s", time.right + 8, 10);
      return;
    }
    const digits = Math.min(Math.max(2, 1 - Math.floor(Math.log10(time.step))), 6);
    const text = `${marked.toFixed(digits)} s`;
    const half = context.measureText(text).width / 2 + 6;
    const x = Math.min(Math.max(time.x(marked), time.left - 20 + half), time.right + MARGIN.right - half);
    context.fillStyle = hover >= 0 ? this.colours.soft : this.colours.accent;
    context.beginPath();
    context.roundRect(x - half, 1, 2 * half, 18, 5);
    context.fill();
    context.fillStyle = this.colours.paper;
    context.fillText(text, x, 10.5);
  }

  #showValues(hover) {
    const now = performance.now();
    const recent = now - this.shownAt < VALUES_EVERY;
    if (recent && hover < 0) return;
    this.shownAt = now;
    const present = this.running || this.now === null ? this.samples.count - 1 : this.samples.indexAt(this.now + 1e-9);
    for (const panel of this.panels.values()) if (panel.visible) panel.showValues(this.samples, hover >= 0 ? hover : present);
  }

  /** The values beside the pointer. */
  #showTip(hover, time) {
    const panel = this.pointer?.panel;
    this.tip.hidden = hover < 0 || !panel || !panel.curves.length;
    if (this.tip.hidden) return;
    const title = element("div", { className: "signals-tip-time" });
    title.textContent = `${valueText(this.samples.times[hover])} s`;
    const rows = panel.curves.map(({ choice, colour, value }) => {
      const swatch = element("i", { className: "signals-swatch" });
      swatch.style.setProperty("--swatch", this.colours.curves[colour % COLOURS.length]);
      const name = element("span", { className: "signals-name", textContent: choice.title });
      return element("div", {}, swatch, name, element("b", { textContent: value.textContent }));
    });
    this.tip.replaceChildren(title, ...rows);
    const x = time.x(this.samples.times[hover]);
    const { offsetWidth, offsetHeight } = this.tip;
    const { clientWidth, clientHeight } = this.stage;
    const left = x + 14 + offsetWidth < clientWidth ? x + 14 : Math.max(0, x - 14 - offsetWidth);
    const top = Math.min(Math.max(this.pointer.y - offsetHeight / 2, 4), clientHeight - offsetHeight - 4);
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  #redraw() {
    this.stale = true;
    this.shownAt = -Infinity;
  }

  // --- the page --------------------------------------------------------------------------------------------------

  #build(parent, choices) {
    const bar = element("div", { className: "signals-bar" });
    this.menu = new SignalMenu(bar, choices, (key) => this.keys.includes(key), (key, on) => this.#toggle(key, on));
    this.spans = element("select", { className: "signals-span" });
    this.spans.setAttribute("aria-label", "time shown");
    for (const s of SPANS) this.spans.append(element("option", { value: s, textContent: `${s} s`, selected: s === this.span }));
    this.spans.addEventListener("change", () => {
      this.span = Number(this.spans.value);
      this.#zoom(null);
    });
    this.all = element("button", { type: "button", textContent: "Show all", hidden: true, title: "whole time (double click)" });
    this.all.addEventListener("click", () => this.#zoom(null));
    const save = element("button", { type: "button", className: "signals-csv", textContent: "CSV" });
    save.title = "save the plotted signals as a CSV file";
    save.addEventListener("click", () => this.#download());
    bar.append(element("span", { className: "signals-gap" }), this.all, this.spans, save);
    this.area = element("div", { className: "signals-panels" });
    this.empty = element("p", { className: "signals-empty", textContent: "Choose signals to plot." });
    this.axis = new Sheet("signals-axis", () => (this.stale = true));
    this.tip = element("div", { className: "signals-tip", hidden: true });
    this.stage = element("div", { className: "signals-stage" }, this.area, this.tip);
    this.root = element("div", { className: "signals" }, bar, this.empty, this.stage, this.axis.canvas);
    parent.append(this.root);
    this.visibility = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const panel = [...this.panels.values()].find((p) => p.root === target);
        if (panel) panel.visible = isIntersecting;
      }
    });
    this.#listen();
  }

  #listen() {
    const { area } = this;
    const place = (event) => {
      const bounds = this.stage.getBoundingClientRect();
      const panel = [...this.panels.values()].find((p) => p.plot.contains(event.target));
      return { x: event.clientX - bounds.left, y: event.clientY - bounds.top, panel };
    };
    const touches = new Map(); // of a pinch: pointer -> time under it, x
    const leave = () => {
      this.pointer = null;
      this.overStale = true;
      this.shownAt = -Infinity;
    };
    area.addEventListener("pointerdown", (event) => {
      const at = place(event);
      if (!at.panel || event.button !== 0 || !this.time) return;
      if (event.pointerType === "touch") touches.set(event.pointerId, { t: this.time.t(at.x), x: at.x });
      this.drag = touches.size > 1 ? null : { begin: at, panel: at.panel, span: null };
      this.pointer = at;
      this.overStale = true;
      if (event.pointerType !== "touch") at.panel.plot.setPointerCapture(event.pointerId);
    });
    area.addEventListener("pointermove", (event) => {
      const at = place(event);
      if (!this.time) return;
      this.overStale = true;
      if (touches.has(event.pointerId)) touches.get(event.pointerId).x = at.x;
      if (touches.size > 1) return this.#pinch([...touches.values()]);
      this.pointer = at.panel ? at : null;
      if (!this.drag || event.pointerType === "touch") return;
      const moved = Math.abs(at.x - this.drag.begin.x) > CLICK || this.drag.span;
      if (moved) this.drag.span = [this.time.t(this.drag.begin.x), this.time.t(at.x)].sort((a, b) => a - b);
    });
    const release = (event) => {
      touches.delete(event.pointerId);
      const drag = this.drag;
      this.drag = null;
      if (event.type === "pointercancel" || event.pointerType === "touch") leave();
      if (!drag || event.type === "pointercancel") return;
      if (drag.span) this.#zoom(drag.span);
      else if (!this.running && Math.abs(place(event).x - drag.begin.x) <= CLICK) this.#jump(drag.begin.x);
      this.overStale = true;
    };
    area.addEventListener("pointerup", release);
    area.addEventListener("pointercancel", release);
    area.addEventListener("pointerleave", () => this.drag?.span || leave());
    area.addEventListener("dblclick", () => this.#zoom(null));
    area.addEventListener("wheel", (event) => this.#wheel(event, place(event)), { passive: false });
  }

  #jump(x) {
    const { first, last } = this.samples;
    this.onTime?.(Math.min(Math.max(this.time.t(x), first), last));
  }

  /** Two fingers: the times under them stay under them. */
  #pinch([a, b]) {
    if (Math.abs(a.x - b.x) < 20) return;
    const scale = (a.t - b.t) / (a.x - b.x);
    if (!(scale > 0)) return;
    this.pointer = null;
    this.#zoom([a.t + scale * (this.time.left - a.x), a.t + scale * (this.time.right - a.x)]);
  }

  /** With Ctrl zooms, to the sides (or with Shift) moves; otherwise the panels scroll. */
  #wheel(event, at) {
    const { from, to } = this.window();
    const aside = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (event.ctrlKey && this.time) {
      const t = this.time.t(at.x);
      const factor = Math.exp(event.deltaY * 0.004);
      this.#zoom([t + factor * (from - t), t + factor * (to - t)]);
    } else if (this.zoomed && Math.abs(aside) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      const shift = (aside / (this.time.right - this.time.left)) * (to - from);
      const room = shift > 0 ? this.samples.last - to : this.samples.first - from;
      const step = Math.abs(shift) < Math.abs(room) ? shift : room;
      this.#zoom([from + step, to + step]);
    } else return;
    event.preventDefault();
  }

  // --- colours ---------------------------------------------------------------------------------------------------

  #watchTheme() {
    const change = () => (this.themeStale = true);
    new MutationObserver(change).observe(document.documentElement, { attributes: true });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", change);
    this.#readTheme();
  }

  /** The page's colours are read again at the next drawing. */
  set theme(name) {
    this.themeStale = true;
  }

  #readTheme() {
    const style = getComputedStyle(this.root);
    const property = (name, otherwise) => style.getPropertyValue(`--${name}`).trim() || otherwise;
    this.colours = { font: `11px ${style.fontFamily || "sans-serif"}` };
    for (const [name, otherwise] of Object.entries(PROPERTIES)) this.colours[name] = property(name, otherwise);
    this.colours.curves = COLOURS.map((colour, k) => property(`curve-${k + 1}`, colour));
    this.themeStale = false;
    this.#repaint();
  }

  #repaint() {
    for (const panel of this.panels.values()) panel.paint(this.colours);
    this.#redraw();
  }
}

/** A field of a CSV file; no spreadsheet takes it for a formula. */
function fieldOfCsv(text) {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
