// SPDX-License-Identifier: BSD-3-Clause
// Draws the report: a timeline of every thread, where in memory and when nodes faulted, false sharing, source lines, phases, who talks to whom, sums. What it
// shows stands in the page; nothing is fetched. Texts of the program are set as text, never as markup.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const main = document.querySelector('main');
const tip = document.getElementById('tip');
const COMPUTES = '#8fc8a0';
const COLOURS = ['#0072b2', '#d55e00', '#cc79a7', '#e6b800', '#888888'];  // by kind of wait: they differ for the colour-blind, too
const NODE_HUES = [210, 25, 140, 320, 50, 265, 0, 180];

// ---- Small things ----

function make(tag, text, parent, className) {
  const one = document.createElement(tag);
  if (text !== undefined && text !== null) one.textContent = text;
  if (className) one.className = className;
  if (parent) parent.append(one);
  return one;
}

function timeText(ns) {
  if (ns >= 1e9) return (ns / 1e9).toFixed(2) + ' s';
  if (ns >= 1e6) return (ns / 1e6).toFixed(1) + ' ms';
  return (ns / 1e3).toFixed(1) + ' µs';
}

function sizeText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (bytes >= 1024 && i + 1 < units.length) { bytes /= 1024; i += 1; }
  return (Number.isInteger(bytes) ? bytes : bytes.toFixed(1)) + ' ' + units[i];
}

const count = n => n.toLocaleString('en');
const percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(1) + ' %' : '–';
const sum = all => all.reduce((a, b) => a + b, 0);

function section(title, note) {
  make('h2', title, main);
  if (note) make('p', note, main, 'note');
}

// heads: [text, is it text?]; rows of the same length.
function table(heads, rows, parent) {
  const t = make('table', null, parent || main);
  const head = make('tr', null, make('thead', null, t));
  for (const [text, isText] of heads) make('th', text, head, isText ? 'text' : '');
  const body = make('tbody', null, t);
  for (const row of rows) {
    const tr = make('tr', null, body);
    row.forEach((cell, i) => make('td', cell, tr, heads[i][1] ? 'text' : ''));
  }
  return t;
}

function showTip(event, text) {
  tip.style.display = text ? 'block' : 'none';
  if (!text) return;
  tip.textContent = text;
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = event.clientY + 14 + 'px';
}

function legend(pairs) {
  const line = make('p', null, main);
  for (const [text, colour] of pairs) {
    const key = make('span', null, line, 'key');
    make('i', null, key).style.background = colour;
    key.append(text);
  }
}

// A canvas as wide as the page; `draw(context, width)` is called now, and when the width changes.
function canvas(height, draw, parent) {
  const c = make('canvas', null, parent || main);
  c.style.height = height + 'px';
  const again = () => {
    const ratio = devicePixelRatio || 1;
    c.width = Math.max(1, Math.round(c.clientWidth * ratio));
    c.height = Math.round(height * ratio);
    const context = c.getContext('2d');
    context.scale(ratio, ratio);
    context.clearRect(0, 0, c.clientWidth, height);
    context.font = '11px system-ui, sans-serif';
    draw(context, c.clientWidth);
  };
  new ResizeObserver(again).observe(c);
  c.redraw = again;
  again();
  return c;
}

const ink = () => getComputedStyle(document.body).color;

// ---- Timeline ----

const lanes = data.nodes.flatMap(n => n.threads.map(t => ({ node: n, thread: t })));
lanes.sort((a, b) => a.node.node - b.node.node || a.thread.number - b.thread.number);
const LEFT = 110, LANE = 18, AXIS = 20;
const UNNUMBERED = 2 ** 32 - 1;  // it has called nothing of Quire's that numbers threads
const threadText = t => t.number === UNNUMBERED ? 'unnumbered' : 'thread ' + t.number;
let endUs = 1;
for (const { thread } of lanes) for (const s of thread.segments) endUs = Math.max(endUs, s[0]);
const view = { begin: 0, end: endUs };

