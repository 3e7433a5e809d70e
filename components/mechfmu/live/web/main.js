/** A live page: a mechanism, or a system of mechanisms, that runs in the page. */
import { Controls, chooseTheme } from "../../view/web/controls.js";
import { element, write } from "../../view/web/element.js";
import { button, complain, layout } from "../../view/web/page.js";
import { Signals } from "../../view/web/signals.js";
import { View } from "../../view/web/view.js";
import { Clock } from "./clock.js";
import { EnergyBalance } from "./energy.js";
import { Hands } from "./hands.js";
import { addressOf, settingsIn } from "./link.js";
import { Panel } from "./panel.js";
import { Simulation } from "./simulation.js";

const ENERGIES = ["energy.kinetic", "energy.potential", "energy.total"];
const FIRST_SIGNALS = 3; // of one unit, besides the energies
const SHOWN_EVERY = 4; // frames: texts change at a rate that can be read
const NEGLIGIBLE = 1e-4; // error of the energy balance, relative to the energy: below it is shown as balanced
const AHEAD = 3; // s of the motion for which the first view has room
const LOOKING = 150; // ms that the page takes at most to find them

/** The elements of a live page: those of every page, and its own. */
function elementsOf(data) {
  const own = {
    link: button("Copy link", "a link with these settings"),
    energy: element("span", { hidden: true, title: "energy that appeared or vanished by errors of the simulation" }),
    slow: element("span", { className: "warning", hidden: true }),
    panel: element("aside"),
  };
  const controls = [element("span", { className: "spacer" })];
  return { ...layout(data, { kind: "live", header: [own.link], notes: [own.slow, own.energy], column: [own.panel], controls }), ...own };
}

class LivePage {
  static async open() {
    const data = JSON.parse(document.getElementById("data").textContent);
    const parts = elementsOf(data);
    chooseTheme(null);
    try {
      return new LivePage(data, parts, await Simulation.load(data));
    } catch (error) {
      complain(parts, "This page cannot run here.", error);
      throw error;
    }
  }

  constructor(data, parts, simulation) {
    Object.assign(this, { data, parts, simulation });
    this.frames = 0;
    const { settings, others } = settingsIn(location.hash, simulation);
    const refused = this.#begin(settings);
    const ahead = this.#lookAhead();
    this.view = new View(parts.scene, data.scene, { widens: true, quality: others.get("quality") });
    for (const frame of ahead) this.view.preview(frame);
    this.hands = new Hands(this.view, simulation, { moved: (...change) => this.#warn(this.#change(...change)) });
    this.balance = new EnergyBalance(simulation);
    this.signals = new Signals(parts.signals, signalChoices(simulation));
    this.signals.onChoice = () => this.#chooseSignals();
    this.signals.choose(firstSignals(simulation));
    this.#chooseSignals();
    this.#fillPanel();
    this.#restart();
    if (refused.length) complain(parts, "Settings of this link that are not possible were left out.", refused.join("\n"));
    this.clock = new Clock(data.step, {
      step: () => this.step(),
      shown: () => this.#show(),
      failed: (error) => this.#fail(error),
    });
    this.controls = new Controls(parts, this, others);
    parts.link.addEventListener("click", () => this.#copyLink());
    this.play(others.get("play") !== "0");
  }

  /** Begins with the settings of the address; returns why some of them are not possible, which are left out. */
  #begin(settings) {
    const put = ({ member, variable, value }) => member.settings.set(variable.name, value);
    const possible = settings.filter(({ value }) => Number.isFinite(value));
    const refused = settings.filter((setting) => !possible.includes(setting)).map(({ variable }) => `${variable.name}: must be a number`);
    possible.forEach(put);
    try {
      this.simulation.reset();
      return refused;
    } catch {
      for (const member of this.simulation.members) member.settings.clear();
    }
    for (const setting of possible) {
      put(setting);
      try {
        this.simulation.reset();
      } catch (error) {
        setting.member.settings.delete(setting.variable.name);
        refused.push(error.message);
      }
    }
    this.simulation.reset();
    return refused;
  }

  /** The first seconds of the motion, as many as are found quickly: frames for the first view. */
  #lookAhead() {
    const { simulation } = this;
    const until = performance.now() + LOOKING;
    const frames = [];
    try {
      while (simulation.t < AHEAD && performance.now() < until) {
        simulation.step(this.data.step);
        if (simulation.t > frames.length * 0.05) frames.push(simulation.draw().slice());
      }
    } catch {
      // it fails later, before the user's eyes
    }
    simulation.reset();
    simulation.messages();
    return frames;
  }

  /** From the start again, with the present settings; returns why they are not possible, or "". */
  reset() {
    try {
      this.hands.release();
      this.simulation.reset();
    } catch (error) {
      this.#fail(error);
      return error.message;
    }
    this.#restart();
    return "";
  }

  #restart() {
    const frame = this.simulation.draw();
    this.parts.problem.hidden = true;
    this.parts.warning.hidden = true;
    this.view.begin();
    this.view.keepGhost(frame);
    this.view.show(frame);
    this.signals.clear();
    this.balance.begin();
    this.#sample();
    this.failed = false;
    this.frames = 0;
  }

