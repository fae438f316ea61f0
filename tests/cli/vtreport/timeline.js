// SPDX-License-Identifier: BSD-3-Clause
// Prints what the script of a page reads from its timeline, a line for each call, message, operation and wait, and for what is asked:
// node timeline.js timeline_data.js PAGE
'use strict';
const fs = require('fs'), [code, file] = process.argv.slice(2), page = fs.readFileSync(file, 'utf8');
const text = /id="timeline-data">([^]*?)<\/script>/.exec(page);
if (!text) { console.log('no timeline'); process.exit(0); }
const data = new Function(fs.readFileSync(code, 'utf8') + '; return timelineData;')()(text[1]);
const at = t => +(data.t0 + t * data.unit).toPrecision(9), long = t => +(t * data.unit).toPrecision(9), name = f => f ? data.F[f].name : '-';
console.log('run', at(0), at(data.end));
for (const d of data.details) {
	console.log('detail', at(d.from), at(d.to));
	for (const [row, c] of d.calls)
		for (let i = 0; i < c.n; i++)
			console.log('call', data.rows[row].name.replace(/ /g, '_'), name(c.fun[i]).replace(/ /g, '_'), at(c.begin[i]), at(c.end[i]), 'in', c.parent[i] < 0 ? '-' : name(c.fun[c.parent[i]]),
				'open', c.open[i], data.places[c.place[i]] || '-');
	for (const m of d.messages)
		console.log('message', m.from, m.to, at(m.sent), m.unknown ? 'unknown' : long(m.takes), 'bytes', m.bytes, 'tag', m.tag, data.communicators[m.comm] ? data.communicators[m.comm][0] : '-');
	for (const o of d.operations)
		console.log('operation', data.operations[o.op], at(o.from), 'spread', long(o.spread), 'takes', long(o.takes), 'last', o.last, 'root', o.root, 'bytes', o.bytes, data.communicators[o.comm][0], data.communicators[o.comm][1].join());
	for (const w of d.waits)
		console.log('wait', w.row, at(w.from), long(w.takes), data.kinds[w.kind].replace(/ /g, '_'), 'for', w.cause, name(w.fun).replace(/ /g, '_'), w.decided ? 'decided' : 'undecided');
}
if (data.overview) {
	console.log('overview', data.overview.bins, data.overview.of.size);
	const sum = new Map();
	let wait = 0;
	for (const o of data.overview.of.values())
		for (let k = 0; k < data.overview.bins; k++) {
			for (const [f, s] of [[o.first[k], o.shares[4 * k]], [o.second[k], o.shares[4 * k + 1]]]) if (s) sum.set(name(f), (sum.get(name(f)) || 0) + s);
			wait += o.shares[4 * k + 3];
		}
	for (const [f, s] of sum) console.log('sum', f.replace(/ /g, '_'), (s * data.overview.width * data.unit / 100).toPrecision(3));
	console.log('waited', (wait * data.overview.width * data.unit / 100).toPrecision(3));
}
for (const row of data.used) console.log('bound', row, data.boundAt(row, data.end / 2));
