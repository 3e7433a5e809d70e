/** Times steps of an FMU in a JavaScript engine; benchmarks/wasm.py compares them with those of the native FMU. */
import { loadFmu } from "./fmu.js";

let instance, start, settings;

/** Loads an FMU and makes all steps once; returns the values of these variables in the end. */
export async function prepare(source, { step, steps, part, tolerance }, names) {
  instance?.free();
  instance = (await loadFmu(source)).instantiate();
  instance.initialize({ tolerance });
  settings = { step, steps, part };
  start = instance.saveState();
  run();
  return [...instance.get(names)];
}

/** `count` runs from the start: of each the seconds of its parts, which have `part` steps each. */
export function runs(count) {
  return Array.from({ length: count }, run);
}

function run() {
  const { step, steps, part } = settings;
  instance.restoreState(start);
  const seconds = [];
  for (let made = 0; made < steps; made += part) {
    const began = performance.now();
    for (let i = 0; i < part; i++) instance.doStep(step);
    seconds.push((performance.now() - began) / 1000);
  }
  return seconds;
}
