/** Round numbers for axes, and numbers as texts. */

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const FLAT = 1e-9; // curves that change less, relative to their size, are constant
const NOTHING = 1e-13; // rounding of numbers of usual size, in any unit
const DIGITS_OF_VALUES = 4;

/** The round step (1, 2 or 5 times a power of ten) that divides a span into at most `count` parts. */
export function roundStep(span, count) {
  const least = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
  return power * [1, 2, 5, 10].find((m) => m * power >= least * (1 - 1e-9));
}

/** The multiples of a step from low to high. */
export function ticksBetween(low, high, step) {
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9; k++) ticks.push(k === 0 ? 0 : k * step);
  return ticks;
}

/** Room for values from low to high that ends at round numbers: {low, high, step}. */
export function roundRange(low, high, count) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  const least = size > NOTHING ? 0.02 * size : 1; // above and below a constant
  if (high - low < Math.max(size * FLAT, NOTHING)) [low, high] = [low - least, high + least];
  const step = roundStep(high - low, count);
  return { low: Math.floor(low / step + 1e-6) * step, high: Math.ceil(high / step - 1e-6) * step, step };
}

/** The exponent, a multiple of three, that shortens the labels of an axis; 0 for ordinary numbers. */
export function commonExponent(low, high) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  return size >= 1e5 || (size > 0 && size < 1e-2) ? 3 * Math.floor(Math.log10(size) / 3 + 1e-9) : 0;
}

/** The labels of ticks: all with the digits that the step needs. */
export function tickTexts(ticks, step, exponent = 0) {
  const digits = Math.min(Math.max(0, -Math.floor(Math.log10(step) - exponent + 1e-9)), 12);
  return ticks.map((tick) => (tick / 10 ** exponent).toFixed(digits).replace("-", "−"));
}

/** "10⁻⁶" */
export function powerOfTen(exponent) {
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[digit]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}

/** A value with four digits. What is nothing beside `scale`, the largest value near it, is 0. */
export function valueText(value, scale = 0) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size <= FLAT * scale || size < NOTHING) return "0";
  const exponent = Math.floor(Math.log10(size) + 1e-12);
  const text =
    exponent >= 6 || exponent < -4
      ? `${(value / 10 ** exponent).toFixed(DIGITS_OF_VALUES - 1)}·${powerOfTen(exponent)}`
      : value.toFixed(Math.max(0, DIGITS_OF_VALUES - 1 - exponent));
  return text.replace("-", "−");
}
