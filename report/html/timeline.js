// The timeline: what is shown, and how one moves in it. By keys: the list is in KEYS below.
(() => {
const source = document.getElementById('timeline-data'), place = document.getElementById('timeline-view');
if (!source || !place) return;
const data = timelineData(source.textContent), KEYS = [
	['\u2190 \u2192', 'earlier, later'], ['+ \u2212', 'zoom in, zoom out'], ['\u2191 \u2193', 'row above, row below'], ['n p', 'next, previous call of the row'],
	['o', 'outer call'], ['j', 'jump to the partner'], ['w', 'next of the longest waits'], ['m', 'mark: measure from here'], ['h', 'hide the row'], ['a', 'all rows again'],
	['0', 'all of the run'], ['/', 'search a function']];
const make = (name, attributes, text) => {
	const e = document.createElement(name);
	for (const k in attributes) e.setAttribute(k, attributes[k]);
	if (text !== undefined) e.textContent = text;
	return e;
};
// up: of a bound, which is never rounded down
const time = (units, up) => {
	const s = Math.abs(units * data.unit), sign = units < 0 ? '\u2212' : '';
	const u = s >= 1 || s === 0 ? [1, 's'] : s >= 1e-3 ? [1e3, 'ms'] : s >= 1e-6 ? [1e6, 'us'] : [1e9, 'ns'];
	const n = s * u[0], step = 10 ** (Math.floor(Math.log10(n || 1)) - 3);
	return sign + +(up ? Math.ceil(n / step * (1 - 1e-12)) * step : n).toPrecision(4) + ' ' + u[1];
};
const digits = span => Math.min(9, Math.max(0, Math.ceil(-Math.log10(span * data.unit)) + 3));
const moment = t => (data.t0 + t * data.unit).toFixed(digits(v.to - v.from)) + ' s';
const bytes = n => n < 1024 ? n + (n === 1 ? ' byte' : ' bytes') : n < 1048576 ? +(n / 1024).toPrecision(4) + ' KB' : +(n / 1048576).toPrecision(4) + ' MB';
const bound = s => s !== s ? ', bound unknown' : s > 0 ? ' \u00b1 ' + time(s / data.unit, 1) : '';

// ---- the rows ----

const v = { from: 0, to: Math.max(1, data.end), gutter: 110, top: 0, layout: [], match: null, messages: true, chosen: null, mark: null, cursor: null, row: -1 };
const hidden = new Set(), folded = new Set();
let order = 'rank', rowHeight = 0;
const shownRows = data.rows.filter(r => data.used.has(r.row));
if (!shownRows.length) return;
const hosts = [...new Set(shownRows.map(r => r.host))], sums = new Map();
// how much of the time a row is in MPI, and waits: for sorting
const sumOf = row => {
	if (sums.has(row)) return sums.get(row);
	let mpi = 0, wait = 0;
	const o = data.overview && data.overview.of.get(row);
	if (o) {
		for (let k = 0; k < data.overview.bins; k++) {
			mpi += (data.F[o.first[k]].cls === 'MPI' ? o.shares[4 * k] : 0) + (data.F[o.second[k]].cls === 'MPI' ? o.shares[4 * k + 1] : 0);
			wait += o.shares[4 * k + 3];
		}
	} else for (const d of data.details) {
		const c = d.calls.get(row);
		for (let i = 0; c && i < c.n; i++) if (data.F[c.fun[i]].cls === 'MPI' && (c.parent[i] < 0 || data.F[c.fun[c.parent[i]]].cls !== 'MPI')) mpi += c.end[i] - c.begin[i];
		for (const w of d.waitsOf.get(row) || []) wait += w.takes;
	}
	sums.set(row, { mpi, wait });
	return sums.get(row);
};
const ORDERS = { rank: 'by rank', mpi: 'most time in MPI first', work: 'least time in MPI first', wait: 'most waits first' };
const sorted = rows => order === 'rank' ? rows : [...rows].sort((a, b) => {
	const p = sumOf(a.row), q = sumOf(b.row);
	return order === 'mpi' ? q.mpi - p.mpi : order === 'work' ? p.mpi - q.mpi : q.wait - p.wait;
});
const layOut = () => {
	const groups = hosts.length > 1 && order === 'rank' ? hosts.map(h => [h, shownRows.filter(r => r.host === h)]) : [[null, sorted(shownRows)]];
	let y = 2;
	v.layout = [];
	const h = rowHeight || Math.max(5, Math.min(24, Math.floor(520 / shownRows.filter(r => !hidden.has(r.row)).length)));
	for (const [host, rows] of groups) {
		const seen = rows.filter(r => !hidden.has(r.row));
		if (host !== null) {
			v.layout.push({ row: -1, host, y, h: 16, label: (folded.has(host) ? '\u25b8 ' : '\u25be ') + host });
			y += 16;
		}
		const each = folded.has(host) ? Math.min(h, Math.max(1, 28 / Math.max(1, seen.length))) : h;
		for (const r of seen) {
			v.layout.push({ row: r.row, y, h: each, label: folded.has(host) ? '' : r.name });
			y += each;
		}
		if (host !== null) y += 3;
	}
	v.total = y + 2;
	if (v.row >= 0 && hidden.has(v.row)) v.row = -1;
};

// ---- what is on the page ----

const tools = make('div', { class: 'tools', role: 'group', 'aria-label': 'Timeline' });
const button = (text, name, f) => { const e = make('button', { type: 'button', 'aria-label': name, title: name }, text); e.onclick = f; tools.append(e); return e; };
const frame = make('div', { class: 'timeline', tabindex: 0, role: 'application', 'aria-label': 'Timeline: a row for each thread, time from left to right', 'aria-describedby': 'timeline-keys' });
const canvas = make('canvas', { 'aria-hidden': 'true' }), spacer = make('div', { class: 'spacer' });
const now = make('p', { class: 'read', role: 'status', id: 'timeline-status' }), info = make('div', { class: 'chosen-call', 'aria-live': 'polite' });
const legend = make('p', { class: 'key timeline-legend' });
frame.append(canvas, spacer);
const painter = timelinePainter(canvas, data);

let asked = 0;
const redraw = () => { if (!asked) asked = requestAnimationFrame(paint); };
const paint = () => {
	asked = 0;
	v.gutter = frame.clientWidth < 500 ? 70 : 110;
	const most = Math.min(v.total + painter.AXIS, Math.max(200, Math.round(window.innerHeight * 0.7)));
	const h = Math.ceil(most);
	canvas.style.height = h + 'px';
	spacer.style.height = Math.max(0, v.total + painter.AXIS - h) + 'px';
	v.top = Math.min(frame.scrollTop, Math.max(0, v.total + painter.AXIS - h));
	painter.resize(frame.clientWidth, h);
	painter.draw(v);
	say();
	ask();
};
// what is seen, in words
const say = () => {
	let text = moment(v.from) + ' to ' + moment(v.to) + ' (' + time(v.to - v.from) + ')';
	if (v.mark !== null && v.cursor !== null) {
		const row = v.row >= 0 ? v.row : v.layout.find(l => l.row >= 0).row, b = v.markRow >= 0 ? data.boundBetween(v.markRow, v.mark, row, v.cursor) : NaN;
		text += '. From the mark: ' + time(v.cursor - v.mark) + bound(b);
	} else if (v.cursor !== null) text += '. At the pointer: ' + moment(v.cursor);
	if (v.messages && v.messagesEvery > 1) text += '. Of ' + v.messagesThere + ' messages one in ' + v.messagesEvery + ' is drawn';
	if (v.uncertain) text += '. The short bars are the uncertainty of the clocks, up to ' + time(v.uncertain / data.unit);
	if (data.served && !data.covering(v.from, v.to)) text += asking.failed || (tooMuch(v.from, v.to) ? '. These are too many calls to show each: zoom in' : '. Reading single calls\u2026');
	else if (!details().length) text += data.overview ? '. Only the overview is in this page here: grey and stacked colours are shares of each column' : '';
	now.textContent = text;
};
// ---- details that are not in the page ----

const asking = { timer: 0, busy: false, refused: [], failed: '' };
const tooMuch = (from, to) => asking.refused.some(r => r[0] >= from && r[1] <= to);
// what is shown, and as much again around it; if that is too much, what is shown
const askFor = async (from, to) => {
	asking.busy = true;
	try {
		const a = await fetch(data.served + '?from=' + from + '&to=' + to, { cache: 'no-store' });
		if (a.status === 200) data.add(await a.text());
		else if (a.status === 204) asking.refused.push([from, to]);
		else throw new Error(await a.text());
		asking.failed = '';
	} catch (e) {
		asking.failed = '. vtreport does not answer: its single calls cannot be shown (' + e.message.trim() + ')';
	}
	asking.busy = false;
	redraw();
};
const ask = () => {
	clearTimeout(asking.timer);
	if (!data.served || asking.busy || data.covering(v.from, v.to) || tooMuch(v.from, v.to)) return;
	const from = Math.floor(v.from), to = Math.min(data.end, Math.ceil(v.to)), half = Math.ceil((to - from) / 2);
	const more = [Math.max(0, from - half), Math.min(data.end, to + half)];
	asking.timer = setTimeout(() => tooMuch(more[0], more[1]) ? askFor(from, to) : askFor(more[0], more[1]), asking.failed ? 2000 : 100);
};

const details = () => data.details.filter(d => d.to > v.from && d.from < v.to);

const move = (from, to, quiet) => {
	const least = Math.max(10, 1e-9 / data.unit);
	if (to - from < least) { const m = (from + to) / 2; from = m - least / 2; to = m + least / 2; }
	if (to - from >= data.end) { from = 0; to = data.end; }
	if (from < 0) { to -= from; from = 0; }
	if (to > data.end) { from = Math.max(0, from - (to - data.end)); to = data.end; }
	v.from = from;
	v.to = to;
	redraw();
	if (!quiet) document.dispatchEvent(new CustomEvent('time-range', { detail: { from: from * data.unit, to: to * data.unit, by: 'timeline' } }));
};
const zoom = (factor, centre) => { const c = centre === undefined ? (v.from + v.to) / 2 : centre; move(c - (c - v.from) * factor, c + (v.to - c) * factor); };
const shift = part => move(v.from + part * (v.to - v.from), v.to + part * (v.to - v.from));

// ---- one call ----

const detailAt = t => data.details.find(d => t >= d.from && t <= d.to);
const callOf = (row, t, near) => {
	for (const d of data.details) {
		const c = d.calls.get(row);
		if (t < d.from || t > d.to || !c) continue;
		const i = data.callAt(c, t, near);
		if (i >= 0) return { d, c, i, row, from: c.begin[i], to: c.end[i] };
	}
	return null;
};
const line = (list, name, text) => { list.append(make('dt', {}, name), make('dd', {}, text)); };
const link = (text, f) => { const e = make('button', { type: 'button' }, text); e.onclick = f; return e; };
const messagesOf = s => s.d.messages.filter(m => !m.unknown &&
	((m.from === s.row && m.sent >= s.from && m.sent <= s.to) || (m.to === s.row && m.got >= s.from && m.got <= s.to)));
const operationsOf = s => s.d.operations.filter(o => data.operations[o.op] === data.F[s.c.fun[s.i]].name && s.from >= o.from - 1 && s.from <= o.from + o.spread + 1 &&
	(!data.communicators[o.comm] || !data.communicators[o.comm][1] || data.communicators[o.comm][1].includes(s.row)));

const describe = s => {
	const f = data.F[s.c.fun[s.i]], list = make('dl', {}), parent = s.c.parent[s.i];
	info.textContent = '';
	info.append(make('h3', {}, f.name + ' on ' + data.rows[s.row].name));
	const b = data.boundAt(s.row, s.from);
	line(list, 'Begins', (data.t0 + s.from * data.unit).toFixed(9) + ' s' + bound(b) + (s.c.open[s.i] & 1 ? ' or before: only a part is in the page' : ''));
	line(list, 'Takes', time(s.to - s.from) + (s.c.open[s.i] & 2 ? ' or more: it does not end in this part' : ''));
	if (f.cls) line(list, 'Class', f.cls);
	if (data.rows[s.row].host) line(list, 'Host', data.rows[s.row].host);
	if (s.c.place[s.i]) line(list, 'Source', data.places[s.c.place[s.i]]);
	line(list, 'Called by', parent >= 0 ? data.F[s.c.fun[parent]].name : 'nothing that is recorded');
	const partners = [];
	s.messages.slice(0, 8).forEach(m => {
		const out = m.from === s.row, other = out ? m.to : m.from;
		line(list, out ? 'Sends to' : 'Receives from', data.rows[other].name + ': ' + bytes(m.bytes) + ', tag ' + m.tag +
			(data.communicators[m.comm] && data.communicators[m.comm][0] ? ', ' + data.communicators[m.comm][0] : '') + ', takes ' + time(m.takes) + bound(data.boundBetween(m.from, m.sent, m.to, m.got)) +
			(painter.undecided(m) ? ': which was first cannot be decided' : ''));
		partners.push([other, out ? m.got : m.sent]);
	});
	if (s.messages.length > 8) line(list, 'Messages', s.messages.length + ' in all');
	operationsOf(s).slice(0, 1).forEach(o => {
		const members = data.communicators[o.comm] && data.communicators[o.comm][1];
		line(list, 'Operation', data.operations[o.op] + (data.communicators[o.comm] ? ' of ' + data.communicators[o.comm][0] : '') + (members ? ', ' + members.length + ' members' : '') +
			(o.bytes ? ', ' + bytes(o.bytes) + ' in all' : ''));
		line(list, 'Arrivals', 'within ' + time(o.spread) + (o.last >= 0 ? ', the last was ' + data.rows[o.last].name : '') + (o.root >= 0 ? '; root: ' + data.rows[o.root].name : ''));
		if (o.last >= 0 && o.last !== s.row) partners.push([o.last, o.from + o.spread]);
	});
	(s.d.waitsOf.get(s.row) || []).filter(w => w.from < s.to && w.from + w.takes > s.from).slice(0, 3).forEach(w => {
		line(list, w.decided ? 'Waits' : 'Maybe waits', time(w.takes) + ', ' + data.kinds[w.kind] + (w.cause >= 0 ? ': for ' + data.rows[w.cause].name +
			(w.fun ? ', which was in ' + data.F[w.fun].name : '') : '') + (w.decided ? '' : '; that is less than the uncertainty of the clocks'));
	});
	// the cause of a wait is the first to look at
	const cause = (s.d.waitsOf.get(s.row) || []).find(w => w.decided && w.cause >= 0 && w.from < s.to && w.from + w.takes > s.from);
	if (cause) partners.sort((a, b) => (b[0] === cause.cause) - (a[0] === cause.cause));
	info.append(list);
	s.partners = partners;
	const row = make('div', { class: 'tools' });
	if (partners.length) row.append(link('Jump to ' + data.rows[partners[0][0]].name, jump));
	row.append(link('Zoom to this call', () => move(s.from - (s.to - s.from) / 4, s.to + (s.to - s.from) / 4)));
	if (parent >= 0) row.append(link('Select ' + data.F[s.c.fun[parent]].name, outer));
	info.append(row);
};
const choose = s => {
	v.chosen = s;
	if (s) {
		s.messages = messagesOf(s);
		v.row = s.row;
		describe(s);
		if (s.to < v.from || s.from > v.to) { const m = (s.from + s.to) / 2, w = (v.to - v.from) / 2; move(m - w, m + w); }
		reach(s.row);
	}
	redraw();
};
const reach = row => {
	const l = v.layout.find(r => r.row === row);
	if (l && l.y < frame.scrollTop) frame.scrollTop = l.y;
	else if (l && l.y + l.h + painter.AXIS > frame.scrollTop + frame.clientHeight) frame.scrollTop = l.y + l.h + painter.AXIS - frame.clientHeight;
};
const jump = () => {
	const s = v.chosen, p = s && s.partners && s.partners[0];
	if (!p) { now.textContent = 'No partner is known.'; return; }
	hidden.delete(p[0]);
	layOut();
	const to = callOf(p[0], p[1], 2) || callOf(p[0], p[1] - 1, 2);
	if (to) choose(to);
	else { v.row = p[0]; if (data.served) move(p[1] - (v.to - v.from) / 2, p[1] + (v.to - v.from) / 2); now.textContent = data.rows[p[0]].name + ': its call is not in this part of the page.'; reach(p[0]); redraw(); }
};
const outer = () => {
	const s = v.chosen, i = s ? s.c.parent[s.i] : -1;
	if (i >= 0) choose({ d: s.d, c: s.c, i, row: s.row, from: s.c.begin[i], to: s.c.end[i] });
};
const beside = way => {
	const s = v.chosen;
	if (!s) { chooseAt(v.row >= 0 ? v.row : v.layout.find(l => l.row >= 0).row, (v.from + v.to) / 2); return; }
	for (let i = s.i + way; i >= 0 && i < s.c.n; i += way)
		if (!v.match || v.match.has(s.c.fun[i])) { choose({ d: s.d, c: s.c, i, row: s.row, from: s.c.begin[i], to: s.c.end[i] }); return; }
	now.textContent = 'There is no further one here.';
};
// without detail: what the overview says of the column
const share = (part, f) => part + ' % ' + (data.F[f].cls ? data.F[f].cls + ', most of it ' : '') + data.F[f].name;
const describeBin = (row, t) => {
	const o = data.overview && data.overview.of.get(row);
	v.chosen = null;
	info.textContent = '';
	info.append(make('h3', {}, data.rows[row].name + ' at ' + moment(t)));
	if (o) {
		const k = Math.min(data.overview.bins - 1, Math.floor(t / data.overview.width)), s = o.shares, parts = [];
		if (s[4 * k]) parts.push(share(s[4 * k], o.first[k]));
		if (s[4 * k + 1]) parts.push(share(s[4 * k + 1], o.second[k]));
		info.append(make('p', {}, 'In ' + time(data.overview.width) + ': ' + (parts.join('; ') || 'nothing is recorded') + (s[4 * k + 3] ? '; ' + s[4 * k + 3] + ' % waits' : '') + '.'));
		const from = data.t0 + v.from * data.unit, to = data.t0 + v.to * data.unit;
		if (data.served) return;
		info.append(make('p', { class: 'soft' }, 'Single calls of this time are not in the page. For a page of what is shown: vtreport TRACE.stf --window ' + from.toFixed(6) + 's:' + to.toFixed(6) + 's'));
	} else info.append(make('p', {}, 'Nothing is recorded here.'));
};
const chooseAt = (row, t) => {
	const near = 4 * (v.to - v.from) / Math.max(1, frame.clientWidth - v.gutter), s = callOf(row, t, near);
	v.row = row;
	if (s) choose(s);
	else { describeBin(row, t); redraw(); }
};

// ---- moving ----

const timeAt = e => { const r = canvas.getBoundingClientRect(); return v.from + Math.max(0, e.clientX - r.left - v.gutter) / (r.width - v.gutter) * (v.to - v.from); };
const rowAt = e => { const y = e.clientY - canvas.getBoundingClientRect().top + v.top; return v.layout.find(l => y >= l.y && y < l.y + l.h); };
let begin = null;
canvas.onpointerdown = e => {
	if (e.button !== 0) return;
	frame.focus({ preventScroll: true });
	const x = e.clientX - canvas.getBoundingClientRect().left;
	begin = { x, t: timeAt(e), from: v.from, to: v.to, pan: e.pointerType === 'touch' || e.altKey || e.ctrlKey };
	if (e.pointerType !== 'touch') { canvas.setPointerCapture(e.pointerId); e.preventDefault(); }
};
canvas.onpointermove = e => {
	const x = e.clientX - canvas.getBoundingClientRect().left;
	v.cursor = x >= v.gutter ? timeAt(e) : null;
	if (begin && begin.pan) { const dt = (begin.x - x) / (canvas.clientWidth - v.gutter) * (begin.to - begin.from); move(begin.from + dt, begin.to + dt); }
	else if (begin && Math.abs(x - begin.x) > 4) v.drag = [Math.max(v.gutter, begin.x), x];
	redraw();
};
canvas.onpointerup = e => {
	const t = timeAt(e), l = rowAt(e), b = begin;
	begin = null;
	if (!b) return;
	if (v.drag) {
		v.drag = null;
		move(Math.min(b.t, t), Math.max(b.t, t));
	} else if (Math.abs(e.clientX - canvas.getBoundingClientRect().left - b.x) <= 4 && l) {
		if (l.row < 0) { folded.has(l.host) ? folded.delete(l.host) : folded.add(l.host); layOut(); redraw(); }
		else if (e.shiftKey) { v.mark = t; v.markRow = l.row; redraw(); }
		else chooseAt(l.row, t);
	}
};
canvas.onpointerleave = () => { if (!begin) { v.cursor = null; redraw(); } };
canvas.ondblclick = () => move(0, data.end);
frame.onscroll = redraw;
// the wheel zooms where the timeline has the focus, or with Ctrl; else the page scrolls
frame.addEventListener('wheel', e => {
	if (!e.ctrlKey && document.activeElement !== frame) return;
	if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) shift((e.deltaX || e.deltaY) / 1000);
	else if (e.altKey) return;
	else zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 300))), timeAt(e));
	e.preventDefault();
}, { passive: false });

