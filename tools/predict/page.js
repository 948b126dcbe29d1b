// SPDX-License-Identifier: BSD-3-Clause
// Draws the prediction: speed-up by number of nodes, where the time goes, and both again for another latency and bandwidth. Each number of nodes has been
// computed for a grid of networks; between its points figures are interpolated. Nothing is fetched; texts are set as text, never as markup.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const main = document.querySelector('main');
const PARTS = [['work', '#8fc8a0'], ['faults', '#0072b2'], ['barriers', '#d55e00'], ['locks', '#cc79a7'], ['other', '#888888']];
const SVG = 'http://www.w3.org/2000/svg';

function make(tag, text, parent, className) {
  const one = document.createElement(tag);
  if (text !== undefined && text !== null) one.textContent = text;
  if (className) one.className = className;
  if (parent) parent.append(one);
  return one;
}

function draw(tag, attributes, parent, text) {
  const one = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  if (text !== undefined) one.textContent = text;
  parent.append(one);
  return one;
}

// ---- The network that is looked at ----

// Where a value stands among the grid's, which grow: [index, share of the next one].
function place(values, value) {
  const log = Math.log(Math.min(Math.max(value, values[0]), values[values.length - 1]));
  let at = 0;
  while (at + 2 < values.length && Math.log(values[at + 1]) <= log) at += 1;
  const low = Math.log(values[at]), high = Math.log(values[at + 1]);
  return [at, (log - low) / (high - low)];
}

// What a number of nodes takes: seconds, and the shares of PARTS in percent.
function predicted(one, latency, rate) {
  const [i, x] = place(data.latencies_us, latency), [j, y] = place(data.megabytes_a_second, rate);
  const mix = value => {
    const at = (a, b) => value(one.grid[a][b]);
    return (1 - x) * ((1 - y) * at(i, j) + y * at(i, j + 1)) + x * ((1 - y) * at(i + 1, j) + y * at(i + 1, j + 1));
  };
  return {nodes: one.nodes, seconds: Math.exp(mix(point => Math.log(Math.max(point.seconds, 1e-12)))),
          work_seconds: mix(point => point.work_seconds),
          parts: PARTS.map(([name]) => mix(point => point[name])), least: one.least_factor, most: one.most_factor};
}

// Where runs were cut, what counts is the work done in a second.
function gain(first, one, factor) {
  const seconds = one.seconds * factor;
  return data.was_cut ? one.work_seconds / seconds / (first.work_seconds / first.seconds) : first.seconds / seconds;
}

// ---- Pictures ----

const WIDTH = 720, HEIGHT = 300, LEFT = 50, BOTTOM = 40, TOP = 15;