function firstBehind(segments, us) {
  let low = 0, high = segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (segments[middle][0] <= us) low = middle + 1; else high = middle;
  }
  return low;
}

const beginOf = (thread, i) => i === 0 ? thread.begin : thread.segments[i - 1][0];

// The waits of a segment stand at its end, one after the other: exact where it has one.
function drawSegment(g, x, y, thread, i) {
  const s = thread.segments[i], waits = s.slice(2), waited = sum(waits);
  const begin = x(beginOf(thread, i)), end = x(s[0]), from = x(Math.max(s[0] - waited, beginOf(thread, i)));
  g.fillStyle = COMPUTES;
  g.fillRect(begin, y, Math.max(end - begin, 0.3), LANE - 3);
  let at = from;
  waits.forEach((us, kind) => {
    if (us === 0) return;
    const width = (end - from) * us / waited;
    g.fillStyle = COLOURS[kind];
    g.fillRect(at, y, Math.max(width, 0.3), LANE - 3);
    at += width;
  });
}

// Many segments on one pixel: what share of the time each kind had, from below.
function drawColumn(g, px, y, shares) {
  let top = y + LANE - 3;
  const whole = sum(shares);
  shares.forEach((us, i) => {
    const h = (LANE - 3) * us / whole;
    g.fillStyle = i === 0 ? COMPUTES : COLOURS[i - 1];
    g.fillRect(px, top - h, 1, h);
    top -= h;
  });
}

function drawLane(g, width, lane, y) {
  const scale = (width - LEFT) / (view.end - view.begin);
  const x = us => LEFT + Math.min(Math.max((us - view.begin) * scale, 0), width - LEFT);
  const { thread } = lane;
  let px = -1, shares = null;
  const flush = () => { if (shares && sum(shares) > 0) drawColumn(g, px, y, shares); shares = null; };
  for (let i = firstBehind(thread.segments, view.begin); i < thread.segments.length; ++i) {
    const begin = beginOf(thread, i), s = thread.segments[i];
    if (begin > view.end) break;
    if ((s[0] - begin) * scale >= 2) { flush(); drawSegment(g, x, y, thread, i); continue; }
    const at = Math.floor(x(begin));
    if (at !== px) { flush(); px = at; }
    shares = shares || [0, 0, 0, 0, 0, 0];
    const waits = s.slice(2), waited = sum(waits);
    shares[0] += Math.max(s[0] - begin - waited, 0);
    waits.forEach((us, kind) => { shares[kind + 1] += us; });
  }
  flush();
}

function drawTimeline(g, width) {
  g.fillStyle = ink();
  const ticks = 8;
  for (let i = 0; i <= ticks; ++i) {
    const us = view.begin + (view.end - view.begin) * i / ticks, x = LEFT + (width - LEFT) * i / ticks;
    g.textAlign = i === 0 ? 'left' : i === ticks ? 'right' : 'center';
    g.fillText(timeText(us * 1000), x, 12);
  }
  g.textAlign = 'left';
  lanes.forEach((lane, i) => {
    const y = AXIS + i * LANE;
    g.fillStyle = ink();
    g.fillText(`node ${lane.node.node} ${threadText(lane.thread)}`, 2, y + 11);
    drawLane(g, width, lane, y);
  });
}

function timelineTip(c, event) {
  const box = c.getBoundingClientRect(), y = event.clientY - box.top - AXIS, px = event.clientX - box.left - LEFT;
  const lane = lanes[Math.floor(y / LANE)];
  if (!lane || px < 0) return showTip(event, '');
  const us = view.begin + (view.end - view.begin) * px / (box.width - LEFT);
  const i = firstBehind(lane.thread.segments, us), s = lane.thread.segments[i];
  if (!s || us < lane.thread.begin) return showTip(event, '');
  const begin = beginOf(lane.thread, i), waits = s.slice(2);
  const rows = [`node ${lane.node.node}, ${threadText(lane.thread)}, ${timeText(begin * 1000)} to ${timeText(s[0] * 1000)}`];
  if (s[1]) rows.push('phase ' + lane.node.phases[s[1] - 1]);
  rows.push('computes ' + timeText(Math.max(s[0] - begin - sum(waits), 0) * 1000));
  waits.forEach((w, kind) => { if (w) rows.push(data.kinds[kind] + ' ' + timeText(w * 1000)); });
  showTip(event, rows.join('\n'));
}

