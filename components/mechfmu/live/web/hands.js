/**
 * The user's hands: pulling a body with a spring, moving a point that follows from parameters (a target), pushing with
 * a button.
 */
import { Grip, gripTerms, layoutOf } from "./pull.js";

const NEAR = { part: 0.15, point: 0.04 }; // of the scene's size: a movable point so near to its part, or alone, is taken
const FINEST = 0.0021; // s: how long the force of a hand acts at most before it is computed anew
const PUSH_TIME = 0.1; // s
const PUSH_SPEED = 0.6; // sizes of the mechanism per second

export class Hands {
  constructor(view, simulation, { moved }) {
    Object.assign(this, { view, simulation, moved });
    const { scene } = simulation.data;
    this.dimension = scene.dimension;
    this.size = scene.size;
    this.parts = scene.members.map((parts) => {
      const member = simulation.byName.get(parts.name);
      return { member, layout: layoutOf(parts, scene.dimension), offset: simulation.offsetOf(member) };
    });
    this.movers = simulation.members.filter((member) => member.data.movable.length);
    this.held = null; // {grip, part, target}
    this.pushing = null; // {inputs, until}
    this.lastGrip = null;
    this.#listen(view.canvas);
  }

  /** The numbers of a member's drawing in the frame. */
  #numbers({ member, offset }) {
    return this.simulation.frame.subarray(offset, offset + member.drawing.numbers);
  }

  /** A grip for a picked point; null: nothing pulls there. */
  gripAt(pick) {
    const part = this.parts[pick.member];
    if (!part.member.data.velocities) return null;
    const grip = new Grip(part.member, gripTerms(pick, part.layout, this.#numbers(part), this.dimension));
    return grip.canBePulled(this.simulation.t) ? { grip, part } : null;
  }

  /** The point that the push buttons push: the one pulled last, or the end of the mechanism. Null: there is none. */
  pushed() {
    if (this.lastGrip) return this.lastGrip;
    for (const [index, { member, layout }] of this.parts.entries()) {
      const numbers = member.drawing ? this.#numbers(this.parts[index]) : [];
      for (const pick of ends(index, layout, numbers, this.dimension)) {
        const found = this.gripAt(pick);
        if (found) return (this.lastGrip = found);
      }
    }
    return null;
  }

  /** Pushes along an axis of the drawing, to one side or the other. */
  push(axis, sign) {
    const found = this.pushed();
    if (!found) return;
    const direction = Array.from({ length: this.dimension }, (_, k) => (k === axis ? sign : 0));
    const inputs = found.grip.push(direction, PUSH_SPEED * this.size, PUSH_TIME, this.simulation.t);
    if (inputs) this.pushing = { member: found.part.member, inputs, until: this.simulation.t + PUSH_TIME };
  }

  /** Into how many steps a communication step is divided, so that the force of a hand follows the motion. */
  get substeps() {
    return this.held?.grip || this.pushing ? Math.ceil(this.simulation.data.step / FINEST) : 1;
  }

  /** Sets the inputs of pulls and pushes for the next step. */
  beforeStep() {
    const { simulation } = this;
    if (!this.held && !this.pushing) return;
    const inputs = [];
    if (this.held?.grip) {
      const { grip, part, target } = this.held;
      const spring = grip.spring(target, this.#numbers(part), simulation.t, simulation.data.step / this.substeps);
      if (spring) inputs.push(...spring.map(([name, value]) => [part.member.name, name, value]));
    }
    if (this.pushing && simulation.t < this.pushing.until - 1e-9) {
      inputs.push(...this.pushing.inputs.map(([name, value]) => [this.pushing.member.name, name, value]));
    } else this.pushing = null;
    simulation.addInputs(summed(inputs));
  }

  /** Shows the spring of a pull. */
  show() {
    if (this.held?.grip) this.view.pull(this.held.grip.position(this.#numbers(this.held.part)), this.held.target);
    else this.view.pull(null);
  }

  /** Lets everything go; the inputs are as before. */
  release() {
    this.held = null;
    this.pushing = null;
    this.view.controlsEnabled = true;
    this.view.pull(null);
    if (this.simulation.extra.size) this.simulation.addInputs([]);
  }

  #listen(canvas) {
    canvas.addEventListener("pointerdown", (event) => this.#take(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.#follow(event), { capture: true });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, () => this.held && this.release(), { capture: true });
    }
  }

  #take(event) {
    if (event.button !== 0 || !event.isPrimary) return;
    const pick = this.view.pick(event.clientX, event.clientY);
    const found = this.#under(pick, event);
    if (!found) return;
    this.view.controlsEnabled = false;
    event.target.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.held = { target: pick?.point, ...found };
    if (found.grip) this.lastGrip = found;
  }

  #follow(event) {
    if (!this.held) {
      if (event.pointerType === "mouse" && !event.buttons) this.#hover(event);
      return;
    }
    event.stopPropagation();
    const point = this.view.dragPoint(event.clientX, event.clientY, this.held.target);
    if (this.held.movable) this.#movePoint(this.held, point);
    this.held.target = point;
  }

  #hover(event) {
    const pick = this.view.pick(event.clientX, event.clientY);
    this.view.highlight(pick);
    this.view.canvas.style.cursor = this.#under(pick, event) ? "grab" : "";
  }

  /** What is taken under the pointer: a movable point, which may be behind a body, or a body; or null. */
  #under(pick, event) {
    const own = pick && this.#movablePoint([this.parts[pick.member].member], pick.point, NEAR.part);
    if (own) return own;
    const point = this.movers.length ? this.view.dragPoint(event.clientX, event.clientY, [0, 0, 0]) : null;
    const behind = point && this.#movablePoint(this.movers, point, NEAR.point);
    return behind ? { ...behind, target: point } : pick && this.gripAt(pick);
  }

  /** The movable point of some members that is nearest to a point. */
  #movablePoint(members, point, near) {
    let best = null;
    for (const member of members) {
      for (const movable of member.data.movable) {
        const [x, y] = member.instance.get([movable.x, movable.y]);
        const distance = Math.hypot(point[0] - x, point[1] - y);
        if (distance < near * this.size && (!best || distance < best.distance)) best = { member, movable, distance };
      }
    }
    return best;
  }

  /** Shifts the start of a movable point by as much as the pointer has moved. */
  #movePoint({ member, movable, target }, point) {
    const shift = (name, by) => {
      const variable = member.variables.get(name);
      const now = member.settings.get(name) ?? this.simulation.startOf(member, name);
      this.moved(member, variable, now + by);
    };
    shift(movable.set_x, point[0] - target[0]);
    shift(movable.set_y, point[1] - target[1]);
  }
}

/** Points at which a mechanism is pushed, those at its ends first: as View.pick would return them. */
function ends(member, layout, numbers, dimension) {
  const at = (start) => Array.from(numbers.subarray(start, start + dimension));
  const solids = layout.solids.map((start, index) => ({ member, part: "solid", index, point: at(start) }));
  const lines = (along) => layout.lines.flatMap((start, index) => {
    const [count, part] = [layout.linePoints[index], "line"];
    const [segment, last] = along ? [count - 2, count - 1] : [0, 0];
    return count > 1 ? [{ member, part, index, segment, along, point: at(start + dimension * last) }] : [];
  });
  const plates = layout.outlines.map((start, index) => ({ member, part: "outline", index, point: at(start) }));
  return [...solids.reverse(), ...lines(1), ...lines(0), ...plates];
}

/** [[member, name, value], ...] with the values of equal names added. */
function summed(inputs) {
  const sums = new Map();
  for (const [member, name, value] of inputs) {
    const place = `${member}\0${name}`;
    sums.set(place, [member, name, value + (sums.get(place)?.[2] ?? 0)]);
  }
  return [...sums.values()];
}
