/** Draws the frames of a film one after the other and posts their pictures to view/browser.py. */
import { bytesOf, recorded } from "./recorded.js";
import { View } from "./view.js";

const FONT = 1 / 45; // of the width: the clock

async function film() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { scene, largest, look } = data;
  const times = new Float64Array(bytesOf(data.times).buffer);
  const frames = await recorded(data.frames);
  const [width, height] = look.size;
  const parent = document.createElement("div");
  Object.assign(parent.style, { width: `${width}px`, height: `${height}px`, position: "absolute", left: "0", top: "0" });
  document.body.append(parent);
  const view = new View(parent, scene, { largest, best: true, theme: look.theme, ...look.options });
  if (!view.stage) throw new Error("it has no WebGL");
  const picture = Object.assign(document.createElement("canvas"), { width, height });
  view.keepGhost(frames.row(0));
  if (look.camera) view.cameraState = look.camera;
  for (let i = 0, k = 0; k < data.pictures.length; i++) {
    if (i < data.pictures[k]) {
      view.trace(frames.row(i));
      continue;
    }
    view.show(frames.row(i));
    await null; // now it is drawn, and not yet gone to the screen
    compose(picture, view.canvas, look.clock ? `${times[i].toFixed(2)} s` : "", getComputedStyle(document.body));
    const png = await new Promise((done) => picture.toBlob(done, "image/png"));
    for (; data.pictures[k] === i; k++) await post("picture", png); // a result may have fewer samples than the film
  }
}

/** The picture of the view, and the time in a corner. */
function compose(picture, canvas, text, style) {
  const pen = picture.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(canvas, 0, 0, picture.width, picture.height);
  if (!text) return;
  const size = Math.max(11, FONT * picture.width);
  pen.font = `600 ${size}px ${style.fontFamily}`;
  pen.fillStyle = style.getPropertyValue("--soft");
  pen.fillText(text, size, 1.8 * size);
}

async function post(name, body) {
  await fetch(name, { method: "POST", body });
}

film().catch((error) => post("problem", String(error.message ?? error)));