function zoom(c, event) {
  event.preventDefault();
  const box = c.getBoundingClientRect(), at = Math.min(Math.max((event.clientX - box.left - LEFT) / (box.width - LEFT), 0), 1);
  const middle = view.begin + (view.end - view.begin) * at, factor = event.deltaY > 0 ? 1.25 : 0.8;
  const span = Math.min(Math.max((view.end - view.begin) * factor, 1), endUs);
  move(middle - span * at, span);
  c.redraw();
}

function move(begin, span) {
  view.begin = Math.min(Math.max(begin, 0), endUs - span);
  view.end = view.begin + span;
}

function timeline() {
  section('Timeline', 'Every thread that has waited for something. Turn the wheel to zoom, drag to move, double-click for all. Where many segments fall on one pixel, '
    + 'its column shows their shares.');
  legend([['computes', COMPUTES], ...data.kinds.map((k, i) => [k, COLOURS[i]])]);
  if (data.nodes.some(n => n.untimed)) make('p', 'The detector "thread" does not tell which thread faults, nor for how long: faults are missing here.', main, 'note');
  if (lanes.length === 0) return void make('p', 'No thread has waited for anything.', main);
  const c = canvas(AXIS + LANE * lanes.length, drawTimeline);
  c.id = 'timeline';
  let held = null;
  c.addEventListener('wheel', event => zoom(c, event), { passive: false });
  c.addEventListener('dblclick', () => { move(0, endUs); c.redraw(); });
  c.addEventListener('pointerdown', event => { held = { x: event.clientX, begin: view.begin }; c.setPointerCapture(event.pointerId); });
  c.addEventListener('pointerup', () => { held = null; });
  c.addEventListener('pointerleave', event => showTip(event, ''));
  c.addEventListener('pointermove', event => {
    if (!held) return timelineTip(c, event);
    const span = view.end - view.begin;
    move(held.begin - (event.clientX - held.x) * span / (c.clientWidth - LEFT), span);
    c.redraw();
  });
}

// ---- Heat ----

function heatColour(level, most, node) {
  const share = most > 1 ? (level - 1) / (most - 1) : 1;
  return `hsl(${NODE_HUES[node % NODE_HUES.length]} 80% ${85 - 50 * share}%)`;
}

