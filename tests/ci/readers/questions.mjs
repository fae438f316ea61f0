// SPDX-License-Identifier: BSD-3-Clause
// node questions.mjs STFTOOL FOLDER TRACE: the queries of FOLDER (exchange/sql) to TRACE.parquet by DuckDB, against what
// stftool computes of TRACE.stf. Prints what differs.
import { DuckDBInstance } from '@duckdb/node-api';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const [stftool, folder, trace] = process.argv.slice(2);
const db = await (await DuckDBInstance.create()).connect();
let bad = 0, compared = 0;

const stf = (...words) => JSON.parse(execFileSync(stftool, [`${trace}.stf`, ...words, '--json'], { maxBuffer: 1 << 28 }));

async function ask(file) {
	let rows;
	const text = fs.readFileSync(`${folder}/${file}.sql`, 'utf8').replace(/--.*$/mg, '');
	for (const statement of text.split(';').filter((s) => s.trim())) {
		rows = (await db.runAndReadAll(statement)).getRowObjectsJson();
	}
	return rows;
}

// found and wanted: maps of name to numbers; numbers within a millionth, or 20 ns of rounded stamps
function compare(what, found, wanted) {
	for (const name of new Set([...Object.keys(found), ...Object.keys(wanted)])) {
		const a = found[name] ?? [], b = wanted[name] ?? [];
		compared++;
		if (a.length !== b.length || a.some((x, i) => !(Math.abs(x - b[i]) <= 2e-8 + 1e-6 * Math.abs(b[i])))) {
			console.log(`${what}: ${name}: DuckDB ${a}, stftool ${b}`);
			bad++;
		}
	}
}

function add(map, name, numbers) {
	map[name] = (map[name] ?? numbers.map(() => 0)).map((x, i) => x + Number(numbers[i]));
}

await db.run(`set variable trace = '${trace}'`);
await ask('trace');
const ns = 1e-9, analysis = stf('--analyze'), statistics = stf('--print-statistics').lw_statistics;
const period = stf('--print-clock').clock[0].resolution_s;

let found = {}, wanted = {};
for (const r of (await ask('functions')).filter((r) => !/[Ss]endrecv/.test(r.name))) {
	add(found, `${r.class}:${r.name}`, [r.calls, r.own_ns * ns, r.ns * ns]);
}
// a call that sends and receives has two rows there
for (const s of statistics.filter((s) => !/[Ss]endrecv/.test(s.function))) {
	add(wanted, s.function, [s.count, s.sumTicksExcl * period, s.sumTicksIncl * period]);
}
compare('functions', found, wanted);

found = {}, wanted = {};
for (const r of await ask('mpi')) {
	add(found, `${r.thread}:${r.rank}`, [r.mpi_ns * ns, r.all_ns * ns]);
}
for (const t of analysis.mpi_threads) {
	add(wanted, t.thread, [t.mpi_s, t.to_s - t.from_s]);
}
compare('mpi', found, wanted);

found = {}, wanted = {};
for (const r of await ask('late_senders')) {
	add(found, `${r.receiver} MPI:${r.name}`, [r.waits, r.wait_ns * ns]);
}
for (const w of analysis.waits.filter((w) => w.wait === 'late sender' || w.wait === 'wrong order')) {
	add(wanted, `${w.thread.split(':')[1]} ${w.call}`, [w.count, w.sum_s]);
}
compare('late senders', found, wanted);

found = {}, wanted = {};
for (const r of await ask('collectives')) {
	add(found, `${r.name} ${r.communicator}`, [r.operations, r.inside_ns * ns, r.spread_ns * ns, r.worst_ns * ns, r.undecided]);
}
for (const s of analysis.spreads) {
	add(wanted, `${s.operation} ${s.communicator}`, [s.count, s.inside_s, s.spread_s, s.worst_s, s.undecided]);
}
compare('collectives', found, wanted);

found = {}, wanted = {};
const pairs = await ask('pairs'), sizes = await ask('sizes');
for (const r of pairs) {
	add(found, 'messages', [r.messages, r.bytes]);
}
for (const r of sizes) {
	add(wanted, 'messages', [r.messages, r.bytes]);
}
compare('pairs and sizes', found, wanted);
const basis = Object.fromEntries(analysis.basis.map((b) => [b.what, b.count]));
compare('messages', { all: [found.messages?.[0] ?? 0], reversed: [(await ask('reversed')).length] },
	{ all: [basis.messages], reversed: [Object.entries(basis).find(([k]) => /before/.test(k))?.[1] ?? NaN] });

found = {}, wanted = {};
for (const r of await ask('counters')) {
	add(found, r.counter, [r.samples]);
}
for (const c of stf('--print-counters').counters) {
	add(wanted, `${c.class}:${c.name}`, [c.samples]);
}
compare('counters', found, wanted);
console.log(`${compared} compared, ${bad} differ`);
process.exit(bad || !compared ? 1 : 0);
