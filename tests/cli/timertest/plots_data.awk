# SPDX-License-Identifier: BSD-3-Clause
# Makes the data files and the variable lines that timertest hands to plots/timertest.gnuplot, from
# made-up but plausible clocks, so that the graphs can be tested and looked at without MPI.
#
#   awk -v ranks=4 -v secs=600 -v out=DIR/BASE [-v tmdir=DIR/] [-v host=NAME] [-v title=TEXT]
#       [-v step=10] [-v skip=5] [-v wobble=1] [-v pus=2] [-v onebin=1] [-v seed=1] -f plots_data.awk
#
# Text with backslashes comes in the environment, HOST and TITLE, which awk leaves alone.

# nearly normal, without trigonometry: the sum of twelve uniform numbers
function gauss(s,    i, x) { x = -6; for (i = 0; i < 12; i++) x += rand(); return x * s }
function expo(s) { return -s * log(1 - rand()) }
function max(a, b) { return a > b ? a : b }
# the title of a block cannot hold the quote that ends it
function name(r,    h) { h = host; gsub(/"/, "'", h); return "rank " r " (" h (ranks > 2 ? r : "") ")" }
# for gnuplot, in single quotes: within double ones it would run `commands`
function quoted(s) { gsub(/'/, "''", s); return "'" s "'" }
# global minus local time of rank r's clock: drift, curvature and a slow wobble
function delta(r, t)
{
	return ppm[r] * 1e-6 * t + wobble * (amp[r] * sin(6.2831853 * t / secs * (1 + r % 3) / 2) \
		+ amp[r] / 5 * sin(6.2831853 * t / 60))
}
# what the map believes: straight lines between the nodes, or the smooth curve between them
function linear(r, t,    w, a) { w = step * (skip + 1); if (!inner) w = secs; a = int(t / w) * w
	if (a + w > secs) { w = secs - a; if (w <= 0) { a = 0; w = secs } }
	return delta(r, a) + (delta(r, a + w) - delta(r, a)) * (t - a) / w }
function spline(r, t) { return linear(r, t) + 0.93 * (delta(r, t) - linear(r, t)) * (inner ? 1 : 0) }
function put(file, text) { printf "%s", text > (out "." file) }

BEGIN {
	if (!ranks) ranks = 2
	if (!secs) secs = 6
	if (!step) step = secs < 60 ? 2 : 10
	if (skip == "") skip = 5
	if (host == "") host = "HOST" in ENVIRON ? ENVIRON["HOST"] : "vm"
	if (pus == "") pus = 2
	if (title == "" && "TITLE" in ENVIRON) title = ENVIRON["TITLE"]
	if (title == "") title = "CPU on " ranks " ranks, " secs " s, host " host
	srand(seed + 1)
	inner = secs / step > skip + 1
	lat = 230e-9
	for (r = 0; r < ranks; r++) {
		ppm[r] = r ? 10 * r % 47 - 15 : 0
		amp[r] = r ? 6e-6 * (0.4 + rand()) : 0
	}

	put("run.dat", "# time[s] offset[s] halfwidth[s] latency[s] offset_all[s]\n")
	blocks = 0
	for (a = 0; a < ranks; a++)
		for (b = a + 1; b < ranks; b++) {
			put("run.dat", (blocks++ ? "\n\n" : "") "\"" a " <-> " b "\"\n")
			near = ranks > 8 && int(a / 8) != int(b / 8) ? 6 : 1
			for (t = 0.5; t < secs; t += step) {
				o = gauss(12e-9) * near + wobble * (spline(b, t) - delta(b, t) - spline(a, t) + delta(a, t))
				l = near * lat * (1 + expo(0.05))
				put("run.dat", sprintf("%.6f %.4e %.4e %.4e %.4e\n", t + (a + b) * 1e-3, o,
					l * (0.4 + 0.1 * rand()), l, rand() < 0.05 ? o + gauss(40e-6) : o + gauss(60e-9)))
			}
		}

	put("transform.dat", "# local_time[s] delta[s] bound[s]\n")
	put("samples.dat", "# local_time[s] delta[s] rtt[s] kept[0/1] used[0/1] residual[s]\n")
	put("error.dat", "# local_time[s] linear_error[s] spline_error[s] used[0/1]\n")
	blocks = 0
	for (r = 1; r < ranks; r++) {
		sep = r > 1 ? "\n\n" : ""
		put("transform.dat", sep "\"" name(r) "\"\n")
		for (i = 0; i <= 200; i++) {
			t = secs * i / 200
			d = inner || !wobble ? delta(r, t) : spline(r, t)
			put("transform.dat", sprintf("%.6f %.9e %.3e\n", t, d, 1e-7 + (inner ? 4e-7 : 2e-8)))
		}
		put("error.dat", sep "\"" name(r) "\"\n")
		n = int(secs / step)
		for (s = 0; s <= n; s++) {
			t = secs * s / n
			used = s == 0 || s == n || (inner && s % (skip + 1) == 0)
			e = linear(r, t) - delta(r, t); if (e < 0) e = -e
			f = spline(r, t) - delta(r, t); if (f < 0) f = -f
			put("error.dat", sprintf("%.6f %.4e %.4e %d\n", t, used ? 0 : e + expo(1e-8),
				used ? expo(5e-9) : f + expo(1e-8), used))
			put("samples.dat", (blocks++ ? "\n\n" : "") "\"" sprintf("rank %d session %d", r, s) "\"\n")
			x = t
			for (i = 0; i < 100; i++) {
				rtt = 2 * lat * (1 + expo(0.04)); late = 0
				if (rand() < 0.07) { late = expo(3e-6); rtt += late }
				x += rtt + 100e-9
				g = gauss(9e-9) + (rand() < 0.5 ? late : -late) / 2
				put("samples.dat", sprintf("%.9f %.9e %.3e %d %d %.3e\n", x, delta(r, x) + g, rtt,
					late == 0, used, g + (used ? 0 : spline(r, t) - delta(r, t))))
			}
		}
	}

	# counts fall off over five decades, with a second hump where the kernel's tick interrupts
	period = 1 / 2.4e9
	put("histogram.dat", "# from[ticks] from[s] to[s] count\n")
	for (r = 0; r < ranks; r++) {
		put("histogram.dat", (r ? "\n\n" : "") "\"" name(r) "\"\n")
		n = onebin ? 1 : 24
		for (i = 0; i < n; i++) {
			c = i < 2 ? 0 : i == 2 ? 9e6 : i < 9 ? 4e5 * exp(-1.9 * (i - 3)) : i < 18 ? rand() * 3 : rand() * 120
			if (onebin) c = 1e7
			put("histogram.dat", sprintf("%d %.4e %.4e %d\n", 1 + i * 20, (1 + i * 20) * period,
				(21 + i * 20) * period, c))
		}
	}

	put("matrix.dat", "# pu_a pu_b low[s] high[s] limit[s]\n")
	for (a = 0; a < pus; a++)
		for (b = a + 1; b < pus; b++) {
			o = gauss(6e-9) + (pus > 4 && b == pus - 1 ? 70e-9 : 0)
			w = 20e-9 + expo(6e-9)
			put("matrix.dat", sprintf("%d %d %.4e %.4e %.4e\n", a, b, o - w, o + w, 1.02e-6))
		}

	base = out; sub(/.*\//, "", base)
	put("gnuplot", "tm_dir = " quoted(tmdir) "\ntm_base = " quoted(base) "\ntm_title = " quoted(title) "\n" \
		(steps != "" ? "tm_steps = " quoted(steps) "\ntm_step_sizes = " quoted(sizes) "\n" : "") \
		(verdict != "" ? "tm_verdict = " quoted(verdict) "\ntm_reason = " quoted(reason) "\n" : "") \
		sprintf("tm_ranks = %d\ntm_pairs = %d\ntm_children = %d\ntm_pus = %d\n", ranks,
			ranks * (ranks - 1) / 2, ranks - 1, pus))
}
