/** What the tests do with fmu.js, in Node and in a browser alike. `open(file)` is what loadFmu takes. */
import { loadFmu } from "./fmu.js";

/** Outputs `names` after each step; inputs: {name: its values at the start and after each step}. */
export async function trajectory(open, file, { values, inputs, step, steps, names }) {
  const unit = await loadFmu(await open(file));
  const instance = unit.instantiate();
  const driven = Object.keys(inputs);
  const at = (i) => driven.map((name) => inputs[name][i]);
  instance.enterInitialization({ values });
  const write = instance.writer(driven);
  write(at(0));
  instance.exitInitialization();
  const read = instance.reader(names);
  const rows = [];
  for (let i = 0; i < steps; i++) {
    instance.doStep(step);
    write(at(i + 1));
    rows.push([...read()]);
  }
  const found = { rows, time: instance.time, messages: instance.messages };
  instance.terminate();
  instance.free();
  return found;
}

/** The error of an action: its message and status; {} if there is none. */
async function refusal(action) {
  try {
    await action();
    return {};
  } catch (error) {
    return { name: error.name, message: error.message, status: error.status };
  }
}

/** The message of the first step that fails, the time before and after it, and whether the instance can go on. */
export async function failedStep(open, file, { step, steps }) {
  const instance = (await loadFmu(await open(file))).instantiate();
  instance.initialize();
  let before = 0;
  const error = await refusal(() => {
    for (let i = 0; i < steps; i++) {
      before = instance.time;
      instance.doStep(step);
    }
  });
  const time = instance.time;
  const finite = Number.isFinite(instance.get("hip.y"));
  const logged = instance.messages;
  instance.reset();
  instance.initialize();
  instance.doStep(step);
  return { ...error, before, time, finite, logged, again: instance.time };
}

/** A state is saved, restored in the same and in another instance, and everything that follows is the same. */
export async function states(open, file, { other }) {
  const unit = await loadFmu(await open(file));
  const [one, two] = [unit.instantiate({ name: "one" }), unit.instantiate({ name: "two" })];
  for (const instance of [one, two]) instance.initialize({ values: { "joint[1].angle_start": 0.5 } });
  const run = (instance) => {
    for (let i = 0; i < 20; i++) instance.doStep(0.01);
    return [instance.time, ...instance.get(["joint[1].angle", "joint[2].rate", "energy.total"])];
  };
  run(one);
  const state = one.saveState();
  const first = run(one);
  one.restoreState(state);
  const again = run(one);
  two.restoreState(structuredClone(state));
  const elsewhere = run(two);
  one.reset();
  one.initialize({ values: { "joint[1].angle_start": 0.5 } });
  run(one);
  const afterReset = run(one);
  const foreign = (await loadFmu(await open(other))).instantiate();
  return {
    runs: [first, again, elsewhere, afterReset],
    refused: [
      await refusal(() => foreign.restoreState(state)),
      await refusal(() => one.restoreState({ time: 0, bytes: state.bytes.slice(1) })),
      await refusal(() => one.restoreState({})),
    ],
  };
}

/** Instances of two units by turns: [values of each alone, values of each beside the others]. */
export async function together(open, files) {
  const make = async (file, angle) => {
    const instance = (await loadFmu(await open(file))).instantiate({ name: "größer ⚙" });
    instance.initialize({ values: { "joint[1].angle_start": angle } });
    return instance;
  };
  const cases = [[files[0], 0.2], [files[0], -0.4], [files[1], 0.2]];
  const end = (instance) => [...instance.get(["joint[1].angle", "tip.x"])];
  const alone = [];
  for (const [file, angle] of cases) {
    const instance = await make(file, angle);
    for (let i = 0; i < 30; i++) instance.doStep(0.01);
    alone.push(end(instance));
  }
  const units = new Map();
  for (const file of files) units.set(file, await loadFmu(await open(file)));
  const instances = cases.map(([file]) => units.get(file).instantiate());
  instances.forEach((instance, k) => instance.initialize({ values: { "joint[1].angle_start": cases[k][1] } }));
  for (let i = 0; i < 30; i++) for (const instance of instances) instance.doStep(0.01);
  return [alone, instances.map(end)];
}