function drawMap(g, width, map, bins, rowHeight) {
  let most = 1;
  for (let i = 0; i < bins.length; i += 2) most = Math.max(most, bins[i]);
  const cell = (width - LEFT * 2) / map.columns;
  let last = '';
  map.rows.forEach(([, name], row) => {
    const y = row * rowHeight, short = name.replace(/\[.*|\+0x.*/, '');
    if (short !== last && y >= (drawMap.next || 0)) {
      g.fillStyle = ink();
      g.fillText(short.slice(0, 34), 2, y + 10);
      drawMap.next = y + 12;
      last = short;
    }
    for (let column = 0; column < map.columns; ++column) {
      const at = 2 * (row * map.columns + column);
      if (bins[at] === 0) continue;
      g.fillStyle = heatColour(bins[at], most, bins[at + 1]);
      g.fillRect(2 * LEFT + column * cell, y, Math.max(cell, 1), rowHeight);
    }
  });
  drawMap.next = 0;
}

function mapTip(c, event, map, bins, rowHeight) {
  const box = c.getBoundingClientRect(), row = Math.floor((event.clientY - box.top) / rowHeight);
  const column = Math.floor((event.clientX - box.left - 2 * LEFT) / (box.width - 2 * LEFT) * map.columns);
  if (!map.rows[row] || column < 0 || column >= map.columns) return showTip(event, '');
  const at = 2 * (row * map.columns + column), [address, name] = map.rows[row];
  const faults = bins[at] ? `about ${count(Math.round(2 ** ((bins[at] - 1) / 8)))} faults, most by node ${bins[at + 1]}` : 'no fault';
  showTip(event, `${name}\n${address}, ${sizeText(map.piece)}\nfrom ${timeText(column * map.column_us * 1000)} on: ${faults}`);
}

function heat() {
  section('Where and when nodes faulted', 'Address downwards, only memory that faulted; time to the right. The darker, the more faults (logarithmic); the colour is of the node that '
    + 'had most of them.');
  if (data.maps.length === 0) return void make('p', 'No node faulted.', main);
  legend(data.nodes.slice(0, NODE_HUES.length).map(n => ['node ' + n.node, heatColour(3, 4, n.node)]));
  data.maps.forEach((map, i) => {
    const bins = Uint8Array.from(atob(map.bins), c => c.charCodeAt(0));
    const rowHeight = Math.max(2, Math.min(14, Math.floor(300 / map.rows.length)));
    make('p', `${map.region === 0 ? 'The heap' : 'Region ' + map.region}: ${count(map.faults)} faults; a row is ${sizeText(map.piece)}`, main);
    const c = canvas(Math.max(rowHeight * map.rows.length, 14), (g, width) => drawMap(g, width, map, bins, rowHeight));
    c.id = 'heat' + i;
    c.addEventListener('pointermove', event => mapTip(c, event, map, bins, rowHeight));
    c.addEventListener('pointerleave', event => showTip(event, ''));
  });
}

// ---- Tables ----

const allWaits = data.kinds.map((_, kind) => sum(data.nodes.map(n => n.rest[kind] + sum(n.threads.map(t => t.waits[kind])))));
const allThreadsNs = sum(lanes.map(l => l.thread.ns));

function totals() {
  make('h1', 'Quire report: ' + data.program.replace(/.*\//, ''), main);
  const longest = Math.max(...data.nodes.map(n => n.ns));
  make('p', `${data.size === 1 ? '1 node' : data.size + ' nodes'}, ${timeText(longest)}. Threads that waited were there for ${timeText(allThreadsNs)} together, and waited `
    + `${timeText(sum(allWaits))} of that (${percent(sum(allWaits), allThreadsNs)}).`, main);
  if (data.nodes.length < data.size) {
    const known = new Set(data.nodes.map(n => n.node));
    const missing = [...Array(data.size).keys()].filter(n => !known.has(n));
    make('p', `No record came from ${missing.length === 1 ? 'node' : 'nodes'} ${missing.slice(0, 20).join(', ')}${missing.length > 20 ? ' ...' : ''}: `
      + 'what follows lacks what happened there.', main);
  }
  if (data.dead.length > 0) {
    make('p', `${data.dead.length === 1 ? 'Node' : 'Nodes'} ${data.dead.slice(0, 20).join(', ')}${data.dead.length > 20 ? ' ...' : ''} did not come to an orderly end: `
      + 'here is what had been recorded until then, without counters. A wait that had not ended is missing.', main);
  }
  table([['waited for', true], ['time', false], ['of the threads\' time', false]], data.kinds.map((k, i) => [k, timeText(allWaits[i]), percent(allWaits[i], allThreadsNs)]));
}

function sharing() {
  section('False sharing', 'Units that move between nodes though these use different parts of them. What a unit costs is what threads waited for it: with the parts on units of their own '
    + 'they would save at most that. "Likely": only the first byte of each fault is known.');
  if (data.sharing.length === 0) return void make('p', 'None was found.', main);
  for (const f of data.sharing) {
    const box = make('div', null, main, 'finding');
    make('h3', `${f.name}: ${f.likely ? 'likely ' : ''}${f.kind === 'both' ? 'false and true sharing' : 'false sharing'}, at most ${timeText(f.ns)} (${percent(f.ns, sum(allWaits))} `
      + `of all waiting) can be saved`, box);
    make('p', `${f.address}, ${sizeText(f.bytes)}, ${f.release ? 'release' : 'sequential'} consistency; it came back ${count(f.switches)} times.`
      + (f.allocated ? ` Allocated at ${f.allocated}.` : ''), box, 'note');
    const rows = f.users.flatMap(u => (u.lines.length ? u.lines : [null]).map((l, i) => [i === 0 ? 'node ' + u.node : '', i === 0 ? u.what : '',
      i === 0 ? u.objects.join(', ') : '', l ? l.line : 'not known', l ? count(l.reads) : '', l ? count(l.writes) : '', l ? timeText(l.read_ns + l.write_ns) : '']));
    table([['', true], ['what', true], ['of', true], ['at', true], ['read faults', false], ['write faults', false], ['waited', false]], rows, box);
    make('p', 'What to do: ' + f.advice, box);
  }
}

function sourceLines() {
  section('Source lines', 'Where in the program faults happened, and how long threads waited for them.');
  if (data.lines.length === 0) return void make('p', 'No thread waited for a fault.', main);
  table([['line', true], ['read faults', false], ['write faults', false], ['reads waited', false], ['writes waited', false], ['of all waiting', false]],
    data.lines.slice(0, 40).map(l => [l.line, count(l.reads), count(l.writes), timeText(l.read_ns), timeText(l.write_ns), percent(l.read_ns + l.write_ns, sum(allWaits))]));
}

function phases() {
  const by = new Map();
  for (const n of data.nodes) {
    for (const t of n.threads) {
      for (const [phase, ns, waits] of t.phases) {
        const name = phase === 0 ? '(none)' : n.phases[phase - 1];
        const p = by.get(name) || { ns: 0, waits: waits.map(() => 0) };
        p.ns += ns;
        waits.forEach((w, i) => { p.waits[i] += w; });
        by.set(name, p);
      }
    }
  }
  if (by.size < 2) return;
  section('Phases', 'As the program names them (quire_phase), over all threads.');
  table([['phase', true], ['time', false], ...data.kinds.map(k => [k, false])],
    [...by].sort((a, b) => b[1].ns - a[1].ns).map(([name, p]) => [name, timeText(p.ns), ...p.waits.map(w => timeText(w))]));
}

function talk() {
  section('Who talks to whom', 'Bytes that a node (row) has sent to another (column), messages below.');
  const most = 32;
  const shown = data.nodes.slice(0, most);
  if (data.size > most) make('p', `Of the first ${most} nodes.`, main, 'note');
  const columns = Math.min(data.size, most), peak = Math.max(1, ...shown.flatMap(n => n.peers.map(p => p[1])));
  const t = table([['from', true], ...Array.from({ length: columns }, (_, i) => ['to ' + i, false])],
    shown.map(n => ['node ' + n.node, ...n.peers.slice(0, columns).map(([messages, bytes]) => messages ? `${sizeText(bytes)}\n${count(messages)}` : '–')]));
  t.id = 'talk';
  [...t.tBodies[0].rows].forEach((row, r) => [...row.cells].slice(1).forEach((cell, i) => {
    cell.style.whiteSpace = 'pre';
    cell.style.background = `rgba(0, 114, 178, ${0.5 * shown[r].peers[i][1] / peak})`;
  }));
}

function counters() {
  section('Counters');
  const shown = data.nodes.slice(0, 16);
  const names = data.nodes[0].counters.map(c => c[0]);
  const rows = names.map(name => {
    const values = data.nodes.map(n => (n.counters.find(c => c[0] === name) || [name, 0])[1]);
    return [name, values, sum(values)];
  }).filter(row => row[2] !== 0);
  table([['counter', true], ...shown.map(n => ['node ' + n.node, false]), ['all', false]],
    rows.map(([name, values, all]) => [name, ...values.slice(0, 16).map(count), count(all)]));
}

totals();
timeline();
sharing();
sourceLines();
phases();
heat();
talk();
counters();
document.body.dataset.drawn = 'yes';
