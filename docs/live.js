/* Live pages inside the documentation: a picture that is pressed becomes the page, one at a time; all have the theme of
   the documentation. */
const chosenTheme = () => (document.body.dataset.mdColorScheme === "slate" ? "dark" : "light");

function frameOf(address, title) {
  const frame = Object.assign(document.createElement("iframe"), { className: "live-page", title });
  frame.dataset.page = address;
  frame.allow = "clipboard-write";
  frame.src = `${address}#theme=${chosenTheme()}`;
  return frame;
}

/** Shows the page in place of its picture; what ran before becomes a picture again. */
function run(poster) {
  for (const frame of document.querySelectorAll(".live-page.pressed")) {
    frame.previousElementSibling.hidden = false;
    frame.remove();
  }
  const frame = frameOf(poster.getAttribute("href"), poster.title);
  frame.classList.add("pressed");
  poster.hidden = true;
  poster.after(frame);
}

document.addEventListener("click", (event) => {
  const poster = event.target.closest("a.live-poster");
  if (!poster || event.ctrlKey || event.metaKey || event.shiftKey) return; // opens the page in a tab of its own
  event.preventDefault();
  run(poster);
});

for (const place of document.querySelectorAll("[data-live]")) {
  place.replaceChildren(frameOf(place.dataset.live, place.dataset.title));
}

new MutationObserver(() => {
  for (const frame of document.querySelectorAll(".live-page")) {
    frame.replaceWith(Object.assign(frameOf(frame.dataset.page, frame.title), { className: frame.className }));
  }
}).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
