// The data of the timeline as typed arrays, and questions to them. Times are units of the page since the begin; report/timeline/detail.h
// and overview.h describe the bytes.
const timelineData = source => {
const T = JSON.parse(source);
const F = T.functions.map(f => f ? { name: f[0], cls: T.classes[f[1]] || '' } : { name: '', cls: '' });
const rows = T.rows.map((r, i) => ({ row: i, name: r[0], host: r[1], process: r[2], thread: r[3] }));

const reader = text => {
	const s = atob(text), b = new Uint8Array(s.length);
	for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i);
	let at = 0;
	const num = () => {
		let v = 0, f = 1, c;
		do { c = b[at++]; v += (c & 127) * f; f *= 128; } while (c & 128);
		return v;
	};
	return { num, signed: () => { const v = num(); return v % 2 ? -(v + 1) / 2 : v / 2; }, place: () => at };
};

// calls of a row, in the order of their begin; parent: index of the calling one, -1: none; open: 1: it began before, 2: it ends later
const readCalls = (r, bytes, from, to) => {
	const end = r.place() + bytes, most = bytes, c = { n: 0, begin: new Float64Array(most), end: new Float64Array(most),
		fun: new Uint32Array(most), place: new Uint32Array(most), parent: new Int32Array(most), depth: new Uint16Array(most), open: new Uint8Array(most) };
	const stack = [];
	let now = from;
	while (r.place() < end) {
		const v = r.num(), kind = v % 4;
		now += (v - kind) / 4;
		if (kind === 0) {
			if (stack.length) c.end[stack.pop()] = now;
			continue;
		}
		const i = c.n++;
		c.begin[i] = now;
		c.fun[i] = r.num();
		if (kind === 2) c.place[i] = r.num();
		c.open[i] = kind === 3 ? 1 : 0;
		c.parent[i] = stack.length ? stack[stack.length - 1] : -1;
		c.depth[i] = stack.length;
		stack.push(i);
	}
	for (const i of stack) { c.end[i] = to; c.open[i] |= 2; }
	for (const k of ['begin', 'end', 'fun', 'place', 'parent', 'depth', 'open']) c[k] = c[k].slice(0, c.n);
	return c;
};

const readDetail = text => {
	const r = reader(text), d = { from: r.num(), to: r.num(), calls: new Map(), messages: [], operations: [], waits: [] };
	for (let n = r.num(); n > 0; n--) {
		const row = r.num(), bytes = r.num();
		d.calls.set(row, readCalls(r, bytes, d.from, d.to));
	}
	let t = 0;
	for (let n = r.num(); n > 0; n--) {
		t += r.signed();
		const m = { sent: t, from: r.num(), to: r.num() };
		m.takes = r.signed();
		m.bytes = r.num();
		m.tag = r.num();
		m.comm = r.num();
		m.unknown = r.num();
		m.got = m.sent + m.takes;
		d.messages.push(m);
	}
	t = 0;
	for (let n = r.num(); n > 0; n--) {
		t += r.signed();
		d.operations.push({ from: t, op: r.num(), comm: r.num(), spread: r.num(), takes: r.num(), root: r.num() - 1, last: r.num() - 1, bytes: r.num() });
	}
	t = 0;
	for (let n = r.num(); n > 0; n--) {
		t += r.signed();
		d.waits.push({ from: t, row: r.num(), takes: r.num(), kind: r.num(), cause: r.num() - 1, fun: r.num(), decided: r.num() });
	}
	d.waitsOf = new Map();
	for (const w of d.waits) {
		if (!d.waitsOf.has(w.row)) d.waitsOf.set(w.row, []);
		d.waitsOf.get(w.row).push(w);
	}
	return d;
};

// a row: for each bin two functions with their shares, the share of all, and of waits; 0 to 100
const readOverview = text => {
	const r = reader(text), bins = r.num(), of = new Map();
	for (let n = r.num(); n > 0; n--) {
		const row = r.num(), end = r.num() + r.place();
		const o = { first: new Uint32Array(bins), second: new Uint32Array(bins), shares: new Uint8Array(4 * bins) };
		let k = 0;
		while (r.place() < end) {
			const same = r.num(), a = r.num(), as = r.num(), b = r.num(), bs = r.num(), all = r.num(), wait = r.num();
			for (const until = k + same; k < until; k++) {
				o.first[k] = a;
				o.second[k] = b;
				o.shares.set([as, bs, all, wait], 4 * k);
			}
		}
		of.set(row, o);
	}
	return { bins, width: T.bin, of };
};

const details = T.details.map(readDetail), overview = T.overview ? readOverview(T.overview) : null;
const used = new Set(overview ? overview.of.keys() : []);
for (const d of details) for (const row of d.calls.keys()) used.add(row);

// index of the innermost call of a row at t; -1: none. near: how far from t its begin or end may be
const callAt = (c, t, near) => {
	let low = 0, high = c.n;
	while (low < high) { const m = (low + high) >> 1; if (c.begin[m] <= t) low = m + 1; else high = m; }
	for (let i = low - 1; i >= 0; i = c.parent[i]) if (c.end[i] > t) return i;
	if (low < c.n && c.begin[low] - t <= near) return low;
	return low > 0 && t - c.end[low - 1] <= near ? low - 1 : -1;
};
// the first call that may be seen from t on
const firstFrom = (c, t) => {
	let low = 0, high = c.n;
	while (low < high) { const m = (low + high) >> 1; if (c.begin[m] < t) low = m + 1; else high = m; }
	return low;
};
// seconds by which stamps of a row may be wrong; NaN: unknown
const boundAt = (row, t) => {
	const b = T.bound[rows[row].process];
	if (!b) return NaN;
	let k = 0;
	while (k + 2 < b.length && b[k + 2] <= t) k += 2;
	return b[k + 1] === null ? NaN : b[k + 1];
};
// of the distance of two stamps
const boundBetween = (row, t, other, u) => rows[row].process === rows[other].process ? 0 : boundAt(row, t) + boundAt(other, u);

return { unit: T.unit, t0: T.t0, end: T.end, F, rows, places: T.places, communicators: T.communicators, operations: T.operations,
	kinds: T.kinds || [], details, overview, used, callAt, firstFrom, boundAt, boundBetween,
	served: T.served || '', covering: (from, to) => details.find(d => d.from <= from && d.to >= to),
	// what the server sent, instead of the parts in it; of the parts that it sent the oldest goes
	add: text => {
		const d = readDetail(text);
		for (let i = details.length - 1; i >= 0; i--) if (details[i].from >= d.from && details[i].to <= d.to) details.splice(i, 1);
		d.sent = true;
		if (details.filter(o => o.sent).length >= 12) details.splice(details.findIndex(o => o.sent), 1);
		details.push(d);
		return d;
	} };
};
