// The picture of who calls whom: a click on a bar makes it as wide as the picture, a click on the widest one shows all again.
(() => {
for (const svg of document.querySelectorAll('svg.icicle')) {
	const bars = [...svg.children].filter(e => e.tagName === 'svg').map(e => ({ e, x: parseFloat(e.getAttribute('x')), w: parseFloat(e.getAttribute('width')), y: +e.getAttribute('y') }));
	let from = 0, width = 100;
	for (const b of bars) {
		b.e.onclick = () => {
			const whole = from === b.x && width === b.w;
			from = whole ? 0 : b.x;
			width = whole ? 100 : b.w;
			for (const o of bars) {
				const a = Math.max(0, (o.x - from) / width * 100), z = Math.min(100, (o.x + o.w - from) / width * 100);
				o.e.classList.toggle('away', z - a < 0.05);
				if (z > a) { o.e.setAttribute('x', a + '%'); o.e.setAttribute('width', z - a + '%'); }
				if (!o.e.querySelector('text') && z - a > 3) {
					const t = document.createElementNS('http://www.w3.org/2000/svg', 'text');
					t.setAttribute('x', 3);
					t.setAttribute('y', 13);
					t.textContent = o.e.querySelector('title').textContent.replace(/: .*/, '');
					o.e.append(t);
				}
			}
		};
	}
}
})();
