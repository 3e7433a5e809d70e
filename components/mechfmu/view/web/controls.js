/** What the controls of a page do, live or a recording: buttons, the View menu, speed, theme, keyboard, address. */
import { element } from "./element.js";
import { SPEEDS } from "./page.js";
import { CHOICES } from "./quality.js";

const OPTIONS = [
  ["forces", "forces, moments", true],
  ["reactions", "joint reactions", false],
  ["trails", "trails", true],
  ["ghost", "start pose", false],
  ["follow", "camera follows", false],
  ["frames", "frames of bodies", false],
  ["axes", "axes", false],
  ["shadows", "shadows", true],
];

export class Controls {
  /**
   * parts: of page.js; page: {view, signals, clock, play(playing), reset(), oneStep()}; settings: the words of the
   * address; more: other entries of the menu, options that begin otherwise, other keys
   */
  constructor(parts, page, settings, { entries = [], options = {}, keys = {} } = {}) {
    Object.assign(this, { parts, page });
    const { view, clock } = page;
    parts.play.addEventListener("click", () => page.play(!clock.playing));
    parts.reset.addEventListener("click", () => page.reset());
    parts.step.addEventListener("click", () => page.oneStep());
    parts.home.addEventListener("click", () => view.home());
    parts.speed.addEventListener("change", () => this.speed(Number(parts.speed.value)));
    parts.plots.addEventListener("click", () => parts.main.classList.toggle("no-signals"));
    parts.theme.addEventListener("click", () => this.theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
    const chosen = OPTIONS.map(([key, text, on]) => [key, text, options[key] ?? on]);
    fillMenu(parts.options, chosen, (key, on) => view.set({ [key]: on }));
    for (const [text, on, changed] of entries) fillMenu(parts.options, [["", text, on]], (_, now) => changed(now));
    view.set(Object.fromEntries(chosen.map(([key, , on]) => [key, on])));
    this.#chooseQuality();
    this.#begin(settings);
    this.#listen(keys);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme(null));
  }

  /** The quality of the picture; with "automatic" what of the finest picture is drawn at present. */
  #chooseQuality() {
    const { quality } = this.page.view;
    if (!quality) return;
    const options = CHOICES.map((value) => element("option", { value, textContent: value, selected: value === quality.wanted }));
    const list = element("select", { title: "how fine the picture is; automatic: as far as it moves smoothly" }, ...options);
    list.addEventListener("change", () => this.page.view.set({ quality: list.value }));
    const menu = this.parts.options;
    menu.append(element("label", { className: "quality" }, "quality", list));
    menu.parentElement.addEventListener("toggle", () => {
      const { level, finest, wanted } = quality;
      const share = level.ratio < finest.ratio ? `${Math.round((100 * level.ratio) / finest.ratio)} %` : "no shadows";
      options[0].textContent = wanted === CHOICES[0] && level !== finest ? `${CHOICES[0]} (${share})` : CHOICES[0];
    });
  }

  #begin(settings) {
    this.theme(settings.get("theme"));
    if (SPEEDS.includes(Number(settings.get("speed")))) this.speed(Number(settings.get("speed")));
    const camera = (settings.get("camera") ?? "").split(",").map(Number);
    if (camera.length > 1 && camera.every(Number.isFinite)) this.page.view.cameraState = camera;
  }

  #listen(more) {
    const { page } = this;
    const keys = {
      " ": () => page.play(!page.clock.playing),
      ArrowRight: () => page.oneStep(),
      ArrowUp: () => this.#faster(1),
      ArrowDown: () => this.#faster(-1),
      Home: () => page.reset(),
      ...more,
    };
    document.addEventListener("keydown", (event) => {
      if (event.target.closest("input, select, textarea, summary") || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === " " && event.target.closest("button")) return; // presses the button
      if (!(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  #faster(by) {
    const now = this.page.clock.speed;
    this.speed((by > 0 ? SPEEDS.find((s) => s > now) : SPEEDS.findLast((s) => s < now)) ?? now);
  }

  speed(value) {
    const { clock } = this.page;
    const list = this.parts.speed;
    if (![...list.options].some((option) => Number(option.value) === value)) {
      list.append(element("option", { value: String(value), textContent: `${value}×` }));
    }
    clock.speed = value;
    list.value = String(value);
    clock.play(clock.playing);
  }

  theme(wanted) {
    this.wanted = wanted === "dark" || wanted === "light" ? wanted : (this.wanted ?? null);
    this.page.view.set({ theme: chooseTheme(this.wanted) });
    this.page.signals.draw();
  }

  /** The words of an address that shows the same. */
  settings() {
    const { view, clock } = this.page;
    const words = {};
    if (clock.speed !== 1) words.speed = clock.speed;
    if (this.wanted) words.theme = this.wanted;
    if (view.quality && view.quality.wanted !== CHOICES[0]) words.quality = view.quality.wanted;
    if (view.moved) words.camera = view.cameraState.map((c) => Number(c.toPrecision(5))).join(",");
    return words;
  }
}

/** Check boxes of a menu: [[key, text, checked], ...]; changed(key, checked). */
function fillMenu(menu, entries, changed) {
  for (const [key, text, checked] of entries) {
    const box = element("input", { type: "checkbox", checked });
    box.addEventListener("change", () => changed(key, box.checked));
    menu.append(element("label", {}, box, text));
  }
}

/** Sets the theme of the page, that of the system by default; returns it. */
export function chooseTheme(wanted) {
  const theme = wanted ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  return theme;
}