/** How the memory of a unit grows: with instances that are kept, and with those that are freed. */
export async function memory(open, file, { kept, cycles }) {
  const unit = await loadFmu(await open(file));
  const size = () => unit.exports.memory.buffer.byteLength;
  const make = () => {
    const instance = unit.instantiate();
    instance.initialize();
    return instance;
  };
  const cycle = () => {
    const instance = make();
    const write = instance.writer(["joint[1].torque"]);
    write([1]);
    instance.doStep(0.01);
    instance.restoreState(instance.saveState());
    const value = instance.reader(["joint[1].angle"])()[0];
    instance.free();
    return value;
  };
  const first = make();
  const read = first.reader(["joint[1].angle", "energy.total"]);
  const before = [...read()];
  const start = size();
  const many = Array.from({ length: kept }, make);
  const grown = size();
  const after = [...read()]; // through views of memory that has grown since
  for (const instance of many) instance.free();
  const value = cycle();
  const settled = size();
  for (let i = 0; i < cycles; i++) if (cycle() !== value) throw new Error(`cycle ${i} is another one`);
  return { before, after, start, grown, settled, end: size() };
}

/** Calls that are refused: what is wrong with each. */
export async function refusals(open, file) {
  const unit = await loadFmu(await open(file));
  const chain = unit.instantiate();
  const running = unit.instantiate({ name: "running" });
  running.initialize({ stop: 1 });
  const ended = unit.instantiate({ name: "ended" });
  ended.initialize();
  ended.terminate();
  const lastAngle = ended.get("joint[1].angle");
  const freed = unit.instantiate({ name: "freed" });
  const read = freed.reader(["joint[1].angle"]);
  const write = freed.writer(["joint[1].torque"]);
  freed.free();
  freed.free();
  const calls = {
    unknown: () => running.get("joint[9].angle"),
    parameter: () => running.set({ "link[1].mass": 2 }),
    output: () => running.set({ "joint[1].angle": 2 }),
    nan: () => running.set({ "joint[1].torque": NaN }),
    infinite: () => running.set({ "joint[1].torque": Infinity }),
    text: () => running.set({ "joint[1].torque": "much" }),
    nothing: () => running.set({ "joint[1].torque": null }),
    fraction: () => chain.set({ "solver.method": 1.5 }),
    large: () => chain.set({ "solver.method": 2 ** 32 + 1 }),
    choice: () => chain.set({ "solver.method": 7 }),
    mass: () => chain.initialize({ values: { "link[1].mass": -1 } }),
    tolerance: () => unit.instantiate().initialize({ tolerance: -1 }),
    stop: () => unit.instantiate().initialize({ start: 2, stop: 1 }),
    start: () => unit.instantiate().initialize({ start: "0" }),
    name: () => unit.instantiate({ name: "" }),
    early: () => chain.doStep(0.01),
    late: () => running.doStep(2),
    zero: () => running.doStep(0),
    back: () => running.doStep(-0.1),
    step: () => running.doStep("0.1"),
    no_step: () => running.doStep(),
    no_number: () => running.doStep(NaN),
    twice: () => running.initialize(),
    ended: () => ended.doStep(0.1),
    no_name: () => running.get(),
    freed_reader: () => read(),
    freed_writer: () => write([1]),
    freed_get: () => freed.get("joint[1].angle"),
    freed_step: () => freed.doStep(0.1),
    freed_state: () => freed.saveState(),
    freed_call: () => freed.callRaw("fmi2Terminate"),
    short: () => running.writer(["joint[1].torque", "joint[2].torque"])([1]),
  };
  const found = {};
  for (const name in calls) found[name] = await refusal(calls[name]);
  running.doStep(0.5); // every refused call has left it as it was
  return { found, time: running.time, lastAngle, messages: freed.messages };
}

/** What loadFmu says of files that it cannot load. */
export async function unloadable(open, files) {
  const found = {};
  for (const file of files) found[file] = await refusal(async () => loadFmu(await open(file)));
  return found;
}

/** Whole numbers, Boolean variables, value references, derivatives: {description, ...}. */
export async function kinds(open, file) {
  const unit = await loadFmu(await open(file));
  const instance = unit.instantiate();
  instance.enterInitialization({ start: 1, stop: 2, tolerance: 1e-8, values: { "link[1].locked": true } });
  instance.set({ "solver.method": 2, "link[2].locked": 0 });
  instance.exitInitialization();
  instance.doStep(0.001);
  const names = ["link[1].locked", "solver.method", "foot[1].pinned", "phase", "hip.y"];
  const { modelName, modelIdentifier, experiment } = unit.description;
  const derivative = instance.directionalDerivative(["der(hip.y)"], ["hip.velocity_y"], [1]);
  return {
    values: [...instance.get(names)],
    types: names.map((name) => unit.variable(name).type),
    variable: unit.variable("link[1].moment"),
    description: { modelName, modelIdentifier, experiment, count: unit.variables.size },
    time: instance.time,
    derivative: [...derivative],
  };
}
