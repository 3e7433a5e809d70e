/**
 * How fine the picture is: as fine as the computer draws at 60 pictures per second, or as the user wants it. It is
 * lowered within a second or two, and raised again where there is room; a raise that failed is tried again later, each
 * time after a longer wait.
 */

/** From the best picture to the fastest: pixels per CSS pixel, pixels of the shadow map (0: no shadows), ms between two
 * drawings of the plots. */
export const LEVELS = [
  { ratio: 2, shadows: 2048, plots: 0 },
  { ratio: 1.5, shadows: 2048, plots: 0 },
  { ratio: 1, shadows: 1024, plots: 0 },
  { ratio: 1, shadows: 0, plots: 45 },
  { ratio: 0.8, shadows: 0, plots: 45 },
  { ratio: 0.65, shadows: 0, plots: 95 },
  { ratio: 0.5, shadows: 0, plots: 95 },
];
export const CHOICES = ["automatic", "high", "low"];
const LOW = LEVELS.findIndex(({ shadows }) => !shadows);
const LOWEST = LEVELS.length - 1;

const BUDGET = 1000 / 60; // ms for a picture
const SLOW = 1.06; // of the budget: the picture is made simpler
const FAST = 1.03; // of the budget: there may be room for a better one
const WINDOW = { pictures: 6, least: 400, most: 600 }; // over which a mean is taken: number, ms
const TRIAL = 3; // pictures after a raise; the first ones that are slow end it
const SKIPPED = 3; // pictures after a change, which have to be prepared
const LONGEST = 1000; // ms: a longer gap is a pause of the browser
const WAIT = { first: 8000, longer: 3, longest: 30000 }; // ms before a raise; the factor after one that failed
const PROVEN = 2000; // ms after which a raise was good
const REST = 60000; // ms in which nothing is changed, where the browser sets the pace
const SAME = 0.03; // of the time of a picture: if the lowest level changes no more, the browser sets the pace

export class Quality {
  /** pixelRatio: of the screen; software: whether the picture is drawn without a graphics card */
  constructor({ pixelRatio = 1, software = false, wanted = "automatic" } = {}) {
    this.best = LEVELS.findIndex(({ ratio }) => ratio <= Math.min(2, Math.max(1, pixelRatio)));
    this.first = software ? LOW : this.best;
    this.choose(wanted);
  }

  /** "automatic", "high" or "low" */
  choose(wanted) {
    this.wanted = CHOICES.includes(wanted) ? wanted : CHOICES[0];
    this.index = { high: this.best, low: LOW, automatic: this.first }[this.wanted];
    this.wait = WAIT.first;
    this.failure = null; // the level and the time of a picture when it was lowered at first
    this.raised = false; // whether the last change was a raise
    this.#restart();
  }

  get level() {
    return LEVELS[this.index];
  }

  /** The level of a picture for which there is time. */
  get finest() {
    return LEVELS[this.wanted === "low" ? this.index : this.best];
  }

  /** A picture took so many ms until the next one could be drawn; returns whether the level has changed. */
  took(gap) {
    if (this.wanted !== "automatic") return false;
    const time = Math.min(gap, LONGEST);
    this.rest -= time;
    if (this.rest > 0 || this.skipped++ < SKIPPED) return false;
    this.count += 1;
    this.sum += time;
    this.longest = Math.max(this.longest, time);
    const { count, sum } = this;
    const tried = this.raised && count === TRIAL && sum > 2 * SLOW * BUDGET * TRIAL;
    const enough = count >= WINDOW.pictures ? sum >= WINDOW.least : count > 2 && sum >= WINDOW.most;
    if (!tried && !enough) return false;
    const mean = (this.sum - this.longest) / (this.count - 1); // one that is late by chance does not count
    const passed = this.sum;
    this.count = this.sum = this.longest = 0;
    if (mean > SLOW * BUDGET) return this.#lower(mean);
    this.good = mean < FAST * BUDGET ? this.good + passed : 0;
    if (this.raised && this.good > PROVEN) [this.raised, this.wait] = [false, WAIT.first];
    return this.good > this.wait && this.index > this.best && this.#to(this.index - 1, true);
  }

  #lower(mean) {
    if (this.raised) {
      this.wait = Math.min(WAIT.longest, WAIT.longer * this.wait);
      return this.#to(this.index + 1);
    }
    this.good = 0;
    this.failure ??= { index: this.index, mean };
    if (this.index < LOWEST) return this.#to(Math.min(LOWEST, this.index + (mean > 4 * BUDGET ? 3 : mean > 2 * BUDGET ? 2 : 1)));
    const { index, mean: before } = this.failure;
    if (Math.abs(mean - before) > SAME * before || index === LOWEST) return false;
    this.failure = null;
    this.#to(index);
    this.rest = REST;
    return true;
  }

  #to(index, raised = false) {
    this.index = index;
    this.raised = raised;
    if (raised) this.failure = null;
    this.#restart();
    return true;
  }

  #restart() {
    this.skipped = this.count = this.sum = this.longest = this.good = this.rest = 0;
  }
}
