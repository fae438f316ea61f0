// SPDX-License-Identifier: BSD-3-Clause
// Conversions as programs from npm read them; each line is compared with the trace by tests/ci/readers/readers.py.
//   node readers.mjs duckdb SAMPLES.parquet      counter, values, sums of whole parts and rests, first and last time
//   node readers.mjs hyparquet SAMPLES.parquet   the same, by another reader
//   node readers.mjs events EVENTS.parquet       kind and number, by both
//   node readers.mjs speedscope CHROMIUM FILE    for each profile its name and what its table shows: total, self, function
import process from 'node:process';

const [what, path, more] = process.argv.slice(2);

async function query(sql) {
	const { DuckDBInstance } = await import('@duckdb/node-api');
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	return (await connection.runAndReadAll(sql)).getRowsJson();
}

async function rows(file, columns) {
	const { asyncBufferFromFile, parquetReadObjects } = await import('hyparquet');
	const { compressors } = await import('hyparquet-compressors');
	return parquetReadObjects({ file: await asyncBufferFromFile(file), compressors, columns });
}

function print(list) {
	for (const r of list) {
		console.log(JSON.stringify(r.map((x) => (typeof x === 'bigint' ? String(x) : x))));
	}
}

// whole values exactly: value_int where a double does not do
async function duckdb(file) {
	print(await query(`select counter, count(*), sum(coalesce(value_int::hugeint, trunc(value)::hugeint))::varchar,
		sum(value - trunc(value))::varchar, min(time_ns), max(time_ns)
		from '${file}' group by counter order by counter`));
}

async function hyparquet(file) {
	const sums = new Map();
	for (const r of await rows(file)) {
		const s = sums.get(r.counter) ?? [0, 0n, 0, r.time_ns, r.time_ns];
		s[0]++;
		s[1] += r.value_int ?? BigInt(Math.trunc(r.value));
		s[2] += r.value - Math.trunc(r.value);
		s[3] = r.time_ns < s[3] ? r.time_ns : s[3];
		s[4] = r.time_ns > s[4] ? r.time_ns : s[4];
		sums.set(r.counter, s);
	}
	print([...sums].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([k, v]) => [k, ...v]));
}

async function events(file) {
	const seen = new Map();
	for (const r of await rows(file, ['kind'])) {
		seen.set(r.kind, (seen.get(r.kind) ?? 0) + 1);
	}
	const other = await query(`select kind, count(*) from '${file}' group by kind order by kind`);
	const mine = [...seen].sort((a, b) => (a[0] < b[0] ? -1 : 1));
	if (JSON.stringify(mine) !== JSON.stringify(other.map(([k, n]) => [k, Number(n)]))) {
		throw new Error(`DuckDB and hyparquet differ: ${JSON.stringify(other)} ${JSON.stringify(mine)}`);
	}
	print(mine);
}

async function speedscope(executablePath, file) {
	const { launch } = await import('puppeteer-core');
	const browser = await launch({ executablePath, headless: true,
		args: ['--no-sandbox', '--allow-file-access-from-files'] });
	try {
		const page = await browser.newPage();
		const faults = [];
		page.on('console', (m) => m.type() === 'error' && faults.push(m.text()));
		page.on('pageerror', (e) => faults.push(e.message));
		page.on('dialog', async (d) => { faults.push(d.message()); await d.dismiss(); });
		await page.goto(`file://${process.cwd()}/node_modules/speedscope/dist/release/index.html`);
		await (await page.waitForSelector('#file')).uploadFile(file);
		await page.waitForFunction(() => document.title.includes(' - speedscope') || document.body.innerText.includes('went wrong'),
			{ timeout: 20000 }).catch((e) => faults.push(e.message));
		await new Promise((r) => setTimeout(r, 500));
		await page.keyboard.press('3'); // the table of functions
		for (let i = 0, n = 1; i < n; i++) {
			await page.waitForFunction((k) => document.body.innerText.includes(`(${k}/`) || k === 1, { timeout: 20000 }, i + 1)
				.catch((e) => faults.push(e.message));
			await new Promise((r) => setTimeout(r, 300));
			const text = await page.evaluate(() => document.body.innerText);
			n = Number((text.match(/\(\d+\/(\d+)\)/) ?? [0, 1])[1]);
			const table = await page.evaluate(() => [...document.querySelectorAll('tr')].filter((r) => r.children.length === 3)
				.map((r) => [...r.children].map((c) => c.innerText.trim().replace(/\s+/g, ' '))));
			console.log(JSON.stringify([`${i + 1}/${n}`, ...table.filter((r) => r[0].includes('('))]));
			await page.keyboard.press('n');
		}
		if (faults.length) {
			throw new Error(faults.join('; '));
		}
	} finally {
		await browser.close();
	}
}

await { duckdb, hyparquet, events, speedscope }[what](path, more);
