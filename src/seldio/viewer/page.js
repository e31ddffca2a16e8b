"use strict";
// One clip: a clock, and pictures of what sounds at its time. All texts of the data go through textContent, so
// that none of them can become markup.

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const video = $("video"), audio = $("audio");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// --- classes: a colour and a shape each, so that no one has to tell them by colour ---------------------------

const COLOURS = data.colours; // those of all pictures
const SHAPES = 4; // circle, square, triangle, diamond

const classes = new Map(); // name -> {name, colour, shape}, labelled ones first, each side by its numbers
for (const side of data.sides) {
  const named = side.events.map((event) => [event.n ?? 1e9, event.c]);
  for (const [number, name] of named.sort((a, b) => a[0] - b[0])) {
    if (classes.has(name)) continue;
    const index = number < 1e9 ? number : classes.size;
    classes.set(name, { name, colour: COLOURS[index % COLOURS.length], shape: index % SHAPES });
  }
}

/** The outline of a class's marker around (x, y), as a path. */
function marker(shape, x, y, r) {
  const path = new Path2D();
  if (shape === 0) path.arc(x, y, r, 0, 2 * Math.PI);
  else {
    const turns = [[], [-135, -45, 45, 135], [-90, 30, 150], [-90, 0, 90, 180]][shape];
    const reach = r * [1, 1.2, 1.35, 1.3][shape];
    turns.forEach((turn, i) => {
      const [px, py] = [x + reach * Math.cos(turn * Math.PI / 180), y + reach * Math.sin(turn * Math.PI / 180)];
      i ? path.lineTo(px, py) : path.moveTo(px, py);
    });
    path.closePath();
  }
  return path;
}

