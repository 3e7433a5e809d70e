/** The variables of a member, as live/member.py lists them. */

const TYPES = { Real: "Real", Integer: "Integer", Boolean: "Boolean" };
const START = /_start(\[[0-9,]+\])?$/;
const CAUSALITIES = { parameter: "parameter", input: "input", state: "output", discrete: "output", output: "output" };

/**
 * A variable by name. `factor` converts to the displayed unit `unit`; `low` and `high` are the ends of its slider,
 * `above`, `min` and `max` its limits (null: none), all in its own unit; `index` is its position in the vector of its
 * role; `startOnly` parameters matter at the start only.
 */
export function variablesOf(rows) {
  return rows.map(([name, reference, role, kind, unit, factor, start, index, text, ends, limits, items]) => ({
    name,
    reference,
    role,
    type: TYPES[kind],
    causality: CAUSALITIES[role],
    unit,
    factor,
    start,
    index,
    startOnly: role === "parameter" && START.test(name),
    description: text,
    low: ends[0],
    high: ends[1],
    above: limits[0] ?? null,
    min: limits[1] ?? null,
    max: limits[2] ?? null,
    items,
  }));
}

/** Why a value is not allowed, or "". */
export function violation(variable, value) {
  const { above, min, max, factor, unit } = variable;
  const text = (limit) => `${Number((limit * factor).toPrecision(6))} ${unit}`.trim();
  if (!Number.isFinite(value)) return "must be a number";
  if (variable.type !== "Real" && !Number.isInteger(value)) return "must be a whole number";
  if (above !== null && value <= above) return `must be greater than ${text(above)}`;
  if (min !== null && value < min) return `must be at least ${text(min)}`;
  if (max !== null && value > max) return `must be at most ${text(max)}`;
  return "";
}