  play(playing) {
    if (playing && this.failed && this.reset()) return;
    this.clock.play(playing);
    this.parts.play.textContent = playing ? "Pause" : "Play";
  }

  /** One communication step. */
  step() {
    const parts = this.hands.substeps;
    for (let k = 0; k < parts; k++) {
      this.hands.beforeStep();
      this.simulation.step(this.data.step / parts);
      this.simulation.draw();
    }
    this.view.trace(this.simulation.frame);
    this.#sample();
  }

  #sample() {
    this.signals.append(this.simulation.t, this.readSignals());
  }

  /** After each frame of the browser. */
  #show() {
    const { parts, simulation } = this;
    this.view.show(simulation.frame);
    this.hands.show();
    this.signals.cursor(simulation.t);
    this.signals.draw(this.view.quality?.level.plots);
    if (this.frames++ % SHOWN_EVERY && parts.slow.hidden !== this.clock.slow) return;
    write(parts.time, `${simulation.t.toFixed(2)} s`);
    parts.slow.hidden = !this.clock.slow;
    const share = (this.clock.share * this.clock.speed).toPrecision(2);
    write(parts.slow, `this computer is too slow: the clock runs at ${share}×`);
    write(parts.scale, this.view.arrowScale());
    parts.scale.hidden = !parts.scale.textContent;
    this.#showEnergy();
    this.#showMessages();
  }

  #showEnergy() {
    this.parts.energy.hidden = !this.balance.exists;
    if (!this.balance.exists) return;
    const { error, size } = this.balance.now();
    const relative = Math.abs(error) / Math.max(size, 1e-12);
    const text = relative < NEGLIGIBLE ? "energy balanced" : "energy error";
    write(this.parts.energy, `${text}: ${error.toExponential(1)} J of ${size.toPrecision(3)} J`);
  }

  #showMessages() {
    const texts = this.simulation.messages().map(({ member, text }) => (member ? `${member}: ${text}` : text));
    if (texts.length) this.#warn(texts.at(-1));
  }

  #warn(text) {
    this.parts.warning.textContent = text;
    this.parts.warning.hidden = !text;
  }

  /** A step was refused. */
  #fail(error) {
    this.failed = true;
    this.play(false);
    complain(this.parts, `Stopped at ${this.simulation.t.toFixed(3)} s.`, error);
  }

  /** A parameter or an input changes; returns why it must not, or "". */
  #change(member, variable, value) {
    if (variable.startOnly) return this.#changeStart(member, variable, value);
    const refused = this.simulation.change(member, variable, value);
    if (!refused) {
      this.balance.begin();
      if (!this.clock.playing) this.view.show(this.simulation.draw());
    }
    return refused;
  }

  /** A start value acts at the start, so the simulation begins anew. */
  #changeStart(member, variable, value) {
    const before = member.settings.get(variable.name);
    member.settings.set(variable.name, value);
    if (this.simulation.t > 0 && member.data.movable.length) return this.simulation.change(member, variable, value);
    const refused = this.reset();
    if (refused) {
      if (before === undefined) member.settings.delete(variable.name);
      else member.settings.set(variable.name, before);
      this.reset();
    }
    return refused;
  }

  #chooseSignals() {
    const names = this.signals.chosen.map((key) => key.split("\0"));
    this.readSignals = this.simulation.reader(names);
  }

  #fillPanel() {
    const { panel } = this.parts;
    const axes = ["x", "y", "z"].slice(0, this.data.scene.dimension);
    if (this.hands.pushed()) {
      this.parts.hint.textContent = "Drag a body to pull it.";
      const arrows = [["←", "→"], this.data.scene.dimension === 2 ? ["↓", "↑"] : ["↙", "↗"], ["↓", "↑"]];
      const buttons = axes.flatMap((axis, k) =>
        [-1, 1].map((sign, side) => {
          const made = element("button", { type: "button", textContent: arrows[k][side], title: `push along ${sign < 0 ? "−" : "+"}${axis}` });
          made.addEventListener("click", () => this.hands.push(k, sign));
          return made;
        }),
      );
      panel.append(element("div", { className: "pushes" }, element("span", { textContent: "Push the point pulled last" }), ...buttons));
    }
    if (this.hands.movers.length) this.parts.hint.textContent += " Drag the target or an obstacle to move it.";
    if (this.data.exchange.connections.length) {
      const box = element("input", { type: "checkbox", checked: true, className: "connected" });
      box.addEventListener("change", () => (this.simulation.connected = box.checked));
      panel.append(element("label", { className: "wiring" }, box, "controllers connected"));
    }
    this.panel = new Panel(panel, this.simulation, (...change) => this.#change(...change));
  }

  oneStep() {
    this.play(false);
    if (this.failed) return;
    try {
      this.step();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Puts the settings into the address of the page, and the address into the clipboard. */
  async #copyLink() {
    const address = addressOf(this.simulation, this.controls.settings());
    history.replaceState(null, "", address || location.pathname.split("/").pop());
    try {
      await navigator.clipboard.writeText(location.href);
      this.parts.link.textContent = "Copied";
    } catch {
      this.parts.link.textContent = "In the address"; // pages from the disk may not write to the clipboard
    }
    setTimeout(() => (this.parts.link.textContent = "Copy link"), 1500);
  }
}

/** All variables that can be plotted. */
function signalChoices(simulation) {
  return simulation.members.flatMap((member) =>
    [...member.variables.values()]
      .filter(({ role }) => role !== "parameter")
      .map(({ name, unit, factor }) => ({
        key: `${member.name}\0${name}`,
        title: member.name ? `${member.name}.${name}` : name,
        unit,
        factor,
        group: member.name || name.split(/[.[]/)[0],
      })),
  );
}

function firstSignals(simulation) {
  const [member] = [...simulation.members].sort((a, b) => !a.drawing - !b.drawing);
  const names = [...member.variables.values()].filter(({ role }) => role === "state" || role === "output");
  const others = names.filter(({ name, unit }) => !name.startsWith("energy.") && unit);
  const moving = others.filter(({ unit }) => unit === others[0].unit).slice(0, FIRST_SIGNALS);
  const energies = ENERGIES.filter((name) => member.variables.has(name));
  return [...moving.map(({ name }) => name), ...energies].map((name) => `${member.name}\0${name}`);
}

LivePage.open().then((page) => (globalThis.livePage = page));
