/** Runs a scenario: node run_in_node.mjs SCENARIO ARGUMENTS, the arguments as JSON; prints its result as JSON. */
import { readFile } from "node:fs/promises";
import * as scenarios from "./scenarios.js";

const [name, text] = process.argv.slice(2);
console.log(JSON.stringify(await scenarios[name](readFile, ...JSON.parse(text))));
