/** The page of a recording: the frames and signals of a simulation, as view/recording.py keeps them. */
import { Controls, chooseTheme } from "./controls.js";
import { element, write } from "./element.js";
import { FrameClock } from "./frame_clock.js";
import { complain, layout } from "./page.js";
import { bytesOf, recorded } from "./recorded.js";
import { Signals } from "./signals.js";
import { View } from "./view.js";

const TRACED = 500; // frames of the trail before a time that was chosen
const POSITIONS = 1000; // of the slider

class Recording {
  static async open() {
    const data = JSON.parse(document.getElementById("data").textContent);
    const slider = element("input", { type: "range", className: "slider", min: "0", max: String(POSITIONS), step: "any", value: "0" });
    slider.setAttribute("aria-label", "time");
    const parts = { ...layout(data, { kind: "recording", controls: [slider] }), slider };
    chooseTheme(null);
    try {
      return new Recording(data, parts, await recorded(data.frames), await recorded(data.values));
    } catch (error) {
      complain(parts, "This page cannot run here.", error);
      throw error;
    }
  }

  constructor(data, parts, frames, values) {
    Object.assign(this, { parts, frames });
    this.times = new Float64Array(bytesOf(data.times).buffer);
    this.index = -1;
    this.repeat = true;
    const settings = new Map(new URLSearchParams(location.hash.slice(1)));
    this.view = new View(parts.scene, data.scene, { largest: data.largest, quality: settings.get("quality") });
    this.view.keepGhost(frames.row(0));
    this.#loadSignals(data, values);
    this.clock = new FrameClock({ advance: (wall) => this.#advance(wall), shown: () => this.#show() });
    parts.reset.textContent = "Start";
    parts.reset.title = "to the start (Home)";
    this.#slide();
    this.seek(this.first);
    this.controls = new Controls(parts, this, settings, {
      entries: [["repeat", true, (on) => (this.repeat = on)]],
      options: { follow: data.travels },
      keys: { ArrowLeft: () => this.oneStep(-1), End: () => this.seek(this.last) },
    });
    if (!settings.has("speed")) this.controls.speed(data.speed);
    if (Number.isFinite(Number(settings.get("t") ?? NaN))) this.seek(Number(settings.get("t")));
    this.play(settings.get("play") === "1");
  }

  get first() {
    return this.times[0];
  }

  get last() {
    return this.times[this.times.length - 1];
  }

  /** Signals are kept as 32-bit floats around a middle. */
  #loadSignals(data, values) {
    const choices = data.signals.map(([name, unit]) => ({ key: name, title: name, unit, factor: 1, group: name.split(/[.[]/)[0] }));
    const columns = data.signals.map(([name, , middle], k) => [name, Float64Array.from(values.columns[k], (x) => middle + x)]);
    this.signals = new Signals(this.parts.signals, choices, { onTime: (t) => this.seek(t) });
    this.signals.load(this.times, new Map(columns));
    this.signals.choose(data.chosen);
  }

  play(playing) {
    if (playing && this.t >= this.last) this.seek(this.first);
    this.clock.play(playing);
    this.parts.play.textContent = playing ? "Pause" : "Play";
  }

  reset() {
    this.seek(this.first);
  }

  oneStep(by = 1) {
    this.play(false);
    this.seek(this.times[Math.min(Math.max(this.index + by, 0), this.times.length - 1)]);
  }

  /** Shows a time: the last frame that is not after it. */
  seek(t) {
    this.t = Math.min(Math.max(t, this.first), this.last);
    const { index, times } = this;
    let now = this.signals.samples.indexAt(this.t);
    if (now + 1 < times.length && times[now + 1] - this.t < 1e-9) now += 1;
    if (now === index) return;
    const onwards = index >= 0 && now > index && now - index < TRACED;
    if (!onwards) this.view.begin();
    for (let i = onwards ? index + 1 : Math.max(0, now - TRACED); i < now; i++) this.view.trace(this.frames.row(i));
    this.view.show(this.frames.row(now));
    this.index = now;
  }

  #advance(wall) {
    const t = this.t + wall * this.clock.speed;
    if (t < this.last) this.seek(t);
    else if (this.repeat && this.t >= this.last) this.seek(this.first);
    else this.seek(this.last);
    if (this.t >= this.last && !this.repeat) this.play(false);
  }

  /** After each frame of the browser. */
  #show() {
    const { parts, t } = this;
    this.signals.cursor(t);
    this.signals.draw(this.view.quality?.level.plots);
    if (!this.sliding) parts.slider.value = String((POSITIONS * (t - this.first)) / (this.last - this.first || 1));
    write(parts.time, `${t.toFixed(2)} s`);
    write(parts.scale, this.view.arrowScale());
    parts.scale.hidden = !parts.scale.textContent;
  }

  /** The mechanism follows the slider; while it is held nothing plays. */
  #slide() {
    const { slider } = this.parts;
    slider.addEventListener("input", () => this.seek(this.first + (Number(slider.value) / POSITIONS) * (this.last - this.first)));
    slider.addEventListener("pointerdown", () => {
      this.sliding = true;
      this.resume = this.clock.playing;
      this.clock.play(false);
    });
    const release = () => {
      if (this.sliding && this.resume) this.play(true);
      this.sliding = false;
      slider.blur(); // keys are those of the page again
    };
    for (const end of ["pointerup", "pointercancel"]) slider.addEventListener(end, release);
  }
}

Recording.open().then((page) => (globalThis.recording = page));
