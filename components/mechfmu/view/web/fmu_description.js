/** Reads modelDescription.xml. */
import { FmuError } from "./fmu_error.js";

const TYPES = ["Real", "Integer", "Boolean", "Enumeration", "String"];

/**
 * {modelName, modelIdentifier, guid, experiment: {start, stop, tolerance, step}, variables}; null for a number that is
 * not there. A variable is {name, reference, type, description, causality, variability, unit, start, min, max}; its
 * type is Real, Integer, Boolean or String, and Integer for an Enumeration.
 */
export function readDescription(xml) {
  const experiment = { start: null, stop: null, tolerance: null, step: null };
  const description = { modelName: "", modelIdentifier: "", guid: "", experiment, variables: [] };
  let variable = null;
  for (const { name, attributes } of elements(xml)) {
    if (name === "fmiModelDescription") {
      description.modelName = attributes.modelName;
      description.guid = attributes.guid;
    } else if (name === "CoSimulation") {
      description.modelIdentifier = attributes.modelIdentifier;
    } else if (name === "DefaultExperiment") {
      const { startTime, stopTime, tolerance, stepSize } = attributes;
      const [start, stop, relative, step] = [startTime, stopTime, tolerance, stepSize].map(number);
      description.experiment = { start, stop, tolerance: relative, step };
    } else if (name === "ScalarVariable") {
      const { description: text = "", causality = "local", variability = "continuous" } = attributes;
      const reference = Number(attributes.valueReference);
      variable = { name: attributes.name, reference, description: text, causality, variability };
    } else if (variable && TYPES.includes(name)) {
      const { unit = "", start, min, max } = attributes;
      const type = name === "Enumeration" ? "Integer" : name;
      const first = type === "String" ? (start ?? null) : number(start);
      description.variables.push({ ...variable, type, unit, start: first, min: number(min), max: number(max) });
      variable = null;
    }
  }
  if (!description.modelIdentifier) throw new FmuError("modelDescription.xml is not that of a Co-Simulation FMU");
  return description;
}

/** The number, or the Boolean as 0 or 1, that an attribute has; null if there is none. */
function number(text) {
  if (text === undefined) return null;
  return text === "true" ? 1 : text === "false" ? 0 : Number(text);
}

/** The elements of an XML document in order; a worker has no other parser. */
function* elements(xml) {
  const element = /<([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*\/?>/g;
  for (const [, name, text] of xml.replace(/<!--[^]*?-->/g, "").matchAll(element)) {
    const found = text.matchAll(/([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
    yield { name, attributes: Object.fromEntries([...found].map(([, key, a, b]) => [key, withoutEntities(a ?? b)])) };
  }
}

function withoutEntities(text) {
  const named = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
  const number = (code) => (code[1] === "x" ? parseInt(code.slice(2), 16) : Number(code.slice(1)));
  const character = (code) => String.fromCodePoint(number(code));
  return text.replace(/&([a-z]+|#\d+|#x[\da-fA-F]+);/g, (_, code) => (code[0] === "#" ? character(code) : named[code]));
}
