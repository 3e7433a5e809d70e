/**
 * Runs a simulation in step with the wall clock: `speed` seconds of the simulation for each second. A computer that is
 * too slow gets a slower clock, never longer steps.
 */
import { FrameClock } from "../../view/web/frame_clock.js";

const BUSY = 0.7; // of a frame, which steps may take
const SMOOTHING = 0.2; // s: time constant of the measured speed
const SLOW = 0.95; // of the wanted speed: below, the page says that it is too slow

export class Clock extends FrameClock {
  /** step(): one communication step of h seconds; shown(): after each frame; failed(error): a step was refused. */
  constructor(h, { step, shown, failed }) {
    super({ advance: (wall) => this.#run(wall), lost: (wall) => this.#measure(0, wall), shown });
    Object.assign(this, { h, step, failed });
    this.measured = 1;
    this.owed = 0; // s of the simulation
  }

  play(playing = true) {
    super.play(playing);
    this.measured = this.speed;
    this.owed = 0;
  }

  /** What share of the wanted speed the computer reaches, 1 if it is fast enough. */
  get share() {
    return this.playing ? Math.min(1, this.measured / this.speed) : 1;
  }

  get slow() {
    return this.share < SLOW;
  }

  #run(wall) {
    this.owed += wall * this.speed;
    const end = performance.now() + 1000 * Math.max(BUSY * wall, 0.01);
    let done = 0;
    try {
      while (this.owed >= this.h && performance.now() < end) {
        this.step();
        this.owed -= this.h;
        done += this.h;
      }
    } catch (error) {
      this.playing = false;
      this.failed(error);
      return;
    }
    if (this.owed > this.h) this.owed = 0; // too slow: the clock waits
    this.#measure(done, wall);
  }

  /** Takes into account that `done` seconds were simulated in `wall` seconds. */
  #measure(done, wall) {
    this.measured += (1 - Math.exp(-wall / SMOOTHING)) * (done / wall - this.measured);
  }
}
