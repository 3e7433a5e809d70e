/** The elements of a live page. */
import { element } from "../../view/web/element.js";

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 10];

/** Makes the page and returns its elements by name. */
export function layout({ title, subtitle }) {
  const button = (text, title, properties = {}) => element("button", { type: "button", textContent: text, title, ...properties });
  const made = {
    scene: element("div", { className: "scene" }),
    hint: element("p", { className: "hint" }),
    home: button("Home", "the first view"),
    options: element("div", { className: "menu" }),
    energy: element("span", { hidden: true, title: "energy that appeared or vanished by errors of the simulation" }),
    slow: element("span", { className: "warning", hidden: true }),
    scale: element("span", { hidden: true }),
    warning: element("span", { className: "warning", hidden: true }),
    problem: element("div", { className: "problem-box", hidden: true }),
    signals: element("div"),
    panel: element("aside"),
    play: button("Pause", "play or pause (space)", { className: "play primary" }),
    step: button("Step", "one step (right arrow)"),
    reset: button("Reset", "begin anew (Home)"),
    time: element("output", { textContent: "0.00 s" }),
    speed: element("select", { title: "speed (up and down arrows)" }),
    plots: button("Plots", "show or hide the plots"),
    link: button("Copy link", "a link with these settings"),
    theme: button("◐", "dark or light"),
  };
  made.scene.setAttribute("aria-label", "the moving mechanism");
  made.theme.setAttribute("aria-label", "dark or light");
  made.problem.setAttribute("role", "alert");
  made.speed.append(...SPEEDS.map((s) => element("option", { value: String(s), textContent: `${s}×`, selected: s === 1 })));
  const view = element("details", { className: "options" }, element("summary", { textContent: "View" }), made.options);
  const tools = element("div", { className: "tools" }, made.home, view);
  const notes = element("div", { className: "notes" }, made.slow, made.warning, made.energy, made.scale);
  made.main = element(
    "main",
    {},
    element("section", { className: "stage" }, made.scene, made.hint, tools, notes, made.problem),
    element("section", { className: "plots" }, made.signals),
    made.panel,
  );
  const names = element("div", { className: "names" }, element("h1", { textContent: title }), element("p", { textContent: subtitle }));
  const speed = element("label", {}, "speed", made.speed);
  const spacer = element("span", { className: "spacer" });
  document.body.className = "live";
  document.body.append(
    element("header", {}, names, made.link, made.theme),
    made.main,
    element("footer", {}, made.play, made.step, made.reset, made.time, spacer, speed, made.plots),
  );
  return made;
}

/** Check boxes of a menu: [[key, text, checked], ...]; changed(key, checked). */
export function fillMenu(menu, entries, changed) {
  for (const [key, text, checked] of entries) {
    const box = element("input", { type: "checkbox", checked });
    box.addEventListener("change", () => changed(key, box.checked));
    menu.append(element("label", {}, box, text));
  }
}
