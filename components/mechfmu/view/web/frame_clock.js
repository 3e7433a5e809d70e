/** The clock of a page: what passes between two frames of the browser while it plays. */
const LONGEST_FRAME = 1; // s: after a longer pause of the browser the clock does not catch up

export class FrameClock {
  /**
   * advance(seconds of the wall clock), or lost(seconds) for too long a pause: while it plays; shown(): after each frame
   * of the browser. What passes while the page is hidden does not count.
   */
  constructor({ advance, lost = () => {}, shown }) {
    Object.assign(this, { advance, lost, shown, speed: 1, playing: false, last: null });
    document.addEventListener("visibilitychange", () => (this.last = null));
    requestAnimationFrame((now) => this.#frame(now));
  }

  play(playing = true) {
    this.playing = playing;
  }

  #frame(now) {
    requestAnimationFrame((next) => this.#frame(next));
    const wall = this.last === null ? 0 : (now - this.last) / 1000;
    this.last = now;
    if (this.playing && wall > 0) (wall < LONGEST_FRAME ? this.advance : this.lost)(wall);
    this.shown();
  }
}
