/** The clock of a page: what passes between two frames of the browser while it plays. */
const LONGEST_FRAME = 1; // s: after a longer pause of the browser the clock does not catch up

export class FrameClock {
  /** advance(seconds of the wall clock): while it plays; shown(): after each frame of the browser */
  constructor({ advance, shown }) {
    Object.assign(this, { advance, shown, speed: 1, playing: false, last: null });
    requestAnimationFrame((now) => this.#frame(now));
  }

  play(playing = true) {
    this.playing = playing;
  }

  #frame(now) {
    requestAnimationFrame((next) => this.#frame(next));
    const wall = this.last === null ? 0 : (now - this.last) / 1000;
    this.last = now;
    if (this.playing && wall > 0 && wall < LONGEST_FRAME) this.advance(wall);
    this.shown();
  }
}
