/**
 * The running members of a page: instances of WebAssembly units, their connections, and the numbers of the drawing.
 *
 * One step does what the master of `mechfmu cosim` does with fixed steps: every member steps, then the connected
 * outputs are read and passed on, stage by stage. Inputs are held over a step.
 */
import { loadUnit } from "../../view/web/fmu.js";
import { unpack } from "../../view/web/unpack.js";
import { variablesOf } from "./variables.js";

const DRAW = "mechfmu_draw";
const SET_PARAMETER = "mechfmu_set_parameter";

/** One mechanism: its instance, its variables by name, its settings (parameters and inputs that the user changed). */
export class Member {
  static async load(data) {
    const variables = variablesOf(data.variables);
    const description = { modelIdentifier: data.identifier, guid: data.guid, variables };
    const unit = await loadUnit(await unpack(data.library), description);
    return new Member(data, variables, unit);
  }

  constructor(data, variables, unit) {
    this.data = data;
    this.name = data.name;
    this.unit = unit;
    this.variables = new Map(variables.map((variable) => [variable.name, variable]));
    this.settings = new Map();
    this.instance = unit.instantiate({ name: data.name || data.identifier });
    this.fresh = true;
    this.drawing = data.drawing;
    if (this.drawing) this.drawn = this.instance.reader(this.drawing.reads);
  }

  /** Everything begins anew with the present settings. values: others, set before these. */
  enterInitialization(values, tolerance) {
    if (!this.fresh) this.instance.reset();
    this.fresh = false;
    this.instance.enterInitialization({ start: 0, tolerance, values: { ...values, ...Object.fromEntries(this.settings) } });
  }

  /** Writes the numbers of the drawing to frame, from `offset` on; returns how many there are. */
  draw(frame, offset) {
    if (!this.drawing) return 0;
    const { numbers, work } = this.drawing;
    frame.set(this.instance.call(DRAW, this.drawn(), numbers, work), offset);
    return numbers;
  }

  /** Changes a parameter while the simulation runs; returns why it is not allowed, or "". */
  changeParameter(variable, value) {
    const { exports } = this.unit;
    const text = this.instance.callRaw(SET_PARAMETER, variable.index, value);
    return text ? this.instance.text(text) : "";
  }
}

export class Simulation {
  static async load(data) {
    const members = [];
    for (const member of data.members) members.push(await Member.load(member));
    return new Simulation(data, members);
  }

  constructor(data, members) {
    this.data = data;
    this.members = members;
    this.byName = new Map(members.map((member) => [member.name, member]));
    this.extra = new Map(); // inputs of pulls and pushes, added to settings and connections: "member\0name" -> value
    this.connected = true; // whether connected outputs reach the inputs that they feed
    this.t = 0;
    const { sources, connections, running, initial } = data.exchange;
    this.bus = new Float64Array(sources.length);
    this.fed = new Set(connections.map(([, member, name]) => key(member, name)));
    this.running = this.#plan(running, sources, connections);
    this.initial = this.#plan(initial, sources, connections);
    this.frame = new Float64Array(data.members.reduce((sum, m) => sum + (m.drawing ? m.drawing.numbers : 0), 0));
  }

  /** Reading and passing on of every stage. */
  #plan(stages, sources, connections) {
    return stages.map((stage) => {
      const reads = stage.map((k) => {
        const [member, name] = sources[k];
        return { k, read: this.byName.get(member).instance.reader([name]) };
      });
      const writes = connections
        .filter(([k]) => stage.includes(k))
        .map(([k, member, name, factor, offset]) => ({ k, member, name, factor, offset }));
      return { reads, writes };
    });
  }

  #exchange(plan) {
    for (const { reads, writes } of plan) {
      for (const { k, read } of reads) this.bus[k] = read()[0];
      for (const { k, member, name, factor, offset } of writes) {
        const value = this.connected ? factor * this.bus[k] + offset : 0;
        this.byName.get(member).instance.set({ [name]: value + (this.extra.get(key(member, name)) ?? 0) });
      }
    }
  }

  /** Begins anew at t = 0 with the settings of all members. Throws what a member has against them. */
  reset() {
    this.extra.clear();
    for (const member of this.members) {
      const own = this.data.values.filter(([name]) => name === member.name).map(([, name, value]) => [name, value]);
      member.enterInitialization(Object.fromEntries(own), this.data.tolerance);
    }
    this.#exchange(this.initial);
    for (const member of this.members) member.instance.exitInitialization();
    this.#exchange(this.running);
    this.t = 0;
  }

  /** One communication step of h seconds. */
  step(h) {
    for (const member of this.members) member.instance.doStep(h);
    this.t += h;
    this.#exchange(this.running);
  }

  /** Adds forces to inputs from now on: [[member, name, value], ...]; those that are not named are taken off. */
  addInputs(values) {
    const before = this.extra;
    this.extra = new Map(values.map(([member, name, value]) => [key(member, name), value]));
    for (const place of new Set([...before.keys(), ...this.extra.keys()])) {
      if (this.fed.has(place)) continue; // the exchange below adds them
      const [member, name] = place.split("\0");
      const owner = this.byName.get(member);
      const own = owner.settings.get(name) ?? this.startOf(owner, name);
      owner.instance.set({ [name]: own + (this.extra.get(place) ?? 0) });
    }
    if (this.fed.size) this.#exchange(this.running);
  }

  /** The value with which a variable begins when the user has not changed it. */
  startOf(member, name) {
    const set = this.data.values.find(([owner, variable]) => owner === member.name && variable === name);
    return set ? set[2] : member.variables.get(name).start;
  }

  /** Sets a parameter or an input now and for the next start; returns why it is not allowed, or "". */
  change(member, variable, value) {
    const place = key(member.name, variable.name);
    if (variable.role === "input") {
      member.settings.set(variable.name, value);
      if (!this.fed.has(place)) member.instance.set({ [variable.name]: value + (this.extra.get(place) ?? 0) });
      return "";
    }
    const refused = member.changeParameter(variable, value);
    if (!refused) member.settings.set(variable.name, value);
    return refused;
  }

  /** The numbers of the drawing now. */
  draw() {
    let offset = 0;
    for (const member of this.members) offset += member.draw(this.frame, offset);
    return this.frame;
  }

  /** Where the numbers of a member's drawing begin in the frame. */
  offsetOf(member) {
    const before = this.members.slice(0, this.members.indexOf(member));
    return before.reduce((sum, m) => sum + (m.drawing ? m.drawing.numbers : 0), 0);
  }

  /** A function that returns the present values of variables, given as [member, name]. */
  reader(variables) {
    const parts = this.members.map((member) => {
      const own = variables.map(([owner, name], k) => [owner, name, k]).filter(([owner]) => owner === member.name);
      return { at: own.map(([, , k]) => k), read: own.length ? member.instance.reader(own.map(([, name]) => name)) : null };
    });
    const values = new Float64Array(variables.length);
    return () => {
      for (const { at, read } of parts) if (read) read().forEach((value, i) => (values[at[i]] = value));
      return values;
    };
  }

  /** What the members have logged since the last call: [{member, status, text}]. */
  messages() {
    return this.members.flatMap((m) => m.instance.messages.map((message) => ({ member: m.name, ...message })));
  }
}

function key(member, name) {
  return `${member}\0${name}`;
}
