'use strict';
// Zoom, values under the pointer, choice of ranks and counters. The pictures are complete without this; their values come again
// as text of two base64 letters each (4095: none) in the element "data".
(() => {
const source = document.getElementById('data');
if (!source) return;
const D = JSON.parse(source.textContent), NS = 'http://www.w3.org/2000/svg', FINE = 400;
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const code = new Map([...letters].map((c, i) => [c, i]));
const length = D.n * D.dt;
let from = 0, to = 1, place = -1;

const make = (name, attributes, text) => {
	const e = document.createElement(name);
	for (const k in attributes) e.setAttribute(k, attributes[k]);
	if (text !== undefined) e.textContent = text;
	return e;
};
const draw = (parent, name, attributes) => {
	const e = document.createElementNS(NS, name);
	for (const k in attributes) e.setAttribute(k, attributes[k]);
	parent.append(e);
	return e;
};
const number = v => v !== v ? 'unknown' : v === 0 ? '0' : Math.abs(v) >= 1e6 || Math.abs(v) < 1e-3 ? v.toExponential(2) : String(+v.toPrecision(4));
const seconds = s => { const u = length < 1e-3 ? [1e6, 'us'] : length < 1 ? [1e3, 'ms'] : [1, 's']; return number(s * u[0]) + ' ' + u[1]; };

// value k of a text; of a share of the counter's range
const value = (c, text, k) => {
	const v = code.get(text[2 * k]) * 64 + code.get(text[2 * k + 1]);
	return v === 4095 ? NaN : c.lo + (c.hi - c.lo) * v / 4094;
};

const charts = [...document.querySelectorAll('svg.chart[data-series]')].map(svg => {
	const plot = svg.querySelector('svg'), box = plot.getAttribute('viewBox').split(' ').map(Number);
	return { svg, plot, box, c: D.c[svg.dataset.series], heat: 'rows' in svg.dataset, rows: +svg.dataset.rows,
		low: +svg.dataset.low, high: +svg.dataset.high, axis: [...svg.querySelectorAll('.tick,.x')] };
}).filter(o => o.c);
if (!charts.length) return;

// ---- what is drawn on top ----

const step = (span, n) => {
	const p = 10 ** Math.floor(Math.log10(span / n)), s = span / n / p;
	return p * (s <= 1 ? 1 : s <= 2 ? 2 : s <= 5 ? 5 : 10);
};
const show = () => {
	const a = from * length, b = to * length, s = step(b - a, 6), whole = from === 0 && to === 1;
	for (const o of charts) {
		o.plot.setAttribute('viewBox', [o.box[0] + from * o.box[2], o.box[1], (to - from) * o.box[2], o.box[3]].join(' '));
		o.axis.forEach(e => e.classList.toggle('away', !whole));
		o.svg.querySelectorAll('.zoomed').forEach(e => e.remove());
		o.svg.querySelectorAll('.step,.between,.w').forEach(e => e.classList.toggle('away', !whole));
		const y = +o.svg.getAttribute('height') - 6;
		for (let v = Math.ceil(a / s) * s; !whole && v <= b; v += s) {
			const x = 100 * (v - a) / (b - a);
			draw(o.svg, 'text', { x: x + '%', y, class: 'zoomed ' + (x < 4 ? 's' : x > 96 ? 'e' : 'm') }).textContent = seconds(+v.toPrecision(12));
		}
	}
	span.textContent = seconds(a) + ' to ' + seconds(b);
	cursor();
};
const cursor = () => {
	for (const o of charts) {
		o.svg.querySelectorAll('.cursor').forEach(e => e.remove());
		const x = 100 * (place - from) / (to - from);
		if (place >= 0 && x >= 0 && x <= 100)
			draw(o.svg, 'line', { x1: x + '%', x2: x + '%', y1: 18, y2: +o.svg.getAttribute('height') - 20, class: 'cursor' });
	}
};
// the values of a chart at `place`, of one row only if it is given
const read = (o, row) => {
	const k = Math.min(D.n - 1, Math.floor(place * D.n)), c = o.c, parts = [];
	let n = 0, sum = 0, low = Infinity, high = -Infinity;
	c.s.forEach((s, i) => {
		const m = value(c, s[1], k);
		if (m !== m) return;
		n++;
		sum += m;
		low = Math.min(low, s[2] ? value(c, s[2], k) : m);
		high = Math.max(high, s[3] ? value(c, s[3], k) : m);
		if (row === undefined ? c.s.length <= 6 || o.chosen === i : row === i) parts.push(s[0] + ' ' + number(m));
	});
	if (row === undefined && n > 1) parts.push('minimum ' + number(low) + ', mean ' + number(sum / n) + ', maximum ' + number(high));
	o.out.textContent = seconds(place * length) + ': ' + (parts.length ? parts.join(', ') + ' ' + c.u : 'no value');
};
const choose = (o, i) => {
	o.plot.querySelectorAll('.chosen').forEach(e => e.remove());
	o.chosen = i;
	if (i < 0) return;
	const c = o.c, s = c.s[i];
	let d = '', pen = 'M';
	for (let k = 0; k < D.n; k++) {
		const v = value(c, s[1], k);
		if (v !== v) continue;
		d += pen + ((k + 0.5) * o.box[2] / D.n).toFixed(1) + ' ' + Math.round(FINE * (o.high - v) / (o.high - o.low));
		pen = 'L';
	}
	draw(o.plot, 'path', { class: 'l c1 chosen', d });
};

// ---- tools ----

const zoom = (a, b, quiet) => {
	const least = 4 / D.n;
	if (b - a < least) { const m = (a + b) / 2; a = m - least / 2; b = m + least / 2; }
	if (a < 0) { b = Math.min(1, b - a); a = 0; }
	if (b > 1) { a = Math.max(0, a - b + 1); b = 1; }
	from = a;
	to = b;
	show();
	if (!quiet) document.dispatchEvent(new CustomEvent('time-range', { detail: { from: from * length, to: to * length, by: 'charts' } }));
};
document.addEventListener('time-range', e => { if (e.detail.by !== 'charts') zoom(e.detail.from / length, e.detail.to / length, true); });
const bar = make('div', { class: 'tools bar', role: 'group', 'aria-label': 'Time shown in all pictures' });
const button = (text, name, f) => { const e = make('button', { type: 'button', 'aria-label': name }, text); e.onclick = f; bar.append(e); };
button('+', 'Zoom in', () => zoom(from + (to - from) / 4, to - (to - from) / 4));
button('\u2212', 'Zoom out', () => zoom(from - (to - from) / 2, to + (to - from) / 2));
button('\u25c0', 'Earlier', () => zoom(from - (to - from) / 2, to - (to - from) / 2));
button('\u25b6', 'Later', () => zoom(from + (to - from) / 2, to + (to - from) / 2));
button('All', 'All of the run', () => zoom(0, 1));
const span = make('span', {});
bar.append(span);
const only = make('input', { type: 'search', 'aria-label': 'Show only counters with this in their name', placeholder: 'counter\u2026' });
only.oninput = () => {
	document.querySelectorAll('.counter').forEach(e => { e.hidden = !e.querySelector('h3').textContent.toLowerCase().includes(only.value.toLowerCase()); });
};
bar.append(only);
(document.getElementById('heat-map') || document.getElementById('counters')).after(bar);

for (const o of charts) {
	const tools = make('div', { class: 'tools' }), title = o.svg.querySelector('title').textContent;
	o.out = make('p', { class: 'read' });
	if (!o.heat) {
		const slide = make('input', { type: 'range', min: 0, max: D.n - 1, value: 0, 'aria-label': 'Time at which to read ' + title });
		o.slide = slide;
		slide.oninput = () => { place = (+slide.value + 0.5) / D.n; cursor(); read(o); slide.setAttribute('aria-valuetext', o.out.textContent); };
		const label = make('label', {}, 'value at ');
		label.append(slide);
		tools.append(label);
		if (o.c.s.length > 6) {
			const pick = make('select', { 'aria-label': 'Curve to add to ' + title });
			pick.append(make('option', { value: -1 }, 'add a curve\u2026'));
			o.c.s.forEach((s, i) => pick.append(make('option', { value: i }, s[0])));
			pick.onchange = () => choose(o, +pick.value);
			tools.append(pick);
		}
	}
	tools.append(o.out);
	(o.svg.closest('.heat') || o.svg).after(tools);
	const at = e => { const r = o.svg.getBoundingClientRect(); return from + (to - from) * Math.min(1, Math.max(0, (e.clientX - r.left) / r.width)); };
	let begin = -1;
	o.svg.onpointermove = e => {
		const r = o.plot.getBoundingClientRect(), y = e.clientY - o.svg.getBoundingClientRect().top - 18;
		place = at(e);
		cursor();
		if (o.slide) o.slide.value = Math.floor(place * D.n);
		if (o.heat) {
			const row = Math.floor(y / (+o.svg.getAttribute('height') - 38) * o.rows);
			if (row >= 0 && row < o.rows) read(o, row);
		} else read(o);
		o.svg.querySelectorAll('.select').forEach(s => s.remove());
		if (begin >= 0) {
			const a = 100 * (Math.min(begin, place) - from) / (to - from);
			draw(o.svg, 'rect', { class: 'select', x: a + '%', width: 100 * Math.abs(place - begin) / (to - from) + '%', y: 18, height: +o.svg.getAttribute('height') - 38 });
		}
	};
	o.svg.onpointerdown = e => { if (e.button === 0 && e.pointerType !== 'touch') { begin = at(e); e.preventDefault(); } };
	o.svg.onpointerup = e => {
		const end = at(e);
		o.svg.querySelectorAll('.select').forEach(s => s.remove());
		if (begin >= 0 && Math.abs(end - begin) > 0.01 * (to - from)) zoom(Math.min(begin, end), Math.max(begin, end));
		begin = -1;
	};
	o.svg.onpointerleave = () => { begin = -1; o.svg.querySelectorAll('.select').forEach(s => s.remove()); };
	o.svg.ondblclick = () => zoom(0, 1);
}
show();
})();
