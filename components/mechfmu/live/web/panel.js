/** The panel with sliders: groups of parameters and inputs that are filled when they are opened, and a search field. */
import { element } from "../../view/web/element.js";
import { violation } from "./variables.js";

const STEPS = 1000; // of a slider
const DIGITS = 5; // of a number beside it
const RANKS = new Map([["General", 0], ["Inputs", 1], ["Start", 3], ["Solver", 4]]); // the others are between them
const FEW = 12; // variables of a group that is open from the start

/** Groups of variables, in the order of the panel: [{title, rows: [{member, variable}]}]. */
export function groupsOf(simulation) {
  const groups = new Map();
  const add = (title, row) => groups.set(title, [...(groups.get(title) ?? []), row]);
  for (const member of simulation.members) {
    const prefix = member.name ? `${member.name}: ` : "";
    for (const variable of member.variables.values()) {
      const row = { member, variable };
      const fed = simulation.fed.has(`${member.name}\0${variable.name}`);
      if (variable.role === "input" && !fed) add(`${prefix}Inputs`, row);
      else if (variable.role !== "parameter") continue;
      else if (variable.name.startsWith("solver.")) add(`${prefix}Solver`, row);
      else if (variable.startOnly) add(`${prefix}Start`, row);
      else if (!variable.name.includes(".")) add(`${prefix}General`, row);
      else add(prefix + variable.name.slice(0, variable.name.indexOf(".")), row);
    }
  }
  return [...groups].map(([title, rows]) => ({ title, rows })).sort((a, b) => rank(a.title) - rank(b.title));
}

function rank(title) {
  return RANKS.get(title.slice(title.lastIndexOf(" ") + 1)) ?? 2;
}

export class Panel {
  /** onChange(member, variable, value) returns why the value is not allowed, or "". */
  constructor(parent, simulation, onChange) {
    this.onChange = onChange;
    this.rows = new Map();
    this.simulation = simulation;
    const search = element("input", { type: "search", placeholder: "find a parameter or input", className: "search" });
    search.setAttribute("aria-label", "find a parameter or input");
    this.groups = groupsOf(simulation);
    this.list = element("div", { className: "groups" });
    this.found = element("div", { className: "found", hidden: true });
    parent.append(search, this.found, this.list);
    this.groups.forEach(({ title, rows }, k) => this.list.append(this.#group(title, rows, k === 0 && rank(title) < 2 && rows.length <= FEW)));
    search.addEventListener("input", () => this.#search(search.value.trim().toLowerCase()));
  }

  #group(title, rows, open) {
    const details = element("details", { className: "group" });
    const count = element("span", { className: "count", textContent: String(rows.length) });
    details.append(element("summary", {}, element("span", { textContent: title }), count));
    const fill = () => {
      if (details.childElementCount === 1) details.append(...rows.map((row) => this.#row(row)));
    };
    details.addEventListener("toggle", () => details.open && fill());
    if (open) {
      fill();
      details.open = true;
    }
    return details;
  }

  #search(text) {
    this.list.hidden = text !== "";
    this.found.hidden = text === "";
    const rows = this.groups.flatMap((group) => group.rows);
    const fitting = text ? rows.filter(({ variable }) => variable.name.toLowerCase().includes(text)).slice(0, 30) : [];
    this.found.replaceChildren(...fitting.map((row) => this.#row(row)));
    if (text && !fitting.length) this.found.append(element("p", { className: "empty", textContent: "nothing of this name" }));
  }

  #row({ member, variable }) {
    const { name, unit, factor, low, high } = variable;
    const label = element("span", { className: "name", textContent: name, title: variable.description });
    const problem = element("span", { className: "problem" });
    const row = element("div", { className: "row" }, label);
    const settle = (value) => {
      const refused = violation(variable, value) || this.onChange(member, variable, value);
      problem.textContent = refused;
      row.classList.toggle("refused", refused !== "");
      row.classList.toggle("changed", !refused && value !== this.simulation.startOf(member, name));
    };
    const show = choice(variable, settle) ?? slider(variable, settle);
    row.append(...show.elements, problem);
    show.to(member.settings.get(name) ?? this.simulation.startOf(member, name));
    label.addEventListener("dblclick", () => {
      const start = this.simulation.startOf(member, name);
      show.to(start);
      settle(start);
    });
    this.rows.set(`${member.name}\0${name}`, show);
    return row;
  }
}

/** A switch for a Boolean, a list for an Integer whose values have names; null for other variables. */
function choice(variable, settle) {
  if (variable.type === "Boolean") {
    const box = element("input", { type: "checkbox", className: "switch" });
    box.setAttribute("aria-label", variable.name);
    box.addEventListener("change", () => settle(Number(box.checked)));
    return { elements: [box], to: (value) => (box.checked = value > 0.5) };
  }
  if (!variable.items.length) return null;
  const options = variable.items.map((item, k) => element("option", { value: String(k + 1), textContent: item }));
  const list = element("select", {}, ...options);
  list.setAttribute("aria-label", variable.name);
  list.addEventListener("change", () => settle(Number(list.value)));
  return { elements: [list], to: (value) => (list.value = String(value)) };
}

function slider({ name, unit, factor, low, high, type }, settle) {
  const range = element("input", { type: "range", min: "0", max: String(STEPS), step: "any" });
  const number = element("input", { type: "text", inputMode: "decimal", className: "number" });
  range.setAttribute("aria-label", name);
  number.setAttribute("aria-label", `${name} [${unit || "1"}]`);
  const whole = type === "Integer";
  const show = (value) => {
    number.value = String(Number((value * factor).toPrecision(DIGITS)));
    range.value = String((STEPS * (value - low)) / (high - low || 1));
  };
  range.addEventListener("input", () => {
    const value = low + (Number(range.value) / STEPS) * (high - low);
    const rounded = whole ? Math.round(value) : Number((value * factor).toPrecision(3)) / factor;
    number.value = String(Number((rounded * factor).toPrecision(DIGITS)));
    settle(Math.min(Math.max(rounded, low), high));
  });
  number.addEventListener("change", () => {
    const value = number.value.trim() === "" ? NaN : Number(number.value.replace(",", ".")) / factor;
    if (Number.isFinite(value)) range.value = String((STEPS * (value - low)) / (high - low || 1));
    settle(value);
  });
  const field = element("span", { className: "field" }, number, element("span", { className: "unit", textContent: unit }));
  return { elements: [range, field], to: show };
}
