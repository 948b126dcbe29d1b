// SPDX-License-Identifier: BSD-3-Clause
// prediction_page.js QUIRE PROGRAM, run by node: the page of `quire predict` draws the curve, a bar for each number of nodes and the figures, and computes
// all of them again when a slider moves. It gets a document of so much as it uses, which refuses numbers that are none.
'use strict';
const assert = require('node:assert');
const {execFileSync} = require('node:child_process');
const {mkdtempSync, readFileSync, rmSync} = require('node:fs');
const {tmpdir} = require('node:os');
const {join} = require('node:path');

class Element {
  constructor(tag) {
    Object.assign(this, {tag, children: [], style: {}, attributes: {}, listeners: {}, own: ''});
  }
  append(...all) { this.children.push(...all); }
  replaceChildren(...all) { this.children = all; }
  setAttribute(name, value) {
    assert(!/NaN|undefined|Infinity/.test(String(value)), `${this.tag} has ${name}="${value}"`);
    this.attributes[name] = String(value);
  }
  addEventListener(event, does) { this.listeners[event] = does; }
  set textContent(text) { this.own = String(text); this.children = []; }
  get textContent() { return this.own + this.children.map(one => typeof one === 'string' ? one : one.textContent).join(' '); }
  all(tag) {
    const below = this.children.filter(one => one instanceof Element);
    return [...below.filter(one => one.tag === tag), ...below.flatMap(one => one.all(tag))];
  }
}

function opened(html) {
  const part = pattern => html.match(pattern)[1];
  const data = part(/<script type="application\/json" id="data">([\s\S]*?)<\/script>/), main = new Element('main');
  const document = {
    getElementById: id => { assert.strictEqual(id, 'data'); return {textContent: data}; },
    querySelector: tag => { assert.strictEqual(tag, 'main'); return main; },
    createElement: tag => new Element(tag),
    createElementNS: (space, tag) => new Element(tag),
  };
  new Function('document', part(/<script>([\s\S]*?)<\/script>\s*<\/body>/))(document);
  return {main, data: JSON.parse(data)};
}

// The columns "seconds" and "speed-up" of the figures, by row.
function figures(main) {
  const rows = main.all('table').at(-1).all('tbody')[0].all('tr').map(row => row.all('td').map(cell => cell.textContent));
  assert(rows.flat().every(text => !/NaN|undefined|Infinity/.test(text)), JSON.stringify(rows));
  return rows.map(row => ({seconds: Number(row[1]), gain: Number(row[3])}));
}

function move(slider, value) {
  slider.value = Math.log(value);
  slider.listeners.input();
}

const [quire, program] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'quire-page-'));
try {
  const file = join(folder, 'gain.html');
  const words = ['predict', '-n', '1,2,3', '--network', '10g', '-o', file, program, 'turns', '100'];
  execFileSync(quire, words, {stdio: ['ignore', 'ignore', 'inherit'], timeout: 90000});
  const {main, data} = opened(readFileSync(file, 'utf8'));
  const [picture, bars] = main.all('svg'), [latency, rate] = main.all('input');
  assert.strictEqual(picture.all('circle').length, 3, 'a point for each number of nodes');
  assert.strictEqual(bars.all('rect').length, 3 * 5, 'work, faults, barriers, locks, other');
  const width = bars.all('rect').slice(0, 5).reduce((sum, one) => sum + Number(one.attributes.width), 0);
  assert(Math.abs(width - (720 - 50 - 20)) < 5, `bars end at 100 %, not ${width}`);
  const first = figures(main);
  assert.strictEqual(first.length, 3);
  assert.strictEqual(first[0].gain, 1);

  // At a point of the grid it is what the replay has told, and a turn takes a latency or more.
  const far = data.latencies_us.at(-1), fast = data.megabytes_a_second.at(-1);
  move(latency, far);
  move(rate, fast);
  const slow = figures(main);
  const told = data.predictions[1].grid.at(-1).at(-1).seconds;
  assert(Math.abs(slow[1].seconds / told - 1) < 0.01, `${slow[1].seconds} s, where the replay told ${told}`);
  assert(slow[1].seconds > 100 * 2 * far * 1e-6 && slow[1].seconds > 5 * first[1].seconds, `${slow[1].seconds} after ${first[1].seconds} s`);
  assert(slow[1].gain < first[1].gain, 'the curve goes down');
  assert.strictEqual(main.all('svg').length, 2, 'drawn anew, not once more');
  move(rate, data.megabytes_a_second[0]);
  assert(figures(main)[1].seconds > slow[1].seconds, 'bytes take time');
  move(latency, data.latencies_us[0]);
  move(rate, fast);
  assert(figures(main)[1].seconds < first[1].seconds * 1.01, 'and back');
} finally {
  rmSync(folder, {recursive: true, force: true});
}
console.log('the page computes anew');
