/**
 * A force at a point of a member, through its inputs: those that do the same work as the force, equation (3) of
 * codegen/recorded_velocities.py. Where no inputs do, the point cannot be pulled.
 */
import { dot, leastNorm } from "./linear.js";

const VELOCITIES = "mechfmu_velocities";
const NO_INPUT = 1e-4; // relative error of (3) from which on the inputs are not the force
const FREQUENCY = 1.5; // Hz: how fast the spring pulls the mechanism to the pointer
const DAMPING = 0.8; // of the spring, relative to the critical one
const STABLE = { stiffness: 0.2, damping: 0.8 }; // what both may change in a step, relative to distance and speed
const STRONGEST = 15; // m/s2: the largest force of the spring for each kg of the mechanism
const SHARE = 0.4; // of the limit of an input that the hand takes: beyond the limit it would not be the force
const MOMENT = 0.01; // how little moments are used beside forces, for the same work: forces keep their direction

/** A point of a member: each coordinate is a sum of weights times numbers of the member's drawing. */
export class Grip {
  /** terms: for each coordinate [[index in the member's drawing, weight], ...] */
  constructor(member, terms) {
    this.member = member;
    this.terms = terms;
    const { velocities } = member.data;
    this.states = member.instance.reader(velocities.reads);
    this.shares = velocities.inputs.map((name) => (member.variables.get(name).unit === "N" ? 1 : MOMENT));
    this.masses = [...member.variables.values()].filter(({ role, unit }) => role === "parameter" && unit === "kg");
    this.values = new Float64Array(1 + velocities.reads.length);
    this.bare = new Float64Array(this.values.length);
  }

  /** Velocity of the point, and J_r and J_u of (1) and (2): J_r[axis][w], J_u[input][w]. */
  #jacobians(t) {
    const { inputs, free, geometry, work } = this.member.data.velocities;
    const size = inputs.length + geometry;
    const at = (values) => Float64Array.from(this.member.instance.call(VELOCITIES, values, size, work));
    const point = (out) => this.terms.map((terms) => terms.reduce((s, [k, w]) => s + w * out[inputs.length + k], 0));
    this.values[0] = t;
    this.values.set(this.states(), 1);
    const now = point(at(this.values));
    this.bare.set(this.values);
    for (const w of free) this.bare[1 + w] = 0;
    const still = at(this.bare);
    const J_r = this.terms.map(() => new Float64Array(free.length));
    const J_u = inputs.map(() => new Float64Array(free.length));
    const rest = point(still);
    free.forEach((w, column) => {
      this.bare[1 + w] = 1;
      const moved = at(this.bare);
      this.bare[1 + w] = 0;
      point(moved).forEach((v, axis) => (J_r[axis][column] = v - rest[axis]));
      inputs.forEach((_, k) => (J_u[k][column] = moved[k] - still[k]));
    });
    return { velocity: now, J_r, J_u };
  }

  /** The inputs that are the force, [[name, value], ...]; null: there are none. */
  inputsOf(force, t, jacobians = this.#jacobians(t)) {
    const { J_r, J_u } = jacobians;
    const { inputs } = this.member.data.velocities;
    const rows = J_r[0].length;
    const b = Array.from({ length: rows }, (_, w) => J_r.reduce((s, row, axis) => s + row[w] * force[axis], 0));
    if (Math.sqrt(dot(b, b)) < 1e-9 * Math.sqrt(dot(force, force))) return null; // a point that does not move
    const A = Array.from({ length: rows }, (_, w) => J_u.map((row) => row[w]));
    const { u, error } = leastNorm(A.map((row) => row.map((x, k) => this.shares[k] * x)), b);
    return error < NO_INPUT ? inputs.map((name, k) => [name, this.shares[k] * u[k]]) : null;
  }

  /** Whether forces at this point have inputs, along every axis in which it can move. */
  canBePulled(t) {
    const jacobians = this.#jacobians(t);
    const axes = this.terms.map((_, axis) => this.terms.map((__, k) => (k === axis ? 1 : 0)));
    const moving = axes.filter((axis, k) => dot(jacobians.J_r[k], jacobians.J_r[k]) > 1e-18);
    return moving.length > 0 && moving.every((axis) => this.inputsOf(axis, t, jacobians) !== null);
  }

  /** Where the point is: numbers is the member's drawing. */
  position(numbers) {
    return this.terms.map((terms) => terms.reduce((sum, [k, weight]) => sum + weight * numbers[k], 0));
  }

  /**
   * Inputs for a damped spring from the point to a target. Its stiffness follows from the mass of the mechanism, so
   * that it lifts light and heavy ones alike; its damping also from the mass that the point seems to have, which may
   * be much smaller in some direction. step: how long the force acts [s]
   */
  spring(target, numbers, t, step) {
    const jacobians = this.#jacobians(t);
    const position = this.position(numbers);
    const apart = target.slice(0, position.length).map((c, axis) => c - position[axis]);
    const distance = Math.sqrt(dot(apart, apart));
    const own = this.#least(t, jacobians);
    if (own === null) return null;
    const omega = 2 * Math.PI * FREQUENCY;
    const whole = Math.max(own, this.#whole());
    const stiffness = Math.min(whole * omega ** 2, (STABLE.stiffness * own) / step ** 2);
    const damping = Math.min(2 * DAMPING * omega * whole ** 0.75 * own ** 0.25, (STABLE.damping * own) / step);
    const shorter = Math.min(1, (STRONGEST * whole) / Math.max(stiffness * distance, 1e-12));
    const force = apart.map((c, axis) => stiffness * shorter * c - damping * jacobians.velocity[axis]);
    return this.#bounded(this.inputsOf(force, t, jacobians));
  }

  /** Inputs for a push of `duration` seconds that gives the point about a speed [m/s] along a direction. */
  push(direction, speed, duration, t) {
    const jacobians = this.#jacobians(t);
    const own = this.#mass(direction, t, jacobians);
    if (own === null) return null;
    const mass = own ** 0.25 * Math.max(own, this.#whole()) ** 0.75;
    return this.#bounded(this.inputsOf(direction.map((c) => (c * mass * speed) / duration), t, jacobians));
  }

  /** The inputs of a weaker force along the same line, if one of them would exceed its share. */
  #bounded(inputs) {
    if (inputs === null) return null;
    const { limits } = this.member.data.velocities;
    const excess = Math.max(1, ...inputs.map(([, value], k) => (limits[k] ? Math.abs(value) / (SHARE * limits[k]) : 0)));
    return inputs.map(([name, value]) => [name, value / excess]);
  }

  /** A lower bound of the mass that a force accelerates, whatever its direction. */
  #least(t, jacobians) {
    const masses = this.terms.map((_, axis) => this.#mass(this.terms.map((__, k) => Number(k === axis)), t, jacobians));
    const light = masses.reduce((sum, mass) => sum + (mass === null ? 0 : 1 / mass), 0);
    return light > 0 ? 1 / light : null;
  }

  /** The mass of the mechanism: the sum of its parameters that are masses. */
  #whole() {
    return this.masses.reduce((sum, { name, start }) => sum + Math.max(0, this.member.settings.get(name) ?? start), 0);
  }

  /** The mass that a force along a unit vector accelerates, from the derivatives of the accelerations. */
  #mass(direction, t, jacobians) {
    const inputs = this.inputsOf(direction, t, jacobians);
    if (inputs === null) return null;
    const known = inputs.map(([name]) => this.member.variables.get(name).reference);
    const seeds = inputs.map(([, value]) => value);
    const rates = this.member.instance.directionalDerivative(this.member.data.velocities.rates, known, seeds);
    const acceleration = jacobians.J_r.reduce((s, row, axis) => s + direction[axis] * dot(row, rates), 0);
    return acceleration > 0 ? 1 / acceleration : null;
  }
}