const stepRow = way => {
	const rows = v.layout.filter(l => l.row >= 0), k = rows.findIndex(l => l.row === v.row), to = rows[Math.max(0, Math.min(rows.length - 1, k + way))];
	v.row = to.row;
	reach(to.row);
	chooseAt(to.row, v.chosen && v.chosen.from >= v.from && v.chosen.from <= v.to ? v.chosen.from + (v.chosen.to - v.chosen.from) / 2 : (v.from + v.to) / 2);
};
const hide = () => { if (v.row >= 0 && v.layout.filter(l => l.row >= 0).length > 1) { hidden.add(v.row); layOut(); choicesOfRows(); redraw(); } };
const allRows = () => { hidden.clear(); folded.clear(); layOut(); choicesOfRows(); redraw(); };
const mark = () => { v.mark = v.chosen ? v.chosen.from : v.cursor !== null ? v.cursor : (v.from + v.to) / 2; v.markRow = v.row; if (v.cursor === null) v.cursor = v.mark; redraw(); };
let worst = -1;
const jumpRows = [...document.querySelectorAll('tr[data-row][data-from]')], worstRows = jumpRows.filter(tr => 'wait' in tr.dataset);
const nextWait = () => { if (worstRows.length) goTo(worstRows[worst = (worst + 1) % worstRows.length]); };
const goTo = tr => {
	const row = +tr.dataset.row, from = +tr.dataset.from, to = +tr.dataset.to;
	hidden.delete(row);
	layOut();
	move(from - (to - from) * 0.6, to + (to - from) * 0.6);
	chooseAt(row, (from + to) / 2);
};
const ACTIONS = { ArrowLeft: () => shift(-0.25), ArrowRight: () => shift(0.25), ArrowUp: () => stepRow(-1), ArrowDown: () => stepRow(1), '+': () => zoom(0.5, centre()), '=': () => zoom(0.5, centre()),
	'-': () => zoom(2, centre()), 0: () => move(0, data.end), Home: () => move(0, v.to - v.from), End: () => move(data.end - (v.to - v.from), data.end), n: () => beside(1), p: () => beside(-1), o: outer, j: jump, w: nextWait, m: mark,
	h: hide, a: allRows, '/': () => search.focus(), Enter: () => beside(1), Escape: () => { v.mark = null; v.chosen = null; info.textContent = ''; redraw(); } };
