// Plays a simulated mechanism. `data` (see player.py) contains the drawing of every frame and the signals.
"use strict";
{
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = id => document.getElementById(id);
  const floats = (text, Kind) => new Kind(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);

  const D = data.dimension, AXES = "xyz".slice(0, D);
  const T = floats(data.times, Float64Array), END = T[T.length - 1];
  const poses = floats(data.poses, Float32Array);           // frame x solid x (rotation by rows, position)
  const arrows = floats(data.arrows.where, Float32Array);   // frame x arrow x (point, vector in m)
  const moments = floats(data.moments.where, Float32Array); // frame x moment x (point, angle in rad; in space a vector)
  const traced = floats(data.traced.where, Float32Array);   // frame x point
  const signals = new Map(data.signals.map(s => [s.name, { ...s, values: floats(s.values, Float64Array) }]));
  const SIZE = data.size;
  const FONT = { family: getComputedStyle(document.body).fontFamily, size: 12, color: "#616e7c" };
  const COLOURS = ["#1769aa", "#d9480f", "#2b8a3e", "#862e9c", "#b08900", "#0b7285", "#c2255c", "#495057"];

  // --- the drawing of one frame: coordinates of every trace ----------------------------------------------------------

  const empty = () => AXES.split("").map(() => []);
  const push = (columns, point) => columns.forEach((column, k) => column.push(point[k]));
  const GAP = [NaN, NaN, NaN];

  function polylines({ points, starts, ends }) {   // NaN between two lines
    const rows = floats(points, Float32Array);
    return i => {
      const columns = empty();
      for (let row = starts[i]; row < ends[i]; row++) push(columns, rows.subarray(row * D, row * D + D));
      return columns;
    };
  }

  function trail(i) {
    const columns = empty(), count = data.traced.count, since = frameAt(T[i] - Number($("trail").value));
    for (let k = 0; k < count; k++) {
      for (let f = since; f <= i; f++) push(columns, traced.subarray((f * count + k) * D));
      push(columns, GAP);
    }
    return columns;
  }

  function solids(i) {
    const columns = empty();
    data.solids.forEach((solid, s) => {
      const P = poses.subarray((i * data.solids.length + s) * 12);
      const world = (k, [x, y, z]) => P[3 * k] * x + P[3 * k + 1] * y + P[3 * k + 2] * z + P[9 + k];
      for (const vertex of solid.vertices) push(columns, [0, 1, 2].map(k => world(k, vertex)));
    });
    return columns;
  }

  function edges(i) {
    const columns = empty(), [xs, ys, zs] = solids(i);
    let first = 0;
    for (const solid of data.solids) {
      for (const edge of solid.edges) {
        for (const v of edge) push(columns, [xs[first + v], ys[first + v], zs[first + v]]);
        push(columns, GAP);
      }
      first += solid.vertices.length;
    }
    return columns;
  }

  function arrowsOf(kind) {
    const which = data.arrows.kinds.flatMap((k, index) => k === kind ? [index] : []);
    const shape = D === 2 ? flatArrow : roundArrow;
    return i => {
      const columns = empty();
      for (const a of which) {
        const at = (i * data.arrows.kinds.length + a) * 2 * D;
        const start = arrows.subarray(at, at + D), vector = arrows.subarray(at + D, at + 2 * D);
        const length = Math.hypot(...vector);
        shape(columns, start, Array.from(vector, v => length > 0 ? v / length : 0), length);
      }
      return columns;
    };
  }

  function flatArrow(columns, [x, y], [ex, ey], length) {
    const head = Math.min(0.4 * length, 0.035 * SIZE), neck = length - head, wing = 0.35 * head;
    for (const [along, across] of [[0, 0], [neck, 0], [neck, wing], [length, 0], [neck, -wing], [neck, 0]])
      push(columns, [x + along * ex - across * ey, y + along * ey + across * ex]);
    push(columns, GAP);
  }

  function arcs(i) {
    const columns = empty(), width = D === 2 ? 3 : 6, shape = D === 2 ? flatArc : roundArc;
    for (let m = 0; m < data.moments.count; m++) {
      const [...at] = moments.subarray((i * data.moments.count + m) * width, (i * data.moments.count + m + 1) * width);
      shape(columns, at.slice(0, D), at.slice(D));
    }
    return columns;
  }

  const STEPS = 24;   // of an arc
  const arcHead = angle => Math.sign(angle) * Math.min(0.4 * Math.abs(angle), 0.55);

  // an arc around the top of its circle, drawn forth and back, so that only the head is filled
  function flatArc(columns, [x, y], [angle]) {
    if (Math.abs(angle) < 0.03) return;   // it would be a dot
    const radius = 0.05 * SIZE, head = arcHead(angle), neck = angle / 2 - head, wing = 0.35 * Math.abs(head) * radius;
    const point = (turn, out) => {
      const r = radius + out, direction = Math.PI / 2 + turn;
      push(columns, [x + r * Math.cos(direction), y + r * Math.sin(direction)]);
    };
    for (let n = -STEPS; n <= STEPS; n++) point(-angle / 2 + (neck + angle / 2) * Math.abs(n) / STEPS, 0);
    for (const [turn, out] of [[neck, wing], [angle / 2, 0], [neck, -wing], [neck, 0]]) point(turn, out);
    push(columns, GAP);
  }

  // round arrows: rings of points, the last one wider, and a tip

  const SIDES = 8;
  function ring(columns, centre, f, g, radius) {
    for (let n = 0; n < SIDES; n++) {
      const c = radius * Math.cos(2 * Math.PI * n / SIDES), s = radius * Math.sin(2 * Math.PI * n / SIDES);
      push(columns, centre.map((x, k) => x + c * f[k] + s * g[k]));
    }
  }

  function across(e) {
    const f = unit(cross(e, Math.abs(e[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
    return [f, cross(e, f)];
  }

  function roundArrow(columns, start, e, length) {
    const head = Math.min(0.4 * length, 0.06 * SIZE), thick = Math.min(0.006 * SIZE, 0.1 * length), [f, g] = across(e);
    const along = s => [0, 1, 2].map(k => start[k] + s * e[k]);
    const rings = [[0, thick], [length - head, thick], [length - head, 2.8 * thick]];
    for (const [s, radius] of rings) ring(columns, along(s), f, g, radius);
    push(columns, along(length));
  }

  function roundArc(columns, centre, vector) {
    const angle = Math.hypot(...vector), neck = angle / 2 - arcHead(angle);
    const radius = 0.085 * SIZE, thick = Math.min(0.006 * SIZE, 0.1 * radius * angle);
    const e = unit(vector), [f, g] = across(e);
    const out = turn => f.map((x, k) => x * Math.cos(turn) + g[k] * Math.sin(turn));
    const point = turn => out(turn).map((x, k) => centre[k] + radius * x);
    const put = (turn, thickness) => ring(columns, point(turn), out(turn), e, thickness);
    for (let n = 0; n <= STEPS; n++) put(-angle / 2 + (neck + angle / 2) * n / STEPS, thick);
    put(neck, 2.8 * thick);
    push(columns, point(angle / 2));
  }

  function ringFaces(count, rings) {
    const faces = [];
    for (let a = 0, first = 0; a < count; a++, first += rings * SIDES + 1)
      for (let n = 0; n < SIDES; n++) {
        const m = (n + 1) % SIDES, corner = (r, k) => first + r * SIDES + k;
        for (let r = 0; r < rings - 1; r++) {
          faces.push([corner(r, n), corner(r, m), corner(r + 1, m)]);
          faces.push([corner(r, n), corner(r + 1, m), corner(r + 1, n)]);
        }
        faces.push([corner(rings - 1, n), corner(rings - 1, m), corner(rings, 0)]);
      }
    return faces;
  }

  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = a => { const length = Math.hypot(...a) || 1; return a.map(x => x / length); };

  // --- the stage -----------------------------------------------------------------------------------------------------

  const GRID = "#e4e9ef", ZERO = "#cbd2d9";
  const LIGHT = {
    flatshading: true,
    lighting: {
      ambient: 0.66, diffuse: 0.6, specular: 0.1, roughness: 0.6, facenormalsepsilon: 0, vertexnormalsepsilon: 0,
    },
    lightposition: { x: 3000, y: -4000, z: 8000 },
  };

  const line = (colour, width, rest) => ({
    type: D === 2 ? "scatter" : "scatter3d", mode: "lines", hoverinfo: "skip", line: { color: colour, width }, ...rest,
  });
  const filled = (colour, width, inside) =>
    line(colour, width, D === 2 ? { fill: "toself", fillcolor: inside } : {});
  const mesh = (faces, rest) => ({
    type: "mesh3d", hoverinfo: "skip", ...LIGHT,
    i: faces.map(f => f[0]), j: faces.map(f => f[1]), k: faces.map(f => f[2]), ...rest,
  });
  const arrowTrace = (colour, count, rings) =>
    D === 2 ? filled(colour, 2.5, colour) : mesh(ringFaces(count, rings), { color: colour });
  const flatDot = { size: 9, color: "#fff", line: { color: "#1769aa", width: 2.5 } };
  const dots = { mode: "lines+markers", marker: D === 2 ? flatDot : { size: 3.5, color: "#1f2933" } };

  const layers = [   // everything that moves: a trace, and a function of its coordinates in frame i
    { name: "ground", trace: filled("#7b8794", 2, "rgba(123, 135, 148, 0.15)"), at: polylines(data.ground) },
    { name: "trail", trace: line("#e8890c", D === 2 ? 2 : 4, { opacity: 0.75 }), at: trail },
    { name: "outlines", trace: filled("#1769aa", 2, "rgba(23, 105, 170, 0.2)"), at: polylines(data.outlines) },
    { name: "lines", trace: line(D === 2 ? "#1769aa" : "#52606d", D === 2 ? 6 : 5, dots), at: polylines(data.lines) },
  ];
  if (data.solids.length) {
    let first = 0;
    const faces = [], colours = [];
    for (const solid of data.solids) {
      for (const face of solid.faces) faces.push(face.map(v => first + v)), colours.push(solid.colour);
      first += solid.vertices.length;
    }
    layers.push({ name: "bodies", trace: mesh(faces, { facecolor: colours }), at: solids });
    layers.push({ name: "edges", trace: line("#243b53", 2), at: edges });
    $("bodies").value = data.glass ? "0.2" : "1";
  } else $("bodies").parentElement.hidden = true;
  const arrowLayers = [["force", "#c2255c"], ["reaction", "#2b8a3e"]].map(([kind, colour]) => {
    const count = data.arrows.kinds.filter(k => k === kind).length;
    return { name: kind, count, trace: arrowTrace(colour, count, 3), at: arrowsOf(kind) };
  });
  const momentTrace = arrowTrace("#862e9c", data.moments.count, STEPS + 2);
  arrowLayers.push({ name: "moment", count: data.moments.count, trace: momentTrace, at: arcs });
  for (const layer of arrowLayers) {
    if (layer.count) layers.push(layer);
    else document.querySelectorAll(`[data-of=${layer.name}]`).forEach(e => { e.hidden = true; });
  }
  for (const { name, trace } of layers) trace.name = name;
  $("scale").textContent = data.note;

  const axis = k => ({
    title: { text: `${"xyz"[k]} [m]`, font: FONT }, tickfont: FONT,
    range: [data.low[k], data.high[k]], gridcolor: GRID, zerolinecolor: ZERO,
  });
  const layout = {
    margin: { l: 56, r: 14, t: 14, b: 44 }, showlegend: false, font: FONT,
    paper_bgcolor: "#fff", plot_bgcolor: "#fff", hovermode: false, datarevision: 0,
  };
  if (D === 2) {
    layout.xaxis = { ...axis(0), nticks: 9 };
    layout.yaxis = { ...axis(1), scaleanchor: "x", scaleratio: 1, nticks: 9 };
    layout.dragmode = "pan";
  } else {
    const backgrounds = k => ({ showbackground: k === 2, backgroundcolor: "#f0f3f6" });
    const wall = k => ({ ...axis(k), ...backgrounds(k), nticks: 6, showspikes: false });
    const room = data.high.map((h, k) => h - data.low[k]);
    const [x, y, z] = room.map(r => 1.3 * r / Math.hypot(...room));   // to scale, and of constant size on the screen
    layout.margin = { l: 0, r: 0, t: 0, b: 0 };
    layout.scene = {
      hovermode: false, xaxis: wall(0), yaxis: wall(1), zaxis: wall(2), aspectmode: "manual", aspectratio: { x, y, z },
      camera: { eye: { x: 1.0, y: -1.3, z: 0.55 }, center: { x: 0, y: 0, z: -0.05 } },
    };
  }
  const config = {
    displaylogo: false, scrollZoom: true, plotlyServerURL: "",
    modeBarButtonsToRemove: ["sendChartToCloud", "select2d", "lasso2d", "autoScale2d", "toImage"],
  };
  const traces = layers.map(l => l.trace);
  let drawn = NaN, busy = false;   // the frame on the stage (NaN: it must be redrawn), and whether one is being drawn

  function draw(i) {
    for (const { trace, at } of layers) at(i).forEach((column, k) => { trace[AXES[k]] = column; });
    for (const { trace, name, count } of layers) {
      if (count) trace.visible = $(name).checked;
      if (name === "bodies") trace.opacity = Number($("bodies").value);
    }
    drawn = i;
    busy = true;
    layout.datarevision += 1;
    return Plotly.react($("stage"), traces, layout, config).then(() => {
      busy = false;
      $("stage").dataset.frame = i;
    });
  }

  // --- the signals: one panel per unit, and for each curve a chip with its current value ---------------------------

  const shown = new Set(data.chosen);
  const SIDE = { l: 62, r: 14, t: 12, b: 46 };

  // the range of a panel whose curves are constant except for rounding; otherwise plotly finds the range
  function constantRange(panel) {
    let low = Infinity, high = -Infinity;
    for (const value of panel.flatMap(signal => [...signal.values]).filter(Number.isFinite)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const span = data.minSpan * Math.max(Math.abs(low), Math.abs(high));
    if (!(high - low < span && Number.isFinite(span))) return {};
    return { range: [(low + high - span) / 2, (low + high + span) / 2] };
  }

  function plotSignals() {
    const curves = [...shown].map(name => signals.get(name)), units = [...new Set(curves.map(curve => curve.unit))];
    const gap = 0.06, height = units.length ? (1 + gap) / units.length - gap : 1;
    const panels = {
      margin: SIDE, showlegend: false, font: FONT, hovermode: "x unified", paper_bgcolor: "#fff", plot_bgcolor: "#fff",
      xaxis: {
        title: { text: "time [s]", font: FONT, standoff: 4 }, anchor: `y${Math.max(units.length, 1)}`,
        range: [T[0], END], zeroline: false, gridcolor: GRID,
      },
    };
    units.forEach((unit, n) => {
      const top = 1 - n * (height + gap);
      panels[`yaxis${n + 1}`] = {
        title: { text: `[${unit || "1"}]`, font: FONT }, domain: [Math.max(0, top - height), top], nticks: 6,
        gridcolor: GRID, zerolinecolor: ZERO, ...constantRange(curves.filter(curve => curve.unit === unit)),
      };
    });
    const colour = n => COLOURS[n % COLOURS.length];
    $("chips").replaceChildren(...curves.map((curve, n) => chip(curve.name, colour(n))));
    showValues(frameAt(time));
    $("curves").style.minHeight = `${60 + 120 * Math.max(1, units.length)}px`;
    const plotted = curves.map(({ name, values, unit }, n) => ({
      type: "scatter", mode: "lines", name, x: T, y: values, yaxis: `y${units.indexOf(unit) + 1}`,
      line: { color: colour(n), width: 1.6, simplify: false },
    }));
    return Plotly.react($("plots"), plotted, panels, { displaylogo: false, displayModeBar: false });
  }

  function chip(name, colour) {
    const [item, dash, value, close] = ["li", "i", "b", "button"].map(tag => document.createElement(tag));
    dash.style.background = colour;
    value.dataset.name = name;
    close.textContent = "×";
    close.title = close.ariaLabel = `hide ${name}`;
    close.onclick = () => { shown.delete(name); plotSignals(); };
    item.append(dash, name, value, close);
    return item;
  }

  function showValues(i) {
    for (const value of $("chips").querySelectorAll("b")) {
      const signal = signals.get(value.dataset.name);
      value.textContent = `${Number(signal.values[i].toPrecision(4))} ${signal.unit}`;
    }
  }

  // --- time ----------------------------------------------------------------------------------------------------------

  let time = T[0], playing = false, previous = 0, shownTime = NaN;   // shownTime: NaN when it must be shown again

  function frameAt(t) {   // the last frame that is not after t
    let low = 0, high = T.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (T[middle] <= t + 1e-9) low = middle; else high = middle - 1;
    }
    return low;
  }

  function showTime() {
    shownTime = time;
    $("time").textContent = `t = ${time.toFixed(2)} s of ${Number(END.toPrecision(4))} s`;
    $("scrub").value = time;
    showValues(frameAt(time));
    const [from, to] = $("plots").layout.xaxis.range, part = (time - from) / (to - from);
    $("cursor").hidden = !(part >= 0 && part <= 1);
    $("cursor").style.left = `${SIDE.l + part * ($("plots").clientWidth - SIDE.l - SIDE.r)}px`;
  }

  function tick(now) {
    if (playing && now > heldUntil) {
      time += (now - previous) / 1000 * Number($("speed").value);
      if (time >= END) {
        playing = $("repeat").checked;
        time = playing ? T[0] : END;
        showButton();
      }
    }
    previous = now;
    if (!busy && now > heldUntil && frameAt(time) !== drawn) draw(frameAt(time));
    if (time !== shownTime) showTime();
    requestAnimationFrame(tick);
  }

  const seek = t => { time = Math.min(END, Math.max(T[0], t)); };

  function showButton() {
    $("play").setAttribute("aria-label", playing ? "pause" : "play");
    $("play").querySelector("path").setAttribute("d", playing ? "M6 4h4v16H6zM14 4h4v16h-4z" : "M8 4.5v15l12-7.5z");
  }

  function toggle() {
    if (!playing && time >= END) time = T[0];
    playing = !playing;
    showButton();
  }

  // no frame is drawn while the view is being turned, moved or zoomed: it would reset the view
  let heldUntil = 0;
  const hold = seconds => { heldUntil = performance.now() + 1000 * seconds; };
  $("stage").addEventListener("pointerdown", () => hold(Infinity), true);
  $("stage").addEventListener("wheel", () => hold(0.3), { capture: true, passive: true });
  const release = () => { if (heldUntil === Infinity) hold(0.1); };
  for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, release, true);

  $("play").onclick = toggle;
  Object.assign($("scrub"), { min: T[0], max: END });
  $("scrub").oninput = () => {
    playing = false;
    showButton();
    seek(Number($("scrub").value));
  };
  for (const id of ["trail", "bodies", "force", "reaction", "moment"]) $(id).onchange = () => { drawn = NaN; };
  const speeds = new Set([0.1, 0.25, 0.5, 1, 2, 5, 10, data.speed]);
  for (const speed of [...speeds].sort((a, b) => a - b))
    $("speed").add(new Option(`${speed} ×`, speed, false, speed === data.speed));
  for (const name of signals.keys()) $("names").append(new Option(name));
  $("add").onchange = () => {
    if (!signals.has($("add").value)) return;
    shown.add($("add").value);
    $("add").value = "";
    plotSignals();
  };
  document.onkeydown = event => {
    const typing = event.target.matches("input:not([type=range]), select, button");
    if (event.key !== " " || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    toggle();
  };

  showButton();
  Promise.all([draw(0), plotSignals()]).then(() => {
    const showAgain = () => { shownTime = NaN; };
    for (const plot of [$("stage"), $("plots")])
      new ResizeObserver(() => { Plotly.Plots.resize(plot); showAgain(); }).observe(plot);
    $("plots").on("plotly_relayout", showAgain);
    $("plots").on("plotly_click", event => seek(event.points[0].x));
    requestAnimationFrame(now => { previous = now; tick(now); });
  });
}