function curve(all, parent) {
  const svg = draw('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: 'img', 'aria-label': 'Speed-up by number of nodes'}, parent);
  const first = all[0], last = all[all.length - 1].nodes / first.nodes;
  const top = Math.max(last, ...all.map(one => gain(first, one, one.least)));
  const x = nodes => LEFT + (WIDTH - LEFT - 20) * (all.length > 1 ? Math.log(nodes / first.nodes) / Math.log(last) : 0);
  const y = value => HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top;
  for (let line = 0; line <= 4; line += 1) {
    const value = top * line / 4;
    draw('line', {x1: LEFT, x2: WIDTH - 20, y1: y(value), y2: y(value), stroke: '#8884'}, svg);
    draw('text', {x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end'}, svg, value.toFixed(1));
  }
  const line = (points, style) => draw('polyline', {points: points.map(p => p.join(',')).join(' '), fill: 'none', ...style}, svg);
  const band = [...all.map(one => [x(one.nodes), y(gain(first, one, one.least))]), ...all.map(one => [x(one.nodes), y(gain(first, one, one.most))]).reverse()];
  draw('polygon', {points: band.map(p => p.join(',')).join(' '), fill: '#0072b2', opacity: 0.2}, svg);
  line(all.map(one => [x(one.nodes), y(one.nodes / first.nodes)]), {stroke: '#888', 'stroke-dasharray': '4 4'});
  line(all.map(one => [x(one.nodes), y(gain(first, one, 1))]), {stroke: '#0072b2', 'stroke-width': 2});
  for (const one of all) {
    draw('circle', {cx: x(one.nodes), cy: y(gain(first, one, 1)), r: 4, fill: '#0072b2'}, svg);
    draw('text', {x: x(one.nodes), y: HEIGHT - BOTTOM + 18, 'text-anchor': 'middle'}, svg, `${one.nodes}`);
  }
  draw('text', {x: (WIDTH + LEFT) / 2, y: HEIGHT - 4, 'text-anchor': 'middle'}, svg, 'nodes');
}

function bars(all, parent) {
  const key = make('p', null, parent);
  for (const [name, colour] of PARTS) {
    const one = make('span', null, key, 'key');
    make('i', null, one).style.background = colour;
    one.append(name);
  }
  const row = 26;
  const svg = draw('svg', {viewBox: `0 0 ${WIDTH} ${row * all.length}`, width: WIDTH, height: row * all.length,
    role: 'img', 'aria-label': 'Where the time goes'}, parent);
  all.forEach((one, i) => {
    draw('text', {x: LEFT - 6, y: i * row + 17, 'text-anchor': 'end'}, svg, `${one.nodes}`);
    let from = LEFT;
    one.parts.forEach((share, part) => {
      const width = (WIDTH - LEFT - 20) * share / 100;
      const bar = draw('rect', {x: from, y: i * row + 2, width, height: row - 6, fill: PARTS[part][1]}, svg);
      draw('title', {}, bar, `${PARTS[part][0]}: ${share.toFixed(0)} %`);
      from += width;
    });
  });
}

function figures(all, parent) {
  const table = make('table', null, parent), head = make('tr', null, make('thead', null, table)), body = make('tbody', null, table);
  for (const text of ['nodes', 'seconds', 'range', 'speed-up', 'range', ...PARTS.map(([name]) => `${name}, %`)]) make('th', text, head);
  for (const one of all) {
    const row = make('tr', null, body), first = all[0];
    for (const text of [one.nodes, one.seconds.toPrecision(3), `${(one.seconds * one.least).toPrecision(3)} to ${(one.seconds * one.most).toPrecision(3)}`,
      gain(first, one, 1).toFixed(2), `${gain(first, one, one.most).toFixed(2)} to ${gain(first, one, one.least).toFixed(2)}`,
      ...one.parts.map(p => p.toFixed(0))])
      make('td', `${text}`, row);
  }
}

// ---- The page ----

make('h1', 'Will it gain?', main);
make('p', data.command, main);
if (data.reasons.length > 0) {
  make('h2', 'What stops it', main);
  const list = make('ul', null, main);
  for (const text of data.reasons) make('li', text, list);
}
const controls = make('section', null, main), shown = make('section', null, main);
make('h2', 'The network', controls);
make('p', 'The same runs, on other networks. Runs have been computed for a grid of latencies and bandwidths; what lies between is interpolated. ' +
  'The processor time of messages stays that of the network that was asked for.', controls, 'note');

function slider(name, values, start, text) {
  const line = make('label', name, controls), input = make('input', null, line), told = make('span', null, line);
  input.type = 'range';
  [input.min, input.max, input.step] = [Math.log(values[0]), Math.log(values[values.length - 1]), 0.01];
  input.value = Math.log(start);
  const value = () => Math.exp(Number(input.value));
  input.addEventListener('input', show);
  return {value, tell: () => { told.textContent = text(value()); }};
}

const latency = slider('latency', data.latencies_us, data.network.latency_us, us => `${us.toPrecision(3)} µs`);
const rate = slider('bandwidth', data.megabytes_a_second, data.network.megabytes_a_second, mbs => `${(mbs * 8 / 1000).toPrecision(3)} Gbit/s`);

function show() {
  latency.tell();
  rate.tell();
  const all = data.predictions.map(one => predicted(one, latency.value(), rate.value()));
  shown.replaceChildren();
  make('h2', 'Speed-up', shown);
  make('p', 'Against the least number of nodes. Dashed: what as many nodes could give at best. The band is the range.', shown, 'note');
  curve(all, shown);
  make('h2', 'Where the time of the threads goes', shown);
  bars(all, shown);
  make('h2', 'Figures', shown);
  figures(all, shown);
}

show();