const centre = () => v.chosen && v.chosen.to > v.from && v.chosen.from < v.to ? Math.max(v.from, Math.min(v.to, (v.chosen.from + v.chosen.to) / 2)) : v.cursor !== null ? v.cursor : undefined;
frame.onkeydown = e => {
	if (e.ctrlKey || e.altKey || e.metaKey || !ACTIONS[e.key]) return;
	ACTIONS[e.key]();
	e.preventDefault();
};

// ---- tools and legend ----

button('+', 'Zoom in', () => zoom(0.5, centre()));
button('\u2212', 'Zoom out', () => zoom(2, centre()));
button('\u25c0', 'Earlier', () => shift(-0.5));
button('\u25b6', 'Later', () => shift(0.5));
button('All', 'All of the run', () => move(0, data.end));
if (worstRows.length) button('Next wait', 'Next wait, the longest first', nextWait);
const search = make('input', { type: 'search', 'aria-label': 'Search a function in the timeline', placeholder: 'function\u2026' });
search.oninput = () => {
	const text = search.value.toLowerCase();
	v.match = text ? new Set(data.F.map((f, i) => i).filter(i => i && data.F[i].name.toLowerCase().includes(text))) : null;
	now.textContent = text ? v.match.size + (v.match.size === 1 ? ' function has' : ' functions have') + ' that in the name' : '';
	redraw();
};
search.onkeydown = e => {
	if (e.key !== 'Enter' || !v.match) return;
	// the next call of such a function, in any row, after what is chosen
	const after = v.chosen ? v.chosen.from : v.from - 1;
	let best = null;
	for (const d of data.details) for (const l of v.layout) {
		const c = d.calls.get(l.row);
		for (let i = c ? data.firstFrom(c, after + 1e-3) : 0; c && i < c.n; i++) if (v.match.has(c.fun[i])) { if (!best || c.begin[i] < best.from) best = { d, c, i, row: l.row, from: c.begin[i], to: c.end[i] }; break; }
	}
	if (best) choose(best);
	else now.textContent = 'No later call of such a function is in the page.';
};
tools.append(search);
const sort = make('select', { 'aria-label': 'Order of the rows' });
for (const k in ORDERS) sort.append(make('option', { value: k }, ORDERS[k]));
sort.onchange = () => { order = sort.value; layOut(); redraw(); };
if (shownRows.length > 1) tools.append(sort);
const lines = make('label', {}), check = make('input', { type: 'checkbox' });
check.checked = true;
check.onchange = () => { v.messages = check.checked; redraw(); };
lines.append(check, ' messages');
if (data.details.some(d => d.messages.length)) tools.append(lines);

