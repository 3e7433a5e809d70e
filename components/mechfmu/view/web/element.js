/** An element with properties and children. Texts are set as text, never as markup. */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Set the text of an element, if it is another one: the page is laid out anew only then. */
export function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}
