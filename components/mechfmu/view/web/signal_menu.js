/** The menu in which signals are chosen: groups that are filled when they are opened, and a search field. */
import { element } from "./element.js";

const MOST_FOUND = 80; // signals that a search lists

export class SignalMenu {
  /** choices: see Signals; isChosen(key); onToggle(key, chosen) */
  constructor(parent, choices, isChosen, onToggle) {
    Object.assign(this, { choices, isChosen, onToggle, boxes: new Map() });
    this.button = element("button", { type: "button", className: "signals-choose", textContent: "Signals" });
    this.button.setAttribute("aria-haspopup", "dialog");
    this.search = element("input", { type: "search", placeholder: "find a signal", className: "signals-search" });
    this.search.setAttribute("aria-label", "find a signal");
    this.list = element("div", { className: "signals-list" });
    this.box = element("div", { className: "signals-menu", hidden: true }, this.search, this.list);
    this.box.setAttribute("role", "dialog");
    this.box.setAttribute("aria-label", "choose signals");
    parent.append(this.button, this.box);
    this.button.addEventListener("click", () => this.open(this.box.hidden));
    this.search.addEventListener("input", () => this.#fill());
    this.box.addEventListener("keydown", (event) => {
      event.stopPropagation(); // the page's own keys
      if (event.key === "Escape") this.open(false);
      if (event.key === "Enter" && event.target === this.search) this.list.querySelector("input")?.click();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!this.box.hidden && !this.box.contains(event.target) && event.target !== this.button) this.open(false);
    });
  }

  open(shown) {
    this.box.hidden = !shown;
    this.button.setAttribute("aria-expanded", String(shown));
    if (!shown) return this.button.focus({ preventScroll: true });
    this.search.value = "";
    this.#fill();
    this.search.focus({ preventScroll: true });
  }

  /** The boxes follow what is chosen. */
  follow() {
    for (const [key, box] of this.boxes) box.checked = this.isChosen(key);
  }

  #fill() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.boxes.clear();
    if (!words.length) return this.list.replaceChildren(...this.#groups());
    const fits = ({ title, group, unit }) => {
      const text = `${group ?? ""} ${title} ${unit}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const found = this.choices.filter(fits);
    const note = found.length > MOST_FOUND ? `${found.length - MOST_FOUND} more` : found.length ? "" : "nothing of this name";
    this.list.replaceChildren(
      ...found.slice(0, MOST_FOUND).map((choice) => this.#row(choice)),
      element("p", { className: "signals-note", textContent: note, hidden: !note }),
    );
  }

  #groups() {
    const groups = new Map();
    for (const choice of this.choices) {
      const title = choice.group || "signals";
      groups.set(title, [...(groups.get(title) ?? []), choice]);
    }
    return [...groups].map(([title, choices]) => {
      const chosen = choices.filter(({ key }) => this.isChosen(key)).length;
      const count = element("span", { className: "signals-count" });
      count.textContent = chosen ? `${chosen} of ${choices.length}` : String(choices.length);
      const details = element("details", {}, element("summary", {}, element("span", { textContent: title }), count));
      const fill = () => {
        if (details.open && details.childElementCount === 1) details.append(...choices.map((c) => this.#row(c)));
      };
      details.addEventListener("toggle", fill);
      details.open = groups.size === 1 || chosen > 0;
      fill();
      return details;
    });
  }

  #row({ key, title, unit }) {
    const box = element("input", { type: "checkbox", checked: this.isChosen(key) });
    box.addEventListener("change", () => this.onToggle(key, box.checked));
    this.boxes.set(key, box);
    const [name, small] = [element("span", { textContent: title }), element("small", { textContent: unit })];
    return element("label", { className: "signals-choice", title }, box, name, small);
  }
}