const rowsBox = make('details', {}), rowsList = make('div', { class: 'tools' });
rowsBox.append(make('summary', {}, 'Rows that are shown'), rowsList);
const choicesOfRows = () => {
	rowsList.textContent = '';
	for (const r of shownRows) {
		const l = make('label', {}), c = make('input', { type: 'checkbox' });
		c.checked = !hidden.has(r.row);
		c.onchange = () => { if (c.checked) hidden.delete(r.row); else if (hidden.size < shownRows.length - 1) hidden.add(r.row); else c.checked = true; layOut(); redraw(); };
		l.append(c, ' ' + r.name);
		rowsList.append(l);
	}
};
const writeLegend = () => {
	const t = painter.readTheme();
	legend.textContent = '';
	const sample = (draw, text) => {
		const c = make('canvas', { width: 36, height: 20, 'aria-hidden': 'true', class: 'sample' });
		const x = c.getContext('2d');
		x.scale(2, 2);
		draw(x);
		legend.append(c, make('span', {}, text + ' '));
	};
	const full = colour => x => { x.fillStyle = painter.css(colour); x.fillRect(0, 0, 18, 10); };
	const stroke = (x, dash) => { x.strokeStyle = painter.css(t.fg); x.setLineDash(dash); x.beginPath(); x.moveTo(0, 9); x.lineTo(18, 1); x.stroke(); };
	for (const c of t.classes) sample(full(t.of.get(c)), c);
	if (data.overview) sample(full(t.rule), 'several others');
	if (data.details.some(d => d.waits.length) || worstRows.length) sample(x => { full(t.of.get('MPI') || t.rule)(x); x.strokeStyle = painter.css(t.fg); x.beginPath(); for (let k = -10; k < 18; k += 5) { x.moveTo(k, 10); x.lineTo(k + 10, 0); } x.stroke(); }, 'waits');
	if (data.details.some(d => d.messages.length)) {
		sample(x => stroke(x, []), 'message');
		sample(x => stroke(x, [3, 2]), 'message whose order the clocks cannot decide');
	}
	sample(x => { x.fillStyle = painter.css(t.rule); for (let k = 0; k < 18; k += 3) x.fillRect(k, 4, 1, 1.5); }, 'nothing recorded');
};
const help = make('details', { id: 'timeline-help' }), keys = make('p', { id: 'timeline-keys', class: 'soft' });
keys.textContent = 'Keys: ' + KEYS.map(k => k[0] + ' ' + k[1]).join('; ') + '. Mouse: drag to zoom, Ctrl and drag to move, wheel to zoom after a click, Shift and click to measure, click on a name of a node to fold it.';
help.append(make('summary', {}, 'Keys and mouse'), keys);

place.textContent = '';
place.append(tools, frame, legend, now, info, rowsBox, help);
for (const tr of jumpRows) {
	const th = tr.querySelector('th'), b = make('button', { type: 'button', class: 'go' }, th.textContent);
	b.onclick = () => { place.scrollIntoView({ block: 'start' }); goTo(tr); frame.focus({ preventScroll: true }); };
	th.textContent = '';
	th.append(b);
}
document.addEventListener('time-range', e => { if (e.detail.by !== 'timeline') move(e.detail.from / data.unit, e.detail.to / data.unit, true); });
matchMedia('(prefers-color-scheme:dark)').addEventListener('change', () => { writeLegend(); redraw(); });
new ResizeObserver(redraw).observe(frame);
layOut();
choicesOfRows();
writeLegend();
redraw();
})();