/** The weights of a picked point: `pick` as View.pick returns it, layout as layoutOf. */
export function gripTerms(pick, layout, numbers, dimension) {
  const axes = [...Array(dimension).keys()];
  if (pick.part === "line") {
    const at = layout.lines[pick.index] + dimension * pick.segment;
    return axes.map((k) => [[at + k, 1 - pick.along], [at + dimension + k, pick.along]]);
  }
  if (pick.part === "outline" && layout.outlinePoints[pick.index] > 2) {
    const [a, b, c] = [0, 1, 2].map((i) => layout.outlines[pick.index] + dimension * i);
    const weights = barycentric(pick.point, [a, b, c].map((i) => [numbers[i], numbers[i + 1]]));
    return axes.map((k) => [a, b, c].map((i, corner) => [i + k, weights[corner]]));
  }
  const at = layout.solids[pick.index];
  if (pick.part === "outline") return axes.map((k) => [[layout.outlines[pick.index] + k, 1]]);
  const arm = pick.point.map((c, k) => c - numbers[at + k]);
  const local = [0, 1, 2].map((j) => [0, 1, 2].reduce((s, k) => s + numbers[at + 3 + 3 * k + j] * arm[k], 0));
  return axes.map((k) => [[at + k, 1], ...local.map((c, j) => [at + 3 + 3 * k + j, c])]);
}

/** Where the parts of a member begin in its drawing: arrays of offsets for lines, outlines and solids. */
export function layoutOf(parts, dimension) {
  let offset = 0;
  const take = (counts, each) => counts.map((count) => (offset += count * each) - count * each);
  const lines = take(parts.lines, dimension);
  const outlines = take(parts.outlines, dimension);
  take(parts.ground, dimension);
  offset += parts.floors * 2 * dimension;
  const solids = take(parts.solids.map(() => 12), 1);
  return { lines, linePoints: parts.lines, outlines, outlinePoints: parts.outlines, solids };
}

/** Weights that sum to 1 with which three points of the plane make a fourth. */
function barycentric(p, [a, b, c]) {
  const area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
  const beta = ((p[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (p[1] - a[1])) / area;
  const gamma = ((b[0] - a[0]) * (p[1] - a[1]) - (p[0] - a[0]) * (b[1] - a[1])) / area;
  return [1 - beta - gamma, beta, gamma];
}
