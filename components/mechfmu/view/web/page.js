/** The elements that the pages with a 3-D view have in common: live pages and recordings. */
import { element } from "./element.js";

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 10];

export function button(text, title, properties = {}) {
  return element("button", { type: "button", textContent: text, title, ...properties });
}

/**
 * Makes the page and returns its elements by name. Of one kind of page: its CSS class `kind`, what `header` has beside
 * the names, notes on the view, a column of its own, and what is in the middle of the controls.
 */
export function layout({ title, subtitle }, { kind, header = [], notes = [], column = [], controls = [] }) {
  const made = {
    scene: element("div", { className: "scene" }),
    hint: element("p", { className: "hint" }),
    home: button("Home", "the first view"),
    options: element("div", { className: "menu" }),
    warning: element("span", { className: "warning", hidden: true }),
    scale: element("span", { hidden: true }),
    problem: element("div", { className: "problem-box", hidden: true }),
    signals: element("div"),
    play: button("Pause", "play or pause (space)", { className: "play primary" }),
    step: button("Step", "one step (right arrow)"),
    reset: button("Reset", "begin anew (Home)"),
    time: element("output", { textContent: "0.00 s" }),
    speed: element("select", { title: "speed (up and down arrows)" }),
    plots: button("Plots", "show or hide the plots"),
    theme: button("◐", "dark or light"),
  };
  made.scene.setAttribute("aria-label", "the moving mechanism");
  made.theme.setAttribute("aria-label", "dark or light");
  made.problem.setAttribute("role", "alert");
  made.speed.append(...SPEEDS.map((s) => element("option", { value: String(s), textContent: `${s}×`, selected: s === 1 })));
  const view = element("details", { className: "options" }, element("summary", { textContent: "View" }), made.options);
  const tools = element("div", { className: "tools" }, made.home, view);
  made.main = element(
    "main",
    {},
    element("section", { className: "stage" }, made.scene, made.hint, tools, element("div", { className: "notes" }, made.warning, ...notes, made.scale), made.problem),
    element("section", { className: "plots" }, made.signals),
    ...column,
  );
  const names = element("div", { className: "names" }, element("h1", { textContent: title }), element("p", { textContent: subtitle }));
  const speed = element("label", {}, "speed", made.speed);
  document.body.className = `page ${kind}`;
  document.body.append(
    element("header", {}, names, ...header, made.theme),
    made.main,
    element("footer", {}, made.play, made.step, made.reset, made.time, ...controls, speed, made.plots),
  );
  return made;
}

/** Says what is wrong, over the view. */
export function complain({ problem }, what, error) {
  problem.replaceChildren(element("b", { textContent: what }), `\n${error.message ?? error}`);
  problem.hidden = false;
}
