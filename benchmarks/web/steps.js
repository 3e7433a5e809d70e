/** Bursts of steps of an FMU in a JavaScript engine; benchmarks/wasm.py compares them with those of the native FMU. */
import { loadFmu } from "./fmu.js";

let instance, start, steps, step;

/** Loads an FMU and makes all steps once; returns the values of these variables in the end. */
export async function prepare(source, settings, names) {
  instance?.free();
  instance = (await loadFmu(source)).instantiate();
  instance.initialize({ tolerance: settings.tolerance });
  ({ steps, step } = settings);
  start = instance.saveState();
  run();
  return [...instance.get(names)];
}

/** Seconds of one step in each of `count` bursts, all of which begin at the start. */
export function bursts(count) {
  return Array.from({ length: count }, run);
}

function run() {
  instance.restoreState(start);
  const began = performance.now();
  for (let i = 0; i < steps; i++) instance.doStep(step);
  return (performance.now() - began) / steps / 1000;
}
