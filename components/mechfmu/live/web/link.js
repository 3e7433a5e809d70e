/** The settings of a page in its address: what was changed, so that a link shows the same. */

/** "#chain.gravity=1.62&speed=0.5" of the settings; values are in the variables' own units. */
export function addressOf(simulation, more) {
  const words = new URLSearchParams(more);
  for (const member of simulation.members) {
    for (const [name, value] of member.settings) words.set(member.name ? `${member.name}.${name}` : name, String(value));
  }
  const text = words.toString();
  return text ? `#${text}` : "";
}

/** The settings in an address: [{member, variable, value}], and the other words as they are. */
export function settingsIn(address, simulation) {
  const words = new URLSearchParams(address.replace(/^#/, ""));
  const settings = [];
  const others = new Map();
  for (const [word, text] of words) {
    const found = find(word, simulation);
    if (found) settings.push({ ...found, value: Number(text) });
    else others.set(word, text);
  }
  return { settings, others };
}

function find(word, simulation) {
  for (const member of simulation.members) {
    const name = member.name && word.startsWith(`${member.name}.`) ? word.slice(member.name.length + 1) : word;
    const variable = member.name && name === word ? undefined : member.variables.get(name);
    if (variable && (variable.role === "parameter" || variable.role === "input")) return { member, variable };
  }
  return null;
}
