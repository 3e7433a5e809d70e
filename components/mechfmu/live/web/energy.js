/** The energy balance: total - input + dissipated stays what it was at the start. */

const NAMES = ["energy.total", "energy.input", "energy.dissipated"];
const PARTS = ["energy.kinetic", "energy.potential"]; // which may be large while their sum is not

export class EnergyBalance {
  constructor(simulation) {
    this.members = simulation.members.filter((m) => NAMES.every((name) => m.variables.has(name)));
    this.readers = this.members.map((m) => m.instance.reader([...NAMES, ...PARTS.filter((name) => m.variables.has(name))]));
    this.begin();
  }

  /** From now on the balance is compared with the present one: after a start, or a change of a parameter. */
  begin() {
    const { sum, size } = this.#now();
    this.reference = sum;
    this.size = size;
  }

  get exists() {
    return this.members.length > 0;
  }

  /** {error, size}: energy that has appeared [J], and the largest energy so far [J]. */
  now() {
    const { sum, size } = this.#now();
    this.size = Math.max(this.size, size);
    return { error: sum - this.reference, size: this.size };
  }

  #now() {
    let [sum, size] = [0, 0];
    for (const read of this.readers) {
      const [total, input, dissipated, ...parts] = read();
      sum += total - input + dissipated;
      size += Math.max(...[total, input, dissipated, ...parts].map(Math.abs));
    }
    return { sum, size };
  }
}
