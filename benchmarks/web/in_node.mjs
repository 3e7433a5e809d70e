/** Calls functions of steps.js: lines [name, arguments] as JSON from standard input; prints the results as JSON. */
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import * as steps from "./steps.js";

for await (const line of createInterface({ input: process.stdin })) {
  const [name, parameters] = JSON.parse(line);
  if (name === "prepare") parameters[0] = await readFile(parameters[0]);
  console.log(JSON.stringify(await steps[name](...parameters)));
}