// --- small helpers -------------------------------------------------------------------------------------------

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  if (name) made.className = name;
  return made;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function clockText(seconds) {
  const tenths = Math.floor(seconds * 10 + 1e-6);
  return `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
}

/** A direction in words and numbers. */
function told(place) {
  const parts = [];
  if (place.a !== null) {
    const side = Math.abs(place.a) < 0.5 ? "front" : Math.abs(place.a) > 179.5 ? "back" : place.a > 0 ? "left" : "right";
    parts.push(`${Math.abs(Math.round(place.a))}° ${side}`);
  }
  if (place.e !== null) parts.push(`${Math.abs(Math.round(place.e))}° ${place.e < 0 ? "down" : "up"}`);
  if (place.d !== null) parts.push(`${place.d.toFixed(1)}\u00a0m`);
  return parts.join(" · ");
}

/** Colours of the style sheet, for canvases; read anew when the scheme changes. */
let ink = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "panel", "ink", "soft", "line", "grid", "halo", "accent", "error", "warning", "info", "good"])
    ink[name] = style.getPropertyValue(`--${name}`).trim();
}

/** A canvas made as sharp as the screen; its context counts in CSS pixels. */
function sharpened(canvas, height) {
  const ratio = window.devicePixelRatio || 1;
  if (height) canvas.style.height = `${height}px`;
  const [w, h] = [canvas.clientWidth, height || canvas.clientHeight];
  const [wide, high] = [Math.round(w * ratio), Math.round(h * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, w, h);
  return { context, w, h };
}

// --- the clock: the sound's, else the video's, else our own ---------------------------------------------------

const length = data.seconds;
const hop = data.sides[0].hop;
let playing = false, muted = false;
let own = 0, since = 0; // our own clock: where it stood, and when that was
let showPredictions = true, zoom = 0;
const master = audio || video;
let broken = !master; // without media, or where they cannot be played, our own clock runs on

function now() {
  if (playing && own >= 0 && since) return clamp(own + (performance.now() - since) / 1000, 0, length);
  return clamp(own, 0, length);
}

/** The time shown. The player is asked while it plays; behind its end our own clock goes on. */
function time() {
  if (!broken && playing && !master.paused && !master.ended && master.readyState > 1) {
    own = master.currentTime;
    since = performance.now();
  }
  return now();
}

function seek(to) {
  own = clamp(to, 0, length);
  since = playing ? performance.now() : 0;
  for (const player of [audio, video]) {
    if (player && player.readyState > 0) player.currentTime = Math.min(own, player.duration || own);
  }
  if (playing) start();
  draw();
}

function start() {
  for (const player of [audio, video]) {
    // a player whose end is behind us stays as it is
    if (player && player.readyState > 0 && own < (player.duration || 0) - 0.01) player.play().catch(() => {});
  }
}

function play(on) {
  if (on && now() >= length - 0.05) own = 0;
  own = time();
  playing = on;
  since = on ? performance.now() : 0;
  if (!on) [audio, video].forEach((player) => player && player.pause());
  seek(own);
  controls();
  if (on) requestAnimationFrame(tick);
}

let drawn = -1;
function tick() {
  if (!playing) return;
  const t = time();
  if (audio && video && !video.seeking && Math.abs(video.currentTime - t) > 0.15 && t < video.duration) video.currentTime = t;
  if (t >= length - 1e-3) { play(false); seek(length); return; }
  // labels change once a frame only; those who ask for little motion get a slower playhead as well
  const step = calm.matches ? Math.floor(t / hop + 1e-6) : t;
  if (step !== drawn) draw();
  drawn = step;
  requestAnimationFrame(tick);
}

for (const player of [audio, video]) {
  if (!player) continue;
  if (audio && player === video) player.muted = true; // the sound is the recording's
  player.addEventListener("loadedmetadata", () => own && seek(own));
  player.addEventListener("seeked", () => playing || draw());
  player.addEventListener("error", () => {
    if (player === master) broken = true;
    $("media").append(element("p", "The browser cannot play the media; the clock runs without them."));
  });
}

// --- what sounds when -----------------------------------------------------------------------------------------

const sides = data.sides.map((side) => ({
  hop: side.hop,
  events: side.events.map((event) => ({ ...event, t: event.f * side.hop, end: (event.f + event.k) * side.hop })),
}));

/** The number of an event's source, where it has one. */
const named = (event) => (event.s === undefined || event.s === null ? "" : ` · source\u00a0${event.s}`);

/** Where an event is at its frame number i. */
const placed = (event, i) => ({ a: event.a?.[i] ?? null, e: event.e?.[i] ?? null, d: event.d?.[i] ?? null });

/** The events of a side at a time, with their frame numbers. */
function active(side, t) {
  const frame = Math.floor(t / side.hop + 1e-6);
  return side.events.filter((event) => event.f <= frame && frame < event.f + event.k)
    .map((event) => ({ event, i: frame - event.f, ...placed(event, frame - event.f) }));
}

// --- right, wrong, missed: whether the other side has the class of an event near its place at its time ---------------

const NEAR = 20; // degrees, the limit of the official programs

/** The stretches of an event, in seconds, in which the other side has it or has it not. */
function stretches(event, side, other, places) {
  const runs = [];
  for (let i = 0; i < event.k; i++) {
    const place = placed(event, i), t = (event.f + i) * side.hop;
    const there = places.get(event.c)?.get(Math.floor(t / other.hop + 1e-6)) ?? [];
    const met = there.some((each) => each.a === null || place.a === null || apart(each, place) <= NEAR);
    if (runs.at(-1)?.met === met) runs.at(-1).end = t + side.hop;
    else runs.push({ t, end: t + side.hop, met });
  }
  return runs;
}

/** The places of a side by class and frame. */
function placesOf(side) {
  const places = new Map();
  for (const event of side.events) {
    if (!places.has(event.c)) places.set(event.c, new Map());
    const frames = places.get(event.c);
    for (let i = 0; i < event.k; i++) frames.set(event.f + i, [...(frames.get(event.f + i) ?? []), placed(event, i)]);
  }
  return places;
}

if (sides[1]) {
  for (const [side, other] of [sides, [...sides].reverse()]) {
    const places = placesOf(other);
    for (const event of side.events) event.runs = stretches(event, side, other, places);
  }
}

/** What comes of an event at a time, in a word; none where there are no predictions to compare. */
function verdict(event, predicted, t) {
  const run = event.runs?.find((each) => t < each.end - 1e-6);
  if (!run) return "";
  return predicted ? (run.met ? "right" : "wrong") : run.met ? "" : "missed";
}

/** The events of all sides that are shown at a time. */
const audible = (t) => sides.flatMap((side, number) =>
  number && !showPredictions ? [] : active(side, t).map((one) => ({ one, predicted: number === 1 })));

// --- panorama ---------------------------------------------------------------------------------------------------

const panorama = $("panorama"), over = Boolean(video && data.panorama);
$("screen").classList.toggle("over", over);

function drawPanorama(t) {
  const { context: c, w, h } = sharpened(panorama);
  const X = (a) => (180 - a) / 360 * w, Y = (e) => (90 - (e ?? 0)) / 180 * h;
  drawGrid(c, w, h, X, Y);
  // without a direction, a source is in the timeline and the list only
  const found = audible(t).filter(({ one }) => one.a !== null);
  drawHeard(c, w, X, Y, t, found.filter(({ predicted }) => !predicted).map(({ one }) => one));
  for (const { one } of found) drawMap(c, w, h, one);
  for (const { one, predicted } of found) drawSource(c, w, X, Y, one, predicted);
  const taken = []; // names come last, above all markers
  for (const { one, predicted } of found) nameSource(c, w, h, X(one.a), Y(one.e), one, predicted, taken, verdict(one.event, predicted, t));
}

function drawGrid(c, w, h, X, Y) {
  if (!over) { c.fillStyle = ink.panel; c.fillRect(0, 0, w, h); }
  c.lineWidth = 1;
  for (let a = -180; a <= 180; a += 30) {
    c.strokeStyle = over ? "#ffffff40" : a % 90 ? ink.grid : ink.line;
    c.beginPath(); c.moveTo(X(a), 0); c.lineTo(X(a), h); c.stroke();
  }
  for (let e = -60; e <= 60; e += 30) {
    c.strokeStyle = over ? "#ffffff40" : e ? ink.grid : ink.line;
    c.beginPath(); c.moveTo(0, Y(e)); c.lineTo(w, Y(e)); c.stroke();
  }
  c.font = `${w < 500 ? 10 : 12}px system-ui, sans-serif`;
  c.textBaseline = "bottom";
  const names = w < 500 ? [[180, "back"], [90, "left"], [0, "front"], [-90, "right"], [-180, "back"]]
    : [[180, "180° back"], [90, "90° left"], [0, "0° front"], [-90, "90° right"], [-180, "180° back"]];
  for (const [a, name] of names) {
    c.textAlign = a === 180 ? "left" : a === -180 ? "right" : "center";
    label(c, name, X(a) + (a === 180 ? 4 : a === -180 ? -4 : 0), h - 3, ink.soft);
  }
}

/** Text that is readable on any picture. */
function label(c, text, x, y, colour) {
  c.lineJoin = "round";
  c.lineWidth = 3.5;
  c.strokeStyle = over ? "#000c" : ink.panel;
  c.strokeText(text, x, y);
  c.fillStyle = over ? "#fff" : colour;
  c.fillText(text, x, y);
}

/** The energy map of a source, 100 x 50 pixels from azimuth +180 and elevation +90: what is strong is opaque. */
function drawMap(c, w, h, one) {
  const map = one.event.m?.[one.i];
  if (!map) return;
  const [left, top, wide, levels] = map, [dx, dy] = [w / 100, h / 50];
  c.fillStyle = classes.get(one.event.c).colour;
  for (let n = 0; n < levels.length; n++) {
    const level = parseInt(levels[n], 16);
    if (!level) continue;
    c.globalAlpha = 0.6 * level / 15;
    // a pixel is around its point, and those at the edge are on both sides of it
    const column = (left + n % wide) % 100, y = (top + Math.floor(n / wide) - 0.5) * dy;
    for (const x of column ? [column] : [0, 100]) c.fillRect((x - 0.5) * dx, y, dx + 0.3, dy + 0.3);
  }
  c.globalAlpha = 1;
}

/** The size of a marker: nearer is larger. */
const radius = (w, d) => (w < 500 ? 0.75 : 1) * (d === null ? 9 : clamp(14 / Math.sqrt(Math.max(d, 0.1)), 5, 18));

function drawSource(c, w, X, Y, one, predicted) {
  const style = classes.get(one.event.c), r = radius(w, one.d);
  drawTrail(c, w, X, Y, one, style, predicted);
  const y = Y(one.e);
  for (const shift of [-w, 0, w]) { // markers at the edge are on both sides of it
    const x = X(one.a) + shift;
    if (x < -r - 4 || x > w + r + 4) continue;
    const path = marker(style.shape, x, y, predicted ? r + 5 : r);
    c.setLineDash(predicted ? [5, 3] : []);
    c.lineWidth = predicted ? 5 : 4;
    c.strokeStyle = over ? (predicted ? "#fffc" : "#000c") : predicted ? ink.halo : ink.panel;
    c.stroke(path);
    if (predicted) { c.lineWidth = 2.5; c.strokeStyle = style.colour; c.stroke(path); }
    else { c.fillStyle = style.colour; c.fill(path); c.lineWidth = 1.5; c.strokeStyle = over ? "#fff" : ink.ink; c.stroke(path); }
    c.setLineDash([]);
  }
}

/** Where the recording is heard at a time, if it was compared with the labels: a cross, and a line to the nearest label. */
function drawHeard(c, w, X, Y, t, ones) {
  const place = heardAt(t);
  if (!place) return;
  const x = X(place.a), y = Y(place.e), arm = w < 500 ? 6 : 9;
  const near = ones.map((one) => ({ one, off: apart(one, place) })).sort((p, q) => p.off - q.off)[0];
  c.beginPath();
  if (near && Math.abs(near.one.a - place.a) < 180) { c.moveTo(x, y); c.lineTo(X(near.one.a), Y(near.one.e)); }
  c.moveTo(x - arm, y - arm); c.lineTo(x + arm, y + arm);
  c.moveTo(x - arm, y + arm); c.lineTo(x + arm, y - arm);
  for (const [wide, colour] of [[5, over ? "#000c" : ink.panel], [2, over ? "#fff" : ink.ink]]) {
    c.lineWidth = wide;
    c.strokeStyle = colour;
    c.stroke();
  }
}

/** The direction that is heard at a time, null where there is none. */
function heardAt(t) {
  const i = data.heard ? Math.floor(t / data.heard.hop + 1e-6) : -1, a = data.heard?.a[i];
  return a === undefined || a === null ? null : { a, e: data.heard.e[i], d: null };
}

/** Degrees between two directions. */
function apart(one, other) {
  const [p, q] = [one.e ?? 0, other.e ?? 0].map((e) => e * Math.PI / 180), turn = (one.a - other.a) * Math.PI / 180;
  return Math.acos(clamp(Math.sin(p) * Math.sin(q) + Math.cos(p) * Math.cos(q) * Math.cos(turn), -1, 1)) * 180 / Math.PI;
}

/** The way of the last second, cut where it goes around the back. */
function drawTrail(c, w, X, Y, one, style, predicted) {
  c.beginPath();
  let last = null;
  for (let i = Math.max(0, one.i - Math.round(1 / hop)); i <= one.i; i++) {
    const at = placed(one.event, i);
    if (at.a === null) { last = null; continue; }
    const go = last !== null && Math.abs(at.a - last) < 180 ? "lineTo" : "moveTo";
    c[go](X(at.a), Y(at.e));
    last = at.a;
  }
  for (const [wide, colour] of [[4.5, over ? "#fffc" : ink.halo], [2.5, style.colour]]) {
    c.setLineDash(predicted ? [4, 4] : []);
    c.lineWidth = wide;
    c.strokeStyle = colour;
    c.stroke();
  }
  c.setLineDash([]);
}

/** A name beside its marker, where no other name stands yet. */
function nameSource(c, w, h, x, y, one, predicted, taken, judged) {
  const gap = radius(w, one.d) + (predicted ? 9 : 4);
  const size = w < 500 ? 11 : 13;
  c.font = `${predicted ? "italic " : ""}${size}px system-ui, sans-serif`;
  c.textBaseline = "middle";
  c.textAlign = "left";
  const name = one.event.c.length > 28 ? `${one.event.c.slice(0, 27)}…` : one.event.c;
  const text = `${one.d === null || predicted ? name : `${name} ${one.d.toFixed(1)} m`}${{ right: " ✓", wrong: " ✗", missed: " (missed)" }[judged] ?? ""}`;
  const wide = c.measureText(text).width, high = size + 3;
  const right = x + gap + 2, left = x - gap - 2 - wide, middle = clamp(x - wide / 2, 2, w - wide - 2);
  const tries = [[right, y], [left, y], [middle, y - gap - high / 2], [middle, y + gap + high / 2],
    [right, y - high], [right, y + high], [left, y - high], [left, y + high], [middle, y + gap + 1.5 * high], [middle, y - gap - 1.5 * high]];
  const fits = ([a, b]) => a >= 2 && a + wide <= w - 2 && b - high / 2 >= 0 && b + high / 2 <= h
    && taken.every((t) => a > t.a + t.w || t.a > a + wide || Math.abs(b - t.b) >= high);
  const [a, b] = tries.find(fits) || [clamp(right, 2, Math.max(2, w - wide - 2)), clamp(y, high / 2, h - high / 2)];
  taken.push({ a, b, w: wide });
  label(c, text, a, b, ink.ink);
}

// --- seen from above ------------------------------------------------------------------------------------------------

function drawCompass(t) {
  const { context: c, w, h } = sharpened($("compass"));
  const [x, y, reach] = [w / 2, h / 2, Math.max(0, Math.min(w, h) / 2 - 12)];
  c.strokeStyle = ink.line;
  c.lineWidth = 1;
  for (const part of [1, 0.5]) { c.beginPath(); c.arc(x, y, reach * part, 0, 2 * Math.PI); c.stroke(); }
  c.fillStyle = ink.soft;
  c.font = "10px system-ui, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  for (const [name, dx, dy] of [["front", 0, -1], ["back", 0, 1]]) c.fillText(name, x + dx * (reach + 4), y + dy * (reach + 7));
  c.fillText("L", x - reach - 7, y);
  c.fillText("R", x + reach + 7, y);
  c.beginPath(); c.arc(x, y, 2, 0, 2 * Math.PI); c.fill();
  for (const { one, predicted } of audible(t)) {
    if (one.a === null) continue;
    const far = one.d === null ? 0.85 : clamp(one.d / farthest, 0.08, 1);
    const flat = one.d === null ? 1 : Math.cos((one.e ?? 0) * Math.PI / 180); // distance along the floor
    const turn = one.a * Math.PI / 180, style = classes.get(one.event.c);
    const path = marker(style.shape, x - reach * far * flat * Math.sin(turn), y - reach * far * flat * Math.cos(turn), 5);
    if (predicted) { c.strokeStyle = ink.halo; c.lineWidth = 3.5; c.stroke(path); c.strokeStyle = style.colour; c.lineWidth = 2; c.setLineDash([3, 2]); c.stroke(path); c.setLineDash([]); }
    else { c.fillStyle = style.colour; c.fill(path); c.strokeStyle = ink.ink; c.lineWidth = 1; c.stroke(path); }
  }
}
const distances = sides.flatMap((side) => side.events.flatMap((event) => event.d || [])).filter((d) => d !== null);
const farthest = distances.reduce((most, d) => Math.max(most, d), 1);

// --- timeline -------------------------------------------------------------------------------------------------------

const timeline = $("timeline");
const BAR = 10, GAP = 4, AXIS = 20, MARKS = 16;
// Every class is a row; in it each source that overlaps another gets a lane, predictions below the labels.
const rows = [...classes.values()].map((style) => {
  let lane = 0;
  const spans = [];
  sides.forEach((side, number) => {
    const ends = [];
    for (const event of side.events.filter((each) => each.c === style.name).sort((a, b) => a.t - b.t)) {
      let free = ends.findIndex((end) => end <= event.t + 1e-9);
      if (free < 0) free = ends.push(0) - 1;
      ends[free] = event.end;
      spans.push({ event, predicted: number === 1, lane: lane + free });
    }
    lane += ends.length;
  });
  return { style, spans, lanes: lane };
});
for (const finding of data.findings) { // start and end of each stretch
  finding.spans = [];
  for (let i = 0; i < finding.s.length; i += 2) finding.spans.push([finding.s[i], finding.s[i + 1]]);
}
const SPANS = [0, 60, 20, 5]; // seconds that the timeline shows; 0: all

/** The part of the clip that the timeline shows; it follows the playhead. */
function range(t) {
  const wide = SPANS[zoom] ? Math.min(SPANS[zoom], length) : length;
  const from = clamp(t - wide / 2, 0, length - wide);
  return { from, wide };
}

function layout() {
  const narrow = timeline.clientWidth < 500;
  const size = (row) => (narrow ? 15 : 0) + Math.max(row.lanes * (BAR + GAP), narrow ? 0 : 15) + 7;
  let y = MARKS + 4;
  for (const row of rows) { row.y = y; row.size = size(row); y += row.size; }
  const left = narrow ? 6 : Math.min(190, timeline.clientWidth * 0.24);
  return { narrow, left, right: timeline.clientWidth - 8, bottom: y, height: y + AXIS };
}

function drawTimeline(t) {
  const at = layout(), { from, wide } = range(t);
  const { context: c } = sharpened(timeline, at.height);
  const X = (s) => at.left + (s - from) / wide * (at.right - at.left);
  drawAxis(c, at, X, from, wide);
  rows.forEach((row) => drawRow(c, row, at, X));
  for (const finding of data.findings) drawFinding(c, finding, at, X, from, from + wide);
  c.fillStyle = ink.ink;
  c.fillRect(X(t) - 1, 0, 2, at.bottom);
}

/** All moments of a finding: a band where they are, and signs on it as far as there is room for them. */
function drawFinding(c, finding, at, X, from, to) {
  c.fillStyle = ink[finding.severity];
  let edge = -Infinity, sign = -Infinity;
  for (const [start, end] of finding.spans) {
    if (end < from || start > to) continue;
    const x = X(Math.max(start, from)), right = Math.max(X(Math.min(end, to)), x + 1.5);
    if (right > edge) c.fillRect(Math.max(x, edge), 4, right - Math.max(x, edge), 5);
    edge = Math.max(edge, right);
    if (start < from || x - sign < 12) continue;
    sign = x;
    c.fill(new Path2D(`M${x - 5} 3h10l-5 10z`));
    c.globalAlpha = 0.45; // many lines must not hide the events
    c.fillRect(x - 0.5, 8, 1, at.bottom - 8);
    c.globalAlpha = 1;
  }
}

function drawAxis(c, at, X, from, wide) {
  const room = (at.right - at.left) / 62; // as many numbers as have room
  const step = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800].find((each) => wide / each <= room) || 3600;
  c.font = "11px system-ui, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "top";
  for (let s = Math.ceil(from / step) * step; s <= from + wide + 1e-6; s += step) {
    c.fillStyle = ink.grid;
    c.fillRect(Math.round(X(s)), MARKS, 1, at.bottom - MARKS);
    c.fillStyle = ink.soft;
    const text = clockText(s).replace(/\.0$/, "");
    c.fillText(text, clamp(X(s), at.left + (at.narrow ? 12 : 0), at.right - 12), at.bottom + 4);
  }
}

function drawRow(c, row, at, X) {
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.font = "12px system-ui, sans-serif";
  const top = row.y + (at.narrow ? 15 : 0), middle = at.narrow ? row.y + 8 : row.y + Math.max(row.lanes * (BAR + GAP), 15) / 2;
  c.save();
  c.beginPath();
  c.rect(at.left, 0, at.right - at.left, at.bottom);
  c.clip();
  for (const { event, predicted, lane } of row.spans) {
    if (predicted && !showPredictions) continue;
    const x = X(event.t), wide = Math.max(X(event.end) - x, 2), y = top + lane * (BAR + GAP);
    c.beginPath();
    c.roundRect(predicted ? x + 0.75 : x, predicted ? y + 0.75 : y, Math.max(wide - (predicted ? 1.5 : 0), 1), predicted ? BAR - 1.5 : BAR, 3);
    c.strokeStyle = ink.halo; // dark colours on a dark ground need a rim
    c.lineWidth = predicted ? 2.75 : 2;
    c.stroke();
    if (predicted) { c.strokeStyle = row.style.colour; c.lineWidth = 1.75; c.stroke(); }
    else { c.fillStyle = row.style.colour; c.fill(); }
    for (const run of event.runs ?? []) {
      if (!predicted && run.met) continue;
      c.fillStyle = predicted ? (run.met ? ink.good : ink.error) : ink.warning;
      c.fillRect(X(run.t), predicted ? y + 3 : y + BAR - 3, Math.max(X(run.end) - X(run.t), 1), predicted ? BAR - 6 : 3);
    }
  }
  c.restore();
  const path = marker(row.style.shape, 12, middle, 5);
  c.strokeStyle = ink.halo;
  c.lineWidth = 2;
  c.stroke(path);
  c.fillStyle = row.style.colour;
  c.fill(path);
  c.fillStyle = ink.ink;
  c.fillText(shortened(c, row.style.name, at.narrow ? at.right - 26 : at.left - 30), 22, middle);
}

function shortened(c, text, room) {
  if (c.measureText(text).width <= room) return text;
  let cut = text.length;
  while (cut > 1 && c.measureText(`${text.slice(0, cut)}…`).width > room) cut--;
  return `${text.slice(0, cut)}…`;
}

/** The time under a pointer, and what is there to be told of. */
function under(pointer) {
  const box = timeline.getBoundingClientRect(), at = layout(), { from, wide } = range(time());
  const [x, y] = [pointer.clientX - box.left, pointer.clientY - box.top];
  const t = from + (x - at.left) / (at.right - at.left) * wide, near = 6 / (at.right - at.left) * wide;
  const found = y < MARKS + 4 ? data.findings.filter((finding) => finding.spans.some(([start, end]) => start - near < t && t < end + near)) : [];
  if (found.length) {
    const more = found.length > 3 ? `\n… ${found.length - 3} more` : "";
    const [start, end] = found[0].spans.find(([a, b]) => a - near < t && t < b + near);
    return { t: clamp(t, start, Math.max(start, end - hop)), tip: found.slice(0, 3).map((each) => `${each.code} ${each.message}`).join("\n") + more };
  }
  const row = rows.find((each) => y >= each.y && y < each.y + each.size);
  const lane = row ? Math.floor((y - row.y - (at.narrow ? 15 : 0)) / (BAR + GAP)) : -1;
  const span = row?.spans.find((each) => each.lane === lane && each.event.t <= t && t < each.event.end && (showPredictions || !each.predicted));
  if (!span) return { t, tip: row && x < at.left && !at.narrow ? row.style.name : "" };
  const { event } = span, place = told(placed(event, clamp(Math.floor((t - event.t) / (event.end - event.t) * event.k), 0, event.k - 1)));
  const judged = [span.predicted ? "predicted" : "", verdict(event, span.predicted, t)].filter(Boolean).join(", ");
  const who = `${event.c}${named(event)}${judged ? ` (${judged})` : ""}`;
  return { t, tip: `${who}\n${clockText(event.t)} – ${clockText(event.end)}${place ? `\n${place}` : ""}` };
}

function tip(text, pointer) {
  const box = $("tip");
  box.hidden = !text;
  if (!text) return;
  box.textContent = text;
  box.style.left = `${clamp(pointer.clientX + 12, 4, innerWidth - box.offsetWidth - 4)}px`;
  box.style.top = `${clamp(pointer.clientY + 16, 4, innerHeight - box.offsetHeight - 4)}px`;
}

let dragging = false;
timeline.addEventListener("pointerdown", (pointer) => {
  dragging = zoom === 0; // zoomed in, the picture moves under the pointer: one jump is enough
  if (dragging) timeline.setPointerCapture(pointer.pointerId);
  seek(under(pointer).t);
});
timeline.addEventListener("pointermove", (pointer) => {
  const found = under(pointer);
  if (dragging) seek(found.t);
  tip(found.tip, pointer);
});
timeline.addEventListener("pointerup", () => { dragging = false; });
timeline.addEventListener("pointercancel", () => { dragging = false; });
timeline.addEventListener("pointerleave", () => tip(""));

// --- lists ----------------------------------------------------------------------------------------------------------

/** A button that jumps to a time. */
function jump(text, t) {
  const made = element("button", text, "jump");
  made.type = "button";
  made.addEventListener("click", () => seek(t));
  return made;
}

function sign(style, predicted) {
  const canvas = element("canvas", null, "sign");
  canvas.width = canvas.height = 32;
  canvas.setAttribute("aria-hidden", "true");
  const c = canvas.getContext("2d"), path = marker(style.shape, 16, 16, 10);
  c.fillStyle = c.strokeStyle = style.colour;
  c.lineWidth = 5;
  predicted ? c.stroke(path) : c.fill(path);
  return canvas;
}

let listed = "";
function drawActive(t) {
  const lines = audible(t).map(({ one, predicted }) => [one.event, predicted, [verdict(one.event, predicted, t), told(one)].filter(Boolean).join(" · ")]);
  const place = heardAt(t), ones = place ? active(sides[0], t).filter((one) => one.a !== null) : [];
  const off = ones.length ? `, ${Math.round(Math.min(...ones.map((one) => apart(one, place))))}° from ${ones.length > 1 ? "the nearest" : "its"} label` : "";
  const sounds = data.heard ? place ? `${told(place)}${off}` : "no clear direction" : null;
  const key = JSON.stringify([sounds, ...lines.map(([event, predicted, where]) => [event.c, event.s, predicted, where])]);
  if (key === listed) return; // the list is left alone between frames, for those who have it read out
  listed = key;
  const items = lines.map(([event, predicted, place]) => {
    const item = element("li", null, predicted ? "predicted" : "");
    const where = place || "no direction";
    item.append(sign(classes.get(event.c), predicted), event.c, element("span", named(event), "task"), element("small", predicted ? `predicted · ${where}` : where));
    return item;
  });
  if (!items.length) items.push(element("li", "silence", "hint"));
  if (sounds) {
    const item = element("li", "heard", "hint");
    item.append(element("small", sounds));
    items.push(item);
  }
  $("active").replaceChildren(...items);
}

/** How many findings there are, and at how many places. */
function counted(none) {
  const places = data.findings.reduce((sum, finding) => sum + finding.count, 0), count = data.findings.length;
  return count ? plural(count, "finding") + (places > count ? ` at ${plural(places, "place")}` : "") : none;
}

/** Where the places of a finding are: lines of its file, and stretches of time. */
function places(finding) {
  if (finding.count < 2) return finding.line ? `, line ${finding.line}` : "";
  const last = finding.spans.reduce((most, [, end]) => Math.max(most, end), 0), many = finding.spans.length;
  const when = many ? `, up to ${clockText(last)}${many > 1 ? ` in ${plural(many, "stretch").replace("stretchs", "stretches")}` : ""}` : "";
  return `, ${plural(finding.count, "place")} from line ${finding.line} on${when}`;
}

function fillFindings() {
  const list = document.querySelector("#findings ul");
  document.querySelector("#findings .remark").textContent = data.held;
  document.querySelector("#findings h2").textContent = counted("No findings");
  for (const finding of data.findings) {
    const item = element("li", null, finding.severity);
    const where = `${finding.side === "sound" ? "labels against sound" : finding.side}${places(finding)}`;
    if (finding.t !== null) item.append(jump(clockText(finding.t), finding.t));
    item.append(element("strong", `${finding.code} `), element("span", `${finding.severity}, ${where}`, "task"), element("p", finding.message, "words"));
    if (finding.hint) item.append(element("p", finding.hint, "hint"));
    list.append(item);
  }
}

function fillQuestions() {
  $("questions").hidden = !data.asked;
  document.querySelector("#questions h2").textContent = plural(data.questions.length, "question");
  document.querySelector("#questions .remark").textContent = data.remark;
  document.querySelector("#questions ol").append(...data.questions.map((each) => {
    const item = element("li"), answer = element("details");
    if (each.language) item.lang = each.language;
    if (each.start !== null) item.append(jump(`${clockText(each.start)}${each.end === null ? "" : ` – ${clockText(each.end)}`}`, each.start));
    item.append(element("span", each.task, "task"), element("p", each.question, "words"));
    if (each.options) {
      const options = element("ul");
      options.append(...each.options.map((option) => element("li", option)));
      item.append(options);
    }
    const heading = element("summary", "Answer");
    heading.lang = "en";
    answer.append(heading, element("p", each.answer ?? "not given", "words"));
    answer.append(...each.moments.map((moment) => jump(`${clockText(moment.t)}${moment.end === null ? "" : ` – ${clockText(moment.end)}`} ${moment.text}`, moment.t)));
    item.append(answer);
    return item;
  }));
}

function drawQuestions(t) {
  document.querySelectorAll("#questions ol > li").forEach((item, i) => {
    const { start, end } = data.questions[i];
    item.classList.toggle("here", start !== null && start <= t && (end === null || t < end));
  });
}

// --- controls -------------------------------------------------------------------------------------------------------

const ICONS = { play: "M3 1.5v13l11-6.5z", pause: "M3 2h4v12H3zM9 2h4v12H9z", loud: "M1 5.5h3l4-3.5v12l-4-3.5H1zM10 4.5q3 3.5 0 7zM12 2.5q5 5.5 0 11l-1-1q4-4.5 0-9z", mute: "M1 5.5h3l4-3.5v12l-4-3.5H1zM10 6l1-1 4 4-1 1zM14 5l1 1-4 4-1-1z" };

function icon(button, name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  button.replaceChildren(svg);
}

function controls() {
  icon($("play"), playing ? "pause" : "play");
  $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  icon($("mute"), muted ? "mute" : "loud");
  $("mute").setAttribute("aria-pressed", String(muted));
  $("predicted").setAttribute("aria-pressed", String(showPredictions));
  $("span").textContent = SPANS[zoom] ? `${SPANS[zoom]} s` : "all";
}

function mute() {
  muted = !muted;
  if (master) master.muted = muted;
  controls();
}

function predictions() {
  if (!sides[1]) return;
  showPredictions = !showPredictions;
  controls();
  draw();
}

function magnify(by) {
  const possible = SPANS.map((_, i) => i).filter((i) => SPANS[i] < 0.8 * length);
  zoom = possible[clamp(possible.indexOf(zoom) + by, 0, possible.length - 1)];
  controls();
  draw();
}

function nextFinding(by) {
  const t = time(), times = data.findings.flatMap((each) => each.spans.map(([start]) => start)).sort((a, b) => a - b);
  const to = by > 0 ? times.find((each) => each > t + 1e-3) : times.findLast((each) => each < t - 1e-3);
  if (to !== undefined) seek(to);
}

function help() {
  $("keys").open ? $("keys").close() : $("keys").showModal();
}

/** The start of the label frame that is so many frames on; never stuck on the rounding of a player's clock. */
const frameOn = (by) => seek((Math.floor(time() / hop + 1e-3) + by) * hop);
const KEYS = {
  " ": () => play(!playing), ArrowLeft: () => seek(time() - 1), ArrowRight: () => seek(time() + 1),
  ",": () => frameOn(-1), ".": () => frameOn(1), Home: () => seek(0), End: () => seek(length), m: mute, p: predictions,
  n: () => nextFinding(1), b: () => nextFinding(-1), "+": () => magnify(1), "=": () => magnify(1), "-": () => magnify(-1), "?": help,
};
document.addEventListener("keydown", (key) => {
  if (key.ctrlKey || key.metaKey || key.altKey) return;
  if ($("keys").open && key.key !== "?") return;
  if (key.key === " " && key.target.closest("button, summary")) return; // there it presses what has the focus
  const act = KEYS[key.key.length === 1 ? key.key.toLowerCase() : key.key];
  if (!act) return;
  key.preventDefault();
  act();
});
$("play").addEventListener("click", () => play(!playing));
$("mute").addEventListener("click", mute);
$("predicted").addEventListener("click", predictions);
$("help").addEventListener("click", help);
$("in").addEventListener("click", () => magnify(1));
$("out").addEventListener("click", () => magnify(-1));
$("seek").addEventListener("input", () => seek(Number($("seek").value)));

// --- all of it ------------------------------------------------------------------------------------------------------

function draw() {
  const t = time();
  drawPanorama(t);
  drawCompass(t);
  drawTimeline(t);
  drawActive(t);
  drawQuestions(t);
  $("seek").value = t;
  $("seek").setAttribute("aria-valuetext", `${t.toFixed(1)} of ${length.toFixed(1)} seconds`);
  $("time").textContent = `${clockText(t)} / ${clockText(length)}`;
  $("frame").textContent = `frame ${Math.floor(t / hop + 1e-6)}`;
}

function fill() {
  const count = plural(data.sides[0].events.length, "event");
  const parts = [clockText(length), data.layout, `${count} of ${plural(new Set(data.sides[0].events.map((event) => event.c)).size, "class").replace("classs", "classes")}`];
  if (data.sides[1]) parts.push(`${plural(data.sides[1].events.length, "predicted event")} (${data.sides[1].layout})`);
  parts.push(counted("no findings"));
  $("about").textContent = parts.join(" · ");
  const legend = sides[1] ? [`Solid: labels, with an amber line where no prediction of the class is within ${NEAR}° (missed). Outlined: predictions, green where a label of the class is (right), red where none is (wrong). Nearer is larger.`] : distances.length ? ["Nearer sources are larger."] : [];
  if (data.heard) legend.push("Cross: where the recording is heard, with a line to the nearest label.");
  $("legend").textContent = legend.join(" ");
  $("media").append(element("p", data.media.join(" · ") || "No sound or video: a clock runs."));
  $("seek").max = length;
  $("predicted").hidden = !sides[1];
  $("mute").hidden = !master;
  fillFindings();
  fillQuestions();
}

readColours();
fill();
const least = (times) => times.reduce((first, t) => Math.min(first, t), length);
const meeting = least((sides[1]?.events ?? []).flatMap((event) => event.runs.filter((run) => run.met)).map((run) => run.t));
const first = meeting < length ? meeting : least(sides.flatMap((side) => side.events).map((event) => event.t));
own = first < length ? first : 0; // most clips begin in silence, and what is worth a look is where label and prediction meet
controls();
draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
new ResizeObserver(() => draw()).observe($("stage"));
