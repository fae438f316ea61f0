// Draws the timeline on a canvas: calls and the overview pixel by pixel, text, messages and marks on top.
const timelinePainter = (canvas, data) => {
const ctx = canvas.getContext('2d', { alpha: false });
const AXIS = 22, LINES = 3000, EDGES = 1500;
// of the functions of a pixel column: the time in each, which there are, and the order of their classes
const sum = new Float64Array(data.F.length), there = new Uint32Array(data.F.length);
const classNames = [...new Set(data.F.map(f => f.cls))].sort(), order = data.F.map(f => classNames.indexOf(f.cls));
let scale = 1, width = 0, height = 0, image = null, pixels = null, theme = null;

const rgb = text => { const h = text.trim().replace('#', ''), f = h.length === 3 ? [...h].map(c => c + c).join('') : h; return [0, 2, 4].map(i => parseInt(f.slice(i, i + 2), 16)); };
const mix = (a, b, part) => a.map((v, i) => Math.round(v + (b[i] - v) * part));
const pack = c => (255 << 24 | c[2] << 16 | c[1] << 8 | c[0]) >>> 0;
const css = c => 'rgb(' + c.join(',') + ')';

// a colour for each class, the busiest classes first get the clearest; functions of a class differ a little in lightness
const readTheme = () => {
	const style = getComputedStyle(document.documentElement), colour = k => rgb(style.getPropertyValue('--' + k));
	const bg = colour('bg'), fg = colour('fg'), rest = ['c2', 'c3', 'c4', 'c5', 'c6'], of = new Map();
	const classes = [...new Set(data.F.map(f => f.cls))].filter(c => c);
	for (const c of classes) of.set(c, colour(c === 'MPI' ? 'c1' : ![...of.keys()].some(k => k !== 'MPI') ? 'c0' : rest[Math.min(of.size - 2, 4)] || 'c2'));
	const inClass = new Map();
	theme = { bg, fg, soft: colour('soft'), rule: colour('rule'), panel: colour('panel'), of, classes,
		fun: data.F.map((f, i) => {
			const base = of.get(f.cls) || colour('c6'), n = inClass.get(f.cls) || 0;
			inClass.set(f.cls, n + 1);
			return i ? mix(base, n % 2 ? fg : bg, [0, 0.22, 0.3, 0.12][n % 4]) : bg;
		}) };
	return theme;
};

const resize = (w, h) => {
	scale = Math.min(2, window.devicePixelRatio || 1);
	const pw = Math.max(1, Math.round(w * scale)), ph = Math.max(1, Math.round(h * scale));
	if (!image || canvas.width !== pw || canvas.height !== ph) {
		canvas.width = pw;
		canvas.height = ph;
		image = ctx.createImageData(pw, ph);
		pixels = new Uint32Array(image.data.buffer);
	}
	width = w;
	height = h;
};

// pixels from x1 to x2 and y1 to y2, in pixels of the canvas, without the last
const box = (x1, x2, y1, y2, colour) => {
	const W = canvas.width;
	for (let y = y1; y < y2; y++) {
		if (x2 - x1 < 8) for (let k = y * W + x1, e = y * W + x2; k < e; k++) pixels[k] = colour;
		else pixels.fill(colour, y * W + x1, y * W + x2);
	}
};
// the hatching of a wait: every fourth diagonal
const hatch = (x1, x2, y1, y2, colour) => {
	const W = canvas.width, step = Math.round(5 * scale), thick = Math.max(1, Math.round(1.4 * scale));
	for (let y = y1; y < y2; y++)
		for (let x = x1; x < x2; x++) if ((x + y) % step < thick) pixels[y * W + x] = colour;
};

// a view: from, to, gutter, top (scrolled by), layout (rows with y and h), match (functions, or null), messages, chosen, marks, cursor
const draw = v => {
	if (!theme) readTheme();
	const W = canvas.width, left = Math.round(v.gutter * scale), perUnit = (W - left) / (v.to - v.from);
	const X = t => Math.max(left, Math.min(W, Math.round(left + (t - v.from) * perUnit)));
	const colours = new Uint32Array(theme.fun.length), dark = pack(theme.fg);
	theme.fun.forEach((c, i) => { colours[i] = pack(v.match && !v.match.has(i) ? mix(c, theme.bg, 0.8) : c); });
	const several = pack(mix(theme.rule, theme.bg, 0.2));
	pixels.fill(pack(theme.bg));
	const shown = v.layout.filter(l => l.row >= 0 && l.y + l.h > v.top && l.y < v.top + height - AXIS);
	const whole = data.covering(v.from, v.to);
	const parts = whole ? [whole] : data.details.filter(d => d.to > v.from && d.from < v.to && (d.to - d.from) * perUnit >= 3 * scale);
	const waitsDrawn = [];
	const middle = pack(theme.rule);
	for (const l of shown) {
		const y1 = Math.max(0, Math.round((l.y - v.top) * scale)), y2 = Math.min(canvas.height - Math.round(AXIS * scale), Math.round((l.y + l.h - v.top) * scale) - (l.h >= 6 ? Math.round(scale) : 0));
		if (y2 <= y1) continue;
		const ym = (y1 + y2) >> 1;
		for (let x = left; x < W; x++) if (x % 4 < 1) pixels[ym * W + x] = middle;
		if (data.overview && data.overview.of.has(l.row)) drawBins(v, l.row, y1, y2, left, perUnit, colours, several, dark);
		for (const d of parts) {
			const c = d.calls.get(l.row), a = X(d.from), b = X(d.to);
			box(a, b, y1, y2, pack(theme.bg));
			for (let x = a; x < b; x++) if (x % 4 < 1) pixels[ym * W + x] = middle;
			if (c) drawCalls(v, c, y1, y2, X, colours);
			for (const w of d.waitsOf.get(l.row) || []) {
				if (w.from + w.takes <= v.from || w.from >= v.to || !w.decided) continue;
				const p = X(w.from), q = X(w.from + w.takes);
				if (q - p >= 2) hatch(p, q, y1, y2, dark);
			}
		}
	}
	ctx.putImageData(image, 0, 0);
	ctx.setTransform(scale, 0, 0, scale, 0, 0);
	drawText(v, shown, parts);
	v.messagesEvery = 0;
	if (v.messages) drawMessages(v, parts.filter(d => (d.to - d.from) * perUnit >= 40 * scale));
	drawUncertainty(v, shown, parts);
	drawChosen(v);
	drawAxis(v);
};

const drawCalls = (v, c, y1, y2, X, colours) => {
	const chain = [], most = Math.min(3, Math.floor((y2 - y1) / (6 * scale))), inset = Math.max(1, Math.round(1.5 * scale));
	let first = data.firstFrom(c, v.from);
	for (let i = data.callAt(c, v.from, -1); i >= 0; i = c.parent[i]) chain.push(i);
	const one = i => {
		let a = X(c.begin[i]), b = X(c.end[i]);
		if (b === a) b = a + 1;
		if (b > canvas.width) return;
		const d = Math.min(c.depth[i], most) * inset;
		box(a, b, y1 + d, y2, colours[c.fun[i]]);
		if (b - a > 5 * scale && y2 - y1 > 6 * scale) box(b - 1, b, y1 + d, y2, pack(theme.bg));
	};
	while (chain.length) {
		const i = chain.pop();
		one(i);
		if (i >= first) first = i + 1;
	}
	for (; first < c.n && c.begin[first] < v.to; first++) one(first);
};

// of each pixel column the two functions with the most time in each bin, one above the other; the rest is grey. Without an object or a
// closure for each column: there are 100,000 of them
const drawBins = (v, row, y1, y2, left, perUnit, colours, several, dark) => {
	const o = data.overview.of.get(row), s = o.shares, bin = data.overview.width, bins = data.overview.bins, W = canvas.width;
	const step = Math.round(5 * scale), thick = 1.4 * scale;
	const firstBin = x => Math.floor((v.from + (x - left) / perUnit) / bin);
	const lastBin = x => Math.floor((v.from + (x - left) / perUnit + 1 / perUnit) / bin);
	for (let x = left, next; x < W; x = next) {
		const k1 = firstBin(x), k2 = Math.max(k1 + 1, lastBin(x));
		next = x + 1;
		if (k1 < 0 || k1 >= bins) continue;
		if (k2 === k1 + 1) while (next < W && firstBin(next) === k1 && lastBin(next) <= k2) next++;
		let all = 0, wait = 0, n = 0, used = 0;
		for (let k = k1; k < k2 && k < bins; k++, n++) {
			for (let i = 0; i < 2; i++) {
				const share = s[4 * k + i], f = i ? o.second[k] : o.first[k];
				if (!share) continue;
				if (!sum[f]) {
					let j = used++;
					for (; j > 0 && order[f] >= order[there[j - 1]]; j--) there[j] = there[j - 1];
					there[j] = f;
				}
				sum[f] += share;
			}
			all += s[4 * k + 2];
			wait += s[4 * k + 3];
		}
		let y = y2;
		const h = (y2 - y1) / (100 * n), top = Math.round(y2 - all * h);
		for (let j = 0; j < used; j++) {
			const f = there[j], up = Math.max(top, Math.round(y - sum[f] * h));
			box(x, next, up, y, colours[f]);
			sum[f] = 0;
			y = up;
		}
		box(x, next, top, y, several);
		for (let k = Math.round(y2 - wait * h); k < y2; k++)
			for (let c = x; c < next; c++) if ((c + k) % step < thick) pixels[k * W + c] = dark;
	}
};

const at = (v, t) => v.gutter + (t - v.from) * (width - v.gutter) / (v.to - v.from);
const middleOf = (v, row) => { const l = v.layout.find(r => r.row === row); return l ? l.y + l.h / 2 - v.top : NaN; };

const drawText = (v, shown, parts) => {
	ctx.fillStyle = css(theme.bg);
	ctx.fillRect(0, 0, v.gutter, height);
	ctx.font = '12px system-ui,sans-serif';
	ctx.textBaseline = 'middle';
	let below = -1e9;
	for (const l of v.layout) {
		const y = l.y - v.top + Math.min(l.h, 22) / 2;
		if (l.y + l.h < v.top || y > height - AXIS || y < 0 || y < below || !l.label) continue;
		ctx.fillStyle = css(l.row < 0 ? theme.soft : theme.fg);
		ctx.font = (l.row === v.row && l.row >= 0 ? 'bold ' : '') + '12px system-ui,sans-serif';
		ctx.fillText(l.label, 2, y, v.gutter - 6);
		below = y + 13;
	}
	ctx.font = '11px system-ui,sans-serif';
	for (const l of shown) {
		if (l.h < 14) continue;
		for (const d of parts) {
			const c = d.calls.get(l.row);
			if (!c) continue;
			const first = data.firstFrom(c, v.from);
			let drawn = 0;
			const name = i => {
				const a = Math.max(v.gutter, at(v, Math.max(c.begin[i], v.from))), b = Math.min(width, at(v, Math.min(c.end[i], v.to)));
				// the name of the innermost call that has room; where it calls others, up to the first of them
				const k = Math.max(i + 1, first), end = k < c.n && c.begin[k] < c.end[i] ? Math.min(b, at(v, c.begin[k])) : b;
				const text = data.F[c.fun[i]].name, room = end - a - 6;
				if (room < 30 || (v.match && !v.match.has(c.fun[i]))) return;
				const w = ctx.measureText(text).width;
				const shownText = w <= room ? text : text.slice(0, Math.max(2, Math.floor(text.length * room / w) - 1)) + '\u2026';
				const f = theme.fun[c.fun[i]], light = (0.299 * f[0] + 0.587 * f[1] + 0.114 * f[2]) > 140;
				ctx.lineWidth = 3;
				ctx.strokeStyle = css(f);
				ctx.strokeText(shownText, a + 3, l.y - v.top + l.h / 2);
				ctx.fillStyle = light ? '#000' : '#fff';
				ctx.fillText(shownText, a + 3, l.y - v.top + l.h / 2);
				drawn++;
			};
			const open = data.callAt(c, v.from, -1);
			if (open >= 0) name(open);
			const least = 30 * (v.to - v.from) / (width - v.gutter);
			for (let i = Math.max(first, open + 1); i < c.n && c.begin[i] < v.to && drawn < 60; i++) if (c.end[i] - c.begin[i] > least) name(i);
		}
	}
};

const undecided = m => {
	const b = data.boundBetween(m.from, m.sent, m.to, m.got);
	return m.takes * data.unit <= b;
};

const drawMessages = (v, parts) => {
	const place = new Map();
	for (const l of v.layout) if (l.row >= 0) place.set(l.row, l.y + l.h / 2 - v.top);
	let seen = [];
	for (const d of parts) for (const m of d.messages)
		if (!m.unknown && Math.max(m.sent, m.got) > v.from && Math.min(m.sent, m.got) < v.to && place.has(m.from) && place.has(m.to)) seen.push(m);
	v.messagesThere = seen.length;
	const every = Math.ceil(seen.length / LINES);
	v.messagesEvery = every;
	ctx.save();
	ctx.beginPath();
	ctx.rect(v.gutter, 0, width - v.gutter, height - AXIS);
	ctx.clip();
	ctx.lineWidth = 1;
	ctx.strokeStyle = css(theme.fg);
	ctx.globalAlpha = seen.length > 200 ? 0.55 : 0.9;
	for (const dashed of [false, true]) {
		ctx.setLineDash(dashed ? [4, 3] : []);
		ctx.beginPath();
		for (let i = 0; i < seen.length; i += every || 1) {
			const m = seen[i];
			if (undecided(m) !== dashed) continue;
			const x = at(v, m.got), y = place.get(m.to), x0 = at(v, m.sent), y0 = place.get(m.from), len = Math.hypot(x - x0, y - y0) || 1;
			ctx.moveTo(x0, y0);
			ctx.lineTo(x, y);
			if (seen.length <= 400) {
				const ux = (x - x0) / len * 6, uy = (y - y0) / len * 6;
				ctx.moveTo(x - ux - uy / 2, y - uy + ux / 2);
				ctx.lineTo(x, y);
				ctx.lineTo(x - ux + uy / 2, y - uy - ux / 2);
			}
		}
		ctx.stroke();
	}
	ctx.restore();
};

// where stamps may be wrong by more than a pixel, a band around the begin and the end of each call
const drawUncertainty = (v, shown, parts) => {
	const px = (width - v.gutter) / (v.to - v.from) / data.unit;
	let left = EDGES;
	v.uncertain = 0;
	ctx.save();
	ctx.beginPath();
	ctx.rect(v.gutter, 0, width - v.gutter, height - AXIS);
	ctx.clip();
	ctx.fillStyle = css(theme.fg);
	ctx.globalAlpha = 0.3;
	for (const l of shown) {
		const b = data.boundAt(l.row, (v.from + v.to) / 2), w = b * px;
		if (!(w > 1)) continue;
		v.uncertain = Math.max(v.uncertain, b);
		for (const d of parts) {
			const c = d.calls.get(l.row);
			for (let i = c ? data.firstFrom(c, v.from - b / data.unit) : 0; c && i < c.n && c.begin[i] < v.to && left > 0; i++, left--) {
				for (const t of [c.begin[i], c.end[i]]) {
					const x = at(v, t);
					if (x + w > v.gutter && x - w < width) ctx.fillRect(x - w, l.y - v.top + l.h / 2 - 2, 2 * w, 4);
				}
			}
		}
	}
	ctx.restore();
};

const drawChosen = v => {
	const s = v.chosen;
	ctx.lineWidth = 2;
	ctx.strokeStyle = css(theme.fg);
	if (s) {
		const l = v.layout.find(r => r.row === s.row);
		const a = Math.max(v.gutter, at(v, s.from)), b = Math.min(width, at(v, s.to));
		if (l && b >= v.gutter && a <= width) ctx.strokeRect(a, l.y - v.top, Math.max(2, b - a), Math.max(3, l.h - 1));
		for (const m of s.messages || []) {
			const y1 = middleOf(v, m.from), y2 = middleOf(v, m.to);
			if (y1 !== y1 || y2 !== y2) continue;
			ctx.setLineDash(undecided(m) ? [6, 4] : []);
			ctx.beginPath();
			ctx.moveTo(at(v, m.sent), y1);
			ctx.lineTo(at(v, m.got), y2);
			ctx.stroke();
			ctx.setLineDash([]);
		}
	}
	for (const t of [v.mark, v.cursor]) {
		if (t === null || t === undefined || t < v.from || t > v.to) continue;
		ctx.lineWidth = t === v.mark ? 2 : 1;
		ctx.beginPath();
		ctx.moveTo(at(v, t), 0);
		ctx.lineTo(at(v, t), height - AXIS);
		ctx.stroke();
	}
	if (v.drag) {
		ctx.globalAlpha = 0.2;
		ctx.fillStyle = css(theme.of.get('MPI') || theme.fg);
		ctx.fillRect(Math.min(v.drag[0], v.drag[1]), 0, Math.abs(v.drag[1] - v.drag[0]), height - AXIS);
		ctx.globalAlpha = 1;
	}
};

const step = (span, n) => { const p = 10 ** Math.floor(Math.log10(span / n)), s = span / n / p; return p * (s <= 1 ? 1 : s <= 2 ? 2 : s <= 5 ? 5 : 10); };

const drawAxis = v => {
	const y = height - AXIS, a = data.t0 + v.from * data.unit, b = data.t0 + v.to * data.unit, s = step(b - a, Math.max(2, (width - v.gutter) / 110));
	ctx.fillStyle = css(theme.bg);
	ctx.fillRect(0, y, width, AXIS);
	ctx.strokeStyle = css(theme.rule);
	ctx.fillStyle = css(theme.fg);
	ctx.lineWidth = 1;
	ctx.font = '12px system-ui,sans-serif';
	ctx.textBaseline = 'alphabetic';
	ctx.textAlign = 'center';
	const u = b - a < 2e-6 && b < 1e-3 ? [1e9, 'ns', 0] : b < 1e-3 ? [1e6, 'us'] : b < 1 ? [1e3, 'ms'] : [1, 's'], digits = Math.max(0, Math.ceil(-Math.log10(s * u[0]) - 1e-9));
	for (let t = Math.ceil(a / s) * s; t <= b; t += s) {
		const x = v.gutter + (t - a) / (b - a) * (width - v.gutter);
		ctx.beginPath();
		ctx.moveTo(x, y);
		ctx.lineTo(x, y + 4);
		ctx.stroke();
		if (x > v.gutter + 20 && x < width - 36) ctx.fillText((t * u[0]).toFixed(digits) + ' ' + u[1], x, y + 17);
	}
	ctx.textAlign = 'left';
};

return { draw, resize, readTheme, css, undecided, theme: () => theme || readTheme(), AXIS };
};
