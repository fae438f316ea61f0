// SPDX-License-Identifier: BSD-3-Clause
// Opens a report in a headless browser: no error, no request, nothing for axe-core to find, nothing wider than the window, in
// two sizes and both colour schemes, with and without script; zoom and values by keyboard. node report.js CHROMIUM FILE [SCREENSHOT]
'use strict';
const fs = require('fs'), puppeteer = require('puppeteer-core');
const [chromium, file, picture] = process.argv.slice(2);
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
let bad = 0;
const wrong = text => { bad++; console.log('wrong: ' + text); };

const look = async (browser, width, scheme, script) => {
	const page = await browser.newPage(), name = width + ' ' + scheme + (script ? '' : ' without script');
	page.on('console', m => wrong(name + ': console: ' + m.text()));
	page.on('pageerror', e => wrong(name + ': error: ' + e.message));
	page.on('request', r => { if (r.url() !== 'file://' + file) wrong(name + ': request: ' + r.url()); });
	page.on('dialog', async d => { wrong(name + ': a script of the trace ran: ' + d.message()); await d.dismiss(); });
	await page.setJavaScriptEnabled(script);
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
	await page.setViewport({ width, height: 900 });
	await page.goto('file://' + file);
	const wide = await page.evaluate(() => document.documentElement.scrollWidth);
	if (wide > width) wrong(name + ': the page is ' + wide + ' pixels wide');
	const size = await page.evaluate(() => [...document.querySelectorAll('svg.chart')].every(s => s.getBoundingClientRect().height > 20));
	if (!size) wrong(name + ': a picture has no height');
	if (picture) await page.screenshot({ path: picture + '-' + name.replaceAll(' ', '-') + '.png' });
	if (script) {
		await page.evaluate(() => document.querySelectorAll('details').forEach(d => { d.open = true; }));
		const found = await page.evaluate(axe + ';axe.run(document,{runOnly:{type:"tag",values:' + JSON.stringify(tags) + '}})' +
			'.then(r=>r.violations.map(v=>v.id+": "+v.nodes[0].html.slice(0,200)))');
		found.forEach(v => wrong(name + ': axe: ' + v));
	}
	return page;
};

// by keyboard alone: the second half of the run, and a value there
const tools = async page => {
	if (!await page.$('.bar')) return;
	const box = () => page.$eval('svg.chart[data-series] svg', s => s.getAttribute('viewBox'));
	const before = await box();
	await page.focus('.bar button');
	await page.keyboard.press('Enter');
	if (await box() === before) wrong('zoom by keyboard does nothing');
	if (!await page.$('input[type=range]')) return;
	await page.focus('input[type=range]');
	await page.keyboard.press('ArrowRight');
	const text = await page.$eval('.read:not(:empty)', e => e.textContent).catch(() => '');
	if (!/: /.test(text)) wrong('no value is read: ' + text);
};

// on paper: no tools, black on white whatever the screen has, everything within the page
const paper = async browser => {
	const page = await browser.newPage();
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
	await page.goto('file://' + file);
	await page.emulateMediaType('print');
	const seen = await page.evaluate(() => [...document.querySelectorAll('nav,.tools,details:not([open]) summary')].some(e => e.getClientRects().length));
	if (seen) wrong('print: navigation, tools or a summary that opens nothing are printed');
	const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	if (colour !== 'rgb(255, 255, 255)') wrong('print: the background is ' + colour);
	if (picture) await page.pdf({ path: picture + '.pdf', printBackground: true });
	await page.close();
};

(async () => {
	const browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox'] });
	for (const scheme of ['light', 'dark']) {
		for (const width of [1280, 400]) {
			const page = await look(browser, width, scheme, true);
			if (width === 1280 && scheme === 'light') await tools(page);
			await page.close();
		}
	}
	await (await look(browser, 1280, 'light', false)).close();
	await paper(browser);
	await browser.close();
	process.exit(bad ? 1 : 0);
})();
