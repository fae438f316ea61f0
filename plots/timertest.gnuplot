# SPDX-License-Identifier: BSD-3-Clause
#
# Draws what timertest measured: gnuplot BASE.gnuplot
# Another picture format:        gnuplot -e 'tm_format="txt"' BASE.gnuplot   (svg, png, pdf, txt, all)
#
# timertest writes the variables tm_dir, tm_base, tm_title, tm_verdict, tm_reason, tm_latency, tm_steps, tm_step_sizes, tm_step_counts, tm_interpolation,
# tm_ranks, tm_pairs, tm_children and tm_pus above these lines. Text is in single quotes there (a quote doubled), because gnuplot runs what
# is in backquotes inside double ones. The data is in the same folder: the first line names columns and
# units, two blank lines part the blocks, and a block starts with its title in double quotes.
#
# Needs gnuplot 5.2; tested with 5.4. Text is never "enhanced", since host names hold underscores. No
# font is named, since none is certain to be installed. For who changes this file: tm_sec, tm_min,
# tm_hour and so on are functions of gnuplot; comments inside braces hold no quotes or braces, because
# gnuplot counts them.
#
# Over 800 lines, because it has to be one file that travels with the data.

# The text is UTF-8 whatever the locale. In the C locale, or one that is not installed, gnuplot passes
# it on as it is, and would only warn about its degree sign if told.
if (system("locale charmap 2>/dev/null || :") eq "UTF-8") { set encoding utf8 }
if (GPVAL_VERSION < 5.2) {
	set print
	print "timertest.gnuplot: gnuplot 5.2 or newer is needed to draw this"
	exit error "gnuplot is too old"
}
if (!exists("tm_base") || !exists("tm_title") || !exists("tm_ranks") || !exists("tm_pus")) {
	set print
	print "timertest.gnuplot: no variables: run the .gnuplot file that timertest wrote, not this part of it"
	exit status 2
}
if (!exists("tm_dir")) tm_dir = ""
if (!exists("tm_verdict")) tm_verdict = ""
if (!exists("tm_reason")) tm_reason = ""
if (!exists("tm_latency")) tm_latency = ""
if (!exists("tm_steps")) tm_steps = ""
if (!exists("tm_step_sizes")) tm_step_sizes = ""
if (!exists("tm_step_counts")) tm_step_counts = ""
if (!exists("tm_interpolation")) tm_interpolation = "spline"
if (!exists("tm_format")) tm_format = ""
if (!exists("tm_pairs")) tm_pairs = tm_ranks * (tm_ranks - 1) / 2
if (!exists("tm_children")) tm_children = tm_ranks - 1
tm_script = exists("ARG0") ? ARG0 : ""

# ---- small helpers ----

# b may be NaN, for a number that is not known: then a stays
# gnuplot 6 leaves out a line that lacks a column of the expression, as a title does, if its number is a constant
tm_v(c) = column(c)
tm_most(a, b) = b > a ? b : a
tm_least(a, b) = b < a ? b : a
# quote for the shell: a quote in a name ends the string, adds one, starts it again
tm_shq1(s) = strstrt(s, "'") == 0 ? s : \
	s[1:strstrt(s, "'") - 1]."'\\''".tm_shq1(s[strstrt(s, "'") + 1:*])
tm_shq(s) = "'".tm_shq1(s)."'"
# a leading ./ keeps gnuplot from taking "<name", "|name" or "~name" for a command or a home folder
tm_path(s) = s[1:1] eq "/" ? s : "./".s
tm_dirname(s) = strstrt(s, "/") == 0 ? "" : s[strlen(s):strlen(s)] eq "/" ? s : tm_dirname(s[1:strlen(s) - 1])
# which of the data files can be read in that folder
tm_parts(d) = system("for f in run transform samples error histogram matrix; do ". \
	"test -r ".tm_shq(tm_path(d.tm_base)).".$f.dat && printf '%s ' $f; done; :")
tm_has(list, w) = strstrt(" ".list." ", " ".w." ") > 0
# how many lines hold numbers, how many are block titles; the stats command on an empty file would complain
tm_count(file, what) = int(0 + system("grep -c ".tm_shq(what)." ".tm_shq(file)." || :"))
# in the C locale gnuplot counts bytes and would leave half a character: cut at a space or a comma, or not at all
tm_space(s, n, k) = k < n / 2 ? s : s[k:k] eq " " || s[k:k] eq "," ? s[1:k]."..." : tm_space(s, n, k - 1)
tm_cut(s, n) = strlen(s) <= n ? s : GPVAL_ENCODING eq "default" ? tm_space(s, n, n - 3) : s[1:n - 3]."..."
# lines of at most n characters, broken at a space where there is one
tm_break(s, n, k) = k < n / 2 ? n : s[k:k] eq " " ? k : tm_break(s, n, k - 1)
tm_wrap(s, n) = strlen(s) <= n ? s : s[1:tm_break(s, n, n)]."\n".tm_wrap(s[tm_break(s, n, n) + 1:*], n)
# the first lines of every picture: what it shows, of which run, and what the run came to
tm_f = ""
tm_judged(f) = tm_verdict eq "" ? "" : "\n".tm_wrap("verdict: ".tm_verdict.(tm_reason eq "" ? "" : ": ".tm_reason), \
	f eq "txt" ? 90 : 100)
tm_top(what) = tm_cut(what.": ".tm_title, tm_f eq "txt" ? 90 : 100).tm_judged(tm_f)

tm_col(i) = word("#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000 #8C6D31", (i - 1) % 8 + 1)
tm_dt(i) = i < 8 ? 1 : 2
tm_pt(i) = int(word("7 5 9 11 13 15 4 6 8 10", (i - 1) % 10 + 1))
tm_grey = "#8A8A8A"
tm_bad_colour = "#D55E00"

# a unit for an axis that reaches x seconds, and one number as text
tm_unit(x) = x < 2e-6 ? "ns" : x < 2e-3 ? "us" : x < 2 ? "ms" : "s"
tm_per(u) = u eq "ns" ? 1e9 : u eq "us" ? 1e6 : u eq "ms" ? 1e3 : 1
tm_tunit(x) = x < 0.9995e-6 ? "ns" : x < 0.9995e-3 ? "us" : x < 0.9995 ? "ms" : "s"
tm_val(x) = abs(x) < 1e-12 ? "below 1 ps" : sprintf("%.3g %s", x * tm_per(tm_tunit(abs(x))), tm_tunit(abs(x)))
tm_plural(n, w) = sprintf("%d %s%s", n, w, n == 1 ? "" : "s")

# ---- where the data is: as given to --output, else here, else beside this script ----

tm_d = tm_dir
tm_found = tm_parts(tm_d)
if (tm_found eq "") { tm_d = ""; tm_found = tm_parts(tm_d) }
if (tm_found eq "") { tm_d = tm_dirname(tm_script); tm_found = tm_parts(tm_d) }
if (tm_found eq "") {
	set print
	print "timertest.gnuplot: no data: ".tm_dir.tm_base.".*.dat are neither there nor in the current folder"
	exit status 1
}
tm_stem = tm_path(tm_d.tm_base)
tm_file(w) = tm_stem.".".w.".dat"
tm_rows(w) = tm_has(tm_found, w) ? tm_count(tm_file(w), '^[^#"]') : -1
tm_blocks(w) = tm_has(tm_found, w) ? tm_count(tm_file(w), '^"') : 0
tm_failed = 0

if (system("test -w ".tm_shq(tm_path(tm_d eq "" ? "." : tm_d))." && echo 1; :") ne "1") {
	set print
	print "timertest.gnuplot: cannot write pictures into ".(tm_d eq "" ? "the current folder" : tm_d)
	exit status 1
}

# ---- which formats ----

tm_term_has(t) = strstrt(" ".GPVAL_TERMINALS." ", " ".t." ") > 0
tm_png = tm_term_has("pngcairo") ? "pngcairo" : tm_term_has("png") ? "png truecolor" : ""
tm_pdf = tm_term_has("pdfcairo") ? "pdfcairo" : tm_term_has("pdf") ? "pdf" : ""
tm_can(f) = f eq "svg" ? tm_term_has("svg") : f eq "png" ? tm_png ne "" : f eq "pdf" ? tm_pdf ne "" : \
	f eq "txt" ? tm_term_has("dumb") : 0
tm_formats = ""
if (tm_format eq "") {
	if (tm_can("svg")) { tm_formats = "svg" }
	if (tm_can("png")) { tm_formats = tm_formats." png" }
	if (tm_formats eq "") {
		tm_formats = "txt"
		set print "-"
		print "this gnuplot offers neither svg nor png; drawing with characters into .txt files"
	}
} else {
	do for [tm_f in tm_format eq "all" ? "svg png pdf txt" : tm_format] {
		if (!tm_can(tm_f)) {
			set print
			print "timertest.gnuplot: tm_format \"".tm_f."\": ".(tm_has("svg png pdf txt", tm_f) ? \
				"this gnuplot cannot write it" : "not one of svg, png, pdf, txt, all")
			if (tm_format ne "all") { exit status 2 }
			tm_failed = 1
		} else {
			tm_formats = tm_formats." ".tm_f
		}
	}
}
# stdout tells what was drawn, stderr what went wrong
set print "-"

# the terminal command takes no variables, so it is put together as text; pixels, inches or characters
tm_terminal(f, name, w, h) = "set terminal ".( \
	f eq "svg" ? sprintf("svg size %d,%d mouse standalone noenhanced name 'tm_%s' background '#ffffff'", w, h, name) : \
	f eq "png" ? sprintf("%s size %d,%d noenhanced", tm_png, w, h) : \
	f eq "pdf" ? sprintf("%s size %.1fin,%.1fin noenhanced", tm_pdf, w / 100., h / 100.) : \
	sprintf("dumb size %d,%d noenhanced", 110, h / 17))
tm_style = "reset; set border 3 lw 1; set tics nomirror out; ". \
	"set grid lc rgb '#DDDDDD' lt 1 lw 0.5; set key outside bottom center horizontal Left reverse samplen 2 height 1; set rmargin 4; ". \
	"set style fill transparent solid 0.18 noborder; set xzeroaxis lt 1 lw 1.2 lc rgb '#444444'; ". \
	"set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725'); ". \
	"if (tm_f eq 'txt') { unset grid }"
tm_out = ""
tm_about = ""
# after each picture: is it there? A full disk makes gnuplot lose it silently. The reset is for the
# next stats command, which sees only what lies inside the axes.
tm_close = 'unset output; reset; '. \
	'if (system("test -s ".tm_shq(tm_out)." && echo 1; :") eq "1") { print tm_out[(tm_d[1:1] eq "/" ? 1 : 3):*].": ".tm_about } '. \
	'else { tm_failed = 1; set print; print "timertest.gnuplot: could not write ".tm_out; set print "-" }'
tm_lost(name, why) = 'tm_failed = 1; set print; print "timertest.gnuplot: '.name.': not drawn: '.why.'"; set print "-"'
tm_none(name, why) = 'print "'.name.': not drawn: '.why.'"'

# ---- application run: offsets of each pair in corrected time ----

tm_n = tm_rows("run")
if (tm_n < 1) {
	if (tm_n < 0) { eval tm_lost("run", '".tm_base.".run.dat is missing or unreadable') } else {
	if (tm_ranks < 2) { eval tm_none("run", 'one rank has no partner to exchange messages with') } else {
	eval tm_lost("run", '".tm_base.".run.dat holds no data') }}
} else {
	tm_F = tm_file("run")
	tm_np = tm_blocks("run")
	# one pass over the file fills these; the title line of a block is its row 0
	array tm_pname[tm_np]
	array tm_psum[tm_np]
	array tm_pmax[tm_np]
	do for [i=1:tm_np] { tm_pmax[i] = 0; tm_pname[i] = "" }
	tm_nrow = 0
	tm_largest = -1
	tm_lat = 0
	# the run has one latency, here as in the verdict: that of the burst with the largest offset
	tm_seen(p, row, o, l) = (tm_lat = abs(o) > tm_largest ? l : tm_lat, tm_largest = tm_most(tm_largest, abs(o)), \
		tm_pmax[p] = tm_most(tm_pmax[p], abs(o)), tm_nrow = tm_most(tm_nrow, row), o)
	stats tm_F using (column(0) == 0 && !valid(2) ? (tm_pname[column(-2) + 1] = strcol(1), NaN) : $1) nooutput name "TMX"
	stats tm_F using (valid(4) ? tm_seen(column(-2) + 1, column(0), column(2), column(4)) : NaN) nooutput name "TMO"
	stats tm_F using (column(2) - column(3)) nooutput name "TML"
	stats tm_F using (column(2) + column(3)) nooutput name "TMH"
	stats tm_F using 3 nooutput name "TMW"
	tm_omax = tm_most(abs(TMO_min), abs(TMO_max))
	# the band is shown whole unless one bad burst would press everything else flat
	tm_y = tm_least(tm_most(-TML_min, TMH_max), 6 * tm_most(tm_omax, TMW_median))
	tm_y = 1.08 * tm_most(tm_y, 1.02 * tm_omax)
	if (!(tm_y > 0)) { tm_y = 1e-9 }
	tm_u = tm_unit(tm_y)
	tm_s = tm_per(tm_u)
	tm_beyond = 0
	stats tm_F using (abs(column(5)) > tm_y ? (tm_beyond = tm_beyond + 1, 1) : 0) nooutput name "TMA"
	tm_worst = 1
	do for [i=1:tm_np] { if (tm_pmax[i] > tm_pmax[tm_worst]) { tm_worst = i } }
	tm_sub = sprintf("largest offset %s (%s), latency %s there; half width up to %s", tm_val(tm_omax), tm_pname[tm_worst], \
		tm_latency eq "" ? tm_val(tm_lat) : tm_latency, tm_val(TMW_max))
	tm_pad = tm_nrow > 1 ? 0.02 * (TMX_max - TMX_min) : 0.5
	tm_many = tm_np > 10
	tm_about = sprintf("application run, %s%s", tm_plural(tm_np, "pair"), tm_many ? " as envelope and heat map" : "")
	if (tm_np > 2) {
		# the k-th bursts of all pairs lie close together in time: condense them to one column
		tm_nb = int(tm_least(tm_nrow, 200))
		array tm_bn[tm_nb]
		array tm_bt[tm_nb]
		array tm_bs[tm_nb]
		array tm_bl[tm_nb]
		array tm_bh[tm_nb]
		array tm_cl[tm_nb]
		array tm_ch[tm_nb]
		do for [i=1:tm_nb] {
			tm_bn[i] = 0; tm_bt[i] = 0; tm_bs[i] = 0
			tm_bl[i] = 1e99; tm_bh[i] = -1e99; tm_cl[i] = 1e99; tm_ch[i] = -1e99
		}
		tm_k(row) = int((row - 1) * tm_nb / tm_nrow) + 1
		tm_fold(k, t, o, w) = (tm_bn[k] = tm_bn[k] + 1, tm_bt[k] = tm_bt[k] + t, tm_bs[k] = tm_bs[k] + o, \
			tm_bl[k] = tm_least(tm_bl[k], o), tm_bh[k] = tm_most(tm_bh[k], o), \
			tm_cl[k] = tm_least(tm_cl[k], o - w), tm_ch[k] = tm_most(tm_ch[k], o + w), o)
		stats tm_F using (valid(3) ? tm_fold(tm_k(int(column(0))), column(1), column(2), column(3)) : NaN) nooutput name "TMA"
		set print $tm_env
		do for [i=1:tm_nb] { if (tm_bn[i] > 0) {
			# a single burst has no width in time, and would be an invisible band: give it some
			do for [q=tm_nrow == 1 ? -1 : 0:tm_nrow == 1 ? 1 : 0] {
				print sprintf("%.9g %.9g %.9g %.9g %.9g %.9g", tm_bt[i] / tm_bn[i] + 0.3 * q * tm_pad, tm_bl[i], tm_bh[i], \
					tm_bs[i] / tm_bn[i], tm_cl[i], tm_ch[i])
			}
		}}
		set print $tm_heat
		do for [i=1:tm_np] { if (words(tm_pname[i]) >= 3) {
			print word(tm_pname[i], 1)." ".word(tm_pname[i], 3).sprintf(" %.9g", tm_pmax[i])
			print word(tm_pname[i], 3)." ".word(tm_pname[i], 1).sprintf(" %.9g", tm_pmax[i])
		}}
		set print "-"
	}
	do for [tm_f in tm_formats] {
		eval tm_style
		tm_out = tm_stem.".run.".tm_f
		eval tm_terminal(tm_f, "run", 1000, tm_many ? 1100 : 600)
		set output tm_out
		set xlabel "global time since the start (s)"
		set ylabel "offset (".tm_u.")"
		set xrange [TMX_min - tm_pad : TMX_max + tm_pad]
		set yrange [-tm_y * tm_s : tm_y * tm_s]
		# a step is between two sessions, and the curves do not show it
		do for [i=1:words(tm_steps) / 2] {
			set object i rectangle from first real(word(tm_steps, 2 * i - 1)), graph 0 to first real(word(tm_steps, 2 * i)), graph 1 \
				behind fillcolor rgb tm_bad_colour fillstyle solid 0.15 noborder
			# several clocks may step at the same time
			tm_says = 2 * i > words(tm_step_sizes) ? "a clock stepped" : \
				(i <= words(tm_step_counts) && int(word(tm_step_counts, i)) > 1 ? \
				word(tm_step_counts, i)." steps, the largest: " : "").\
				"rank ".word(tm_step_sizes, 2 * i - 1)." stepped by ".tm_val(real(word(tm_step_sizes, 2 * i)))
			set label i tm_says at first real(word(tm_steps, 2 * i - 1)), graph 0.96 - 0.05 * ((i - 1) % 6) offset 0.5,0 textcolor rgb tm_bad_colour
		}
		if (!tm_many) {
			set title tm_top("Application run")."\n".tm_sub
			tm_all_key = "slowest 10 % included".(tm_beyond > 0 ? sprintf(" (%d outside)", tm_beyond) : "")
			if (tm_f eq "txt") {
				plot for [i=0:tm_np-1] tm_F index i using 1:(column(2) * tm_s) with linespoints pt i + 1 title tm_pname[i + 1]
			} else { if (tm_np <= 2) {
				plot for [i=0:tm_np-1] tm_F index i using 1:((column(2) - column(3)) * tm_s):((column(2) + column(3)) * tm_s) \
						with filledcurves lc rgb tm_col(i + 1) title "certified bound ".tm_pname[i + 1], \
					for [i=0:tm_nrow == 1 ? tm_np - 1 : -1] tm_F index i using 1:(column(2) * tm_s):(column(3) * tm_s) \
						with yerrorbars pt 0 lw 1 lc rgb tm_col(i + 1) notitle, \
					tm_F using 1:(column(5) * tm_s) with points pt 2 ps 0.6 lc rgb tm_grey title tm_all_key, \
					for [i=0:tm_np-1] tm_F index i using 1:(column(2) * tm_s) with linespoints lw 1.8 pt tm_pt(i + 1) ps 0.7 \
						lc rgb tm_col(i + 1) title tm_pname[i + 1]
			} else {
				# a band for each pair would only make mud: one for all
				plot $tm_env using 1:(column(5) * tm_s):(column(6) * tm_s) with filledcurves lc rgb tm_grey \
						title "certified bounds of all pairs", \
					tm_F using 1:(column(5) * tm_s) with points pt 2 ps 0.5 lc rgb tm_grey title tm_all_key, \
					for [i=0:tm_np-1] tm_F index i using 1:(column(2) * tm_s) with linespoints lw 1.6 dt tm_dt(i) \
						pt tm_pt(i + 1) ps 0.6 lc rgb tm_col(i + 1) \
						title tm_pname[i + 1]
			}}
		} else {
			set lmargin 11
			set multiplot layout 2,1 title tm_top("Application run")."\n".tm_sub
			set title sprintf("offsets of all %d pairs over time", tm_np)
			if (tm_f eq "txt") {
				plot $tm_env using 1:(column(2) * tm_s) with lines title "smallest", \
					$tm_env using 1:(column(3) * tm_s) with lines title "largest", \
					tm_F index tm_worst - 1 using 1:(column(2) * tm_s) with points title "worst pair ".tm_pname[tm_worst]
				set title "pairs with the largest offset"
			} else {
				plot $tm_env using 1:(column(5) * tm_s):(column(6) * tm_s) with filledcurves lc rgb tm_grey title "certified bounds of all pairs", \
					$tm_env using 1:(column(2) * tm_s):(column(3) * tm_s) with filledcurves fill solid 0.45 lc rgb tm_col(6) title "smallest to largest", \
					$tm_env using 1:(column(4) * tm_s) with lines lw 2 lc rgb tm_col(1) title "mean of all pairs", \
					tm_F index tm_worst - 1 using 1:(column(2) * tm_s) with linespoints lw 1.2 pt 7 ps 0.4 lc rgb tm_bad_colour title "worst pair ".tm_pname[tm_worst]
				set title "largest absolute offset of each pair"
			}
			unset object
			unset label
			unset key
			unset grid
			set rmargin
			set style fill solid 1 noborder
			unset xzeroaxis
			set xlabel "rank"
			set ylabel "rank"
			set xrange [-0.5 : tm_ranks - 0.5]
			set yrange [tm_ranks - 0.5 : -0.5]
			set xtics out autofreq 0,tm_ranks > 32 ? 8 : tm_ranks > 12 ? 4 : 1
			set ytics out autofreq 0,tm_ranks > 32 ? 8 : tm_ranks > 12 ? 4 : 1
			set cbrange [0 : tm_omax > 0 ? tm_omax * tm_s : 1]
			set cblabel "largest offset (".tm_u.")" offset 1,0
			if (tm_f eq "txt") {
				# characters have no shades: mark the pairs beyond half of the largest
				set key
				plot $tm_heat using 1:(column(3) > 0.5 * tm_omax ? column(2) : NaN) with points pt 1 title "more than half of the largest offset"
			} else {
				plot $tm_heat using 1:2:(0.5):(0.5):(column(3) * tm_s) with boxxyerror fill solid 1 noborder lc palette notitle
			}
			unset multiplot
		}
		eval tm_close
	}
}

# ---- what the two next graphs need of each child: first and last point of its map ----

tm_nt = tm_rows("transform")
tm_nc = tm_nt > 0 ? tm_blocks("transform") : 0
tm_alone = tm_ranks < 2 ? "one rank has no other clock to be mapped to" : "all ranks read the clock of the master"
array tm_cof[tm_most(tm_ranks, 1)]
do for [i=1:tm_ranks] { tm_cof[i] = 0 }
if (tm_nc > 0) {
	tm_F = tm_file("transform")
	array tm_cname[tm_nc]
	array tm_t0[tm_nc]
	array tm_t1[tm_nc]
	array tm_d0[tm_nc]
	array tm_d1[tm_nc]
	array tm_bend[tm_nc]
	do for [i=1:tm_nc] { tm_cname[i] = ""; tm_t0[i] = 0; tm_t1[i] = 0; tm_d0[i] = 0; tm_d1[i] = 0; tm_bend[i] = 0 }
	tm_ends(c, row, t, d) = (row <= 1 ? (tm_t0[c] = t, tm_d0[c] = d) : 0, tm_t1[c] = t, tm_d1[c] = d, d)
	stats tm_F using (column(0) == 0 && !valid(2) ? (tm_cname[column(-2) + 1] = strcol(1), NaN) : \
		tm_ends(column(-2) + 1, column(0), tm_v(1), tm_v(2))) nooutput name "TMD"
	stats tm_F using 3 nooutput name "TMB"
	# the straight line from start to end, which a purely linear correction would take
	tm_slope(c) = tm_t1[c] > tm_t0[c] ? (tm_d1[c] - tm_d0[c]) / (tm_t1[c] - tm_t0[c]) : 0
	tm_off(c, t, d) = d - tm_d0[c] - tm_slope(c) * (t - tm_t0[c])
	stats tm_F using (valid(2) ? (tm_bend[column(-2) + 1] = tm_most(tm_bend[column(-2) + 1], \
		abs(tm_off(column(-2) + 1, column(1), column(2)))), tm_off(column(-2) + 1, column(1), column(2))) : NaN) nooutput name "TMV"
	tm_crooked = 1
	tm_span = 0
	do for [i=1:tm_nc] {
		if (tm_bend[i] > tm_bend[tm_crooked]) { tm_crooked = i }
		tm_span = tm_most(tm_span, tm_t1[i] - tm_t0[i])
		tm_r = words(tm_cname[i]) >= 2 ? int(0 + word(tm_cname[i], 2)) : 0
		if (tm_r >= 0 && tm_r < tm_ranks) { tm_cof[tm_r + 1] = i }
	}
	tm_spad = tm_span > 0 ? 0.02 * tm_span : 1
}

# ---- one pass over the raw samples: which block is which session, and its mean ----

tm_ns = tm_rows("samples")
tm_nses = tm_ns > 0 ? tm_blocks("samples") : 0
tm_condensed = 0
if (tm_nses > 0) {
	tm_F = tm_file("samples")
	array tm_srank[tm_nses]
	array tm_sno[tm_nses]
	array tm_sseq[tm_nses]
	array tm_skept[tm_nses]
	array tm_sall[tm_nses]
	array tm_st[tm_nses]
	array tm_sd[tm_nses]
	array tm_sused[tm_nses]
	array tm_rses[tm_ranks]
	do for [i=1:tm_nses] {
		tm_srank[i] = 0; tm_sno[i] = 0; tm_sseq[i] = 0; tm_skept[i] = 0; tm_sall[i] = 0
		tm_st[i] = 0; tm_sd[i] = 0; tm_sused[i] = 0
	}
	do for [i=1:tm_ranks] { tm_rses[i] = 0 }
	# title: rank R session S
	tm_rank_ok(r) = r >= 0 && r < tm_ranks ? r : 0
	tm_named(b, s) = (tm_srank[b] = words(s) >= 2 ? tm_rank_ok(int(0 + word(s, 2))) : 0, tm_sno[b] = words(s) >= 4 ? int(0 + word(s, 4)) : 0, \
		tm_rses[tm_srank[b] + 1] = tm_rses[tm_srank[b] + 1] + 1, tm_sseq[b] = tm_rses[tm_srank[b] + 1], NaN)
	tm_taken(b, t, d, kept, used) = (tm_sall[b] = tm_sall[b] + 1, tm_sused[b] = used, kept > 0 ? \
		(tm_skept[b] = tm_skept[b] + 1, tm_st[b] = tm_st[b] + t, tm_sd[b] = tm_sd[b] + d) : 0, d)
	stats tm_F using (column(0) == 0 && !valid(2) ? tm_named(column(-2) + 1, strcol(1)) : \
		tm_taken(column(-2) + 1, tm_v(1), tm_v(2), tm_v(4), tm_v(5))) nooutput name "TMA"
	# child, seconds since the start of its map, delta, delta from the straight line, used
	if (tm_nc > 0) {
		set print $tm_cond
		do for [i=1:tm_nses] { if (tm_skept[i] > 0 && tm_cof[tm_srank[i] + 1] > 0) {
			tm_c = tm_cof[tm_srank[i] + 1]
			tm_condensed = tm_condensed + 1
			print sprintf("%d %.9g %.12g %.9g %d", tm_c, tm_st[i] / tm_skept[i] - tm_t0[tm_c], tm_sd[i] / tm_skept[i], \
				tm_off(tm_c, tm_st[i] / tm_skept[i], tm_sd[i] / tm_skept[i]), tm_sused[i])
		}}
		set print "-"
		if (tm_condensed > 0) { stats $tm_cond using (abs(column(4))) nooutput name "TMC" }
	}
}

# ---- clock transformation: the map as a curve, and the sessions it goes through ----

if (tm_nt < 0) { eval tm_lost("transform", '".tm_base.".transform.dat is missing or unreadable') }
if (tm_nt == 0 && tm_children < 1) { eval tm_none("transform", '".tm_alone."') }
if (tm_nt == 0 && tm_children > 0) { eval tm_lost("transform", '".tm_base.".transform.dat holds no data') }
if (tm_nc > 0) {
	tm_F = tm_file("transform")
	if (tm_ns < 0) {
		set print
		print "timertest.gnuplot: ".tm_base.".samples.dat is missing: the clock transformation is drawn without samples"
		set print "-"
	}
	# the map passes near every session, but a skipped one may lie far off: show that too
	tm_y1 = tm_most(abs(TMD_min), abs(TMD_max))
	tm_ybow = tm_most(abs(TMV_min), abs(TMV_max))
	tm_y2 = tm_most(tm_most(tm_ybow, tm_condensed > 0 ? TMC_max : 0), tm_least(TMB_max, 4 * TMB_median))
	if (!(tm_y1 > 0)) { tm_y1 = 1e-9 }
	if (!(tm_y2 > 0)) { tm_y2 = 1e-9 }
	tm_u1 = tm_unit(tm_y1)
	tm_u2 = tm_unit(tm_y2)
	tm_s1 = tm_per(tm_u1)
	tm_s2 = tm_per(tm_u2)
	tm_crowd = tm_nc > 8
	tm_about = sprintf("clock transformation, %s", tm_plural(tm_nc, "clock map"))
	tm_sub = (tm_ybow < 1e-12 ? "straight lines" : sprintf("map leaves the straight line by up to %s (%s)", \
		tm_val(tm_ybow), tm_cut(tm_cname[tm_crooked], 48))).sprintf(", certified bound up to %s", tm_val(TMB_max))
	do for [tm_f in tm_formats] {
		eval tm_style
		tm_out = tm_stem.".transform.".tm_f
		eval tm_terminal(tm_f, "transform", 1000, 960 + 20 * tm_least(tm_nc, 8))
		set output tm_out
		set lmargin 11
		set multiplot layout 2,1 title tm_top("Clock transformation")."\n".tm_sub
		set xrange [-tm_spad : tm_span + tm_spad]
		set xlabel "local time since the start (s)"
		do for [tm_panel=1:2] {
			tm_s = tm_panel == 1 ? tm_s1 : tm_s2
			tm_curve(c, t, d) = (tm_panel == 1 ? d : tm_off(c, t, d)) * tm_s
			if (tm_panel == 1) {
				set title "global minus local time"
				set ylabel "change since the start (".tm_u1.")"
				if (TMD_max > TMD_min) { set yrange [*:*] } else { set yrange [-tm_y1 * tm_s1 : tm_y1 * tm_s1] }
				unset key
			} else {
				set title "the same, minus the straight line from start to end"
				set ylabel "off the straight line (".tm_u2.")"
				set yrange [-1.1 * tm_y2 * tm_s2 : 1.1 * tm_y2 * tm_s2]
				set key
			}
			if (tm_condensed == 0) {
				set print $tm_cond
				print "1 0 NaN NaN 0"
				set print "-"
			}
			if (!tm_crowd) {
				plot for [i=1:tm_f eq "txt" ? 0 : tm_nc] tm_F index i-1 \
						using (column(1) - tm_t0[i]):(tm_curve(i, column(1), column(2) - column(3))):(tm_curve(i, column(1), column(2) + column(3))) \
						with filledcurves fill transparent solid (tm_nc > 3 ? 0.08 : 0.18) lc rgb tm_col(i) notitle, \
					for [i=1:tm_nc] tm_F index i-1 using (column(1) - tm_t0[i]):(tm_curve(i, column(1), column(2))) \
						with lines lw 1.8 dt tm_dt(i - 1) lc rgb tm_col(i) title tm_cut(tm_cname[i], 36), \
					for [i=1:tm_nc] $tm_cond using (column(1) == i && column(5) > 0 ? column(2) : NaN):(column(tm_panel == 1 ? 3 : 4) * tm_s) \
						with points pt 7 ps 1.1 lc rgb tm_col(i) notitle, \
					for [i=1:tm_nc] $tm_cond using (column(1) == i && column(5) == 0 ? column(2) : NaN):(column(tm_panel == 1 ? 3 : 4) * tm_s) \
						with points pt 6 ps 0.9 lc rgb tm_col(i) notitle, \
					NaN with points pt 7 ps 1.1 lc rgb "#444444" title "session, node of the map", \
					NaN with points pt 6 ps 0.9 lc rgb "#444444" title "session, skipped (a check)", \
					NaN with filledcurves y=0 lc rgb "#444444" title tm_f eq "txt" ? "" : "certified bound of the map"
			} else {
				plot for [i=1:tm_nc] tm_F index i-1 using (column(1) - tm_t0[i]):(tm_curve(i, column(1), column(2))) \
						with lines lw 0.7 lc rgb tm_col(6) notitle, \
					tm_F index tm_crooked-1 \
						using (column(1) - tm_t0[tm_crooked]):(tm_curve(tm_crooked, column(1), column(2) - column(3))):(tm_curve(tm_crooked, column(1), column(2) + column(3))) \
						with filledcurves lc rgb tm_bad_colour notitle, \
					tm_F index tm_crooked-1 using (column(1) - tm_t0[tm_crooked]):(tm_curve(tm_crooked, column(1), column(2))) \
						with lines lw 2 lc rgb tm_bad_colour title tm_cut(tm_cname[tm_crooked], 40).", farthest from straight", \
					$tm_cond using (column(1) == tm_crooked && column(5) > 0 ? column(2) : NaN):(column(tm_panel == 1 ? 3 : 4) * tm_s) \
						with points pt 7 ps 1.1 lc rgb tm_bad_colour title "its sessions, nodes of the map", \
					$tm_cond using (column(1) == tm_crooked && column(5) == 0 ? column(2) : NaN):(column(tm_panel == 1 ? 3 : 4) * tm_s) \
						with points pt 6 ps 0.9 lc rgb tm_bad_colour title "its sessions, skipped (checks)", \
					NaN with lines lw 0.7 lc rgb tm_col(6) title sprintf("the other %d ranks", tm_nc - 1)
			}
		}
		unset multiplot
		eval tm_close
	}
}

# ---- interpolation error: linear up, spline down ----

tm_ne = tm_rows("error")
if (tm_ne < 0) { eval tm_lost("error", '".tm_base.".error.dat is missing or unreadable') }
if (tm_ne == 0 && tm_children < 1) { eval tm_none("error", '".tm_alone."') }
if (tm_ne == 0 && tm_children > 0) { eval tm_lost("error", '".tm_base.".error.dat holds no data') }
if (tm_ne > 0) {
	tm_F = tm_file("error")
	tm_nb = tm_blocks("error")
	array tm_ename[tm_nb]
	array tm_e0[tm_nb]
	array tm_emax[tm_nb]
	do for [i=1:tm_nb] { tm_ename[i] = ""; tm_e0[i] = 0; tm_emax[i] = 0 }
	tm_skipped = 0
	tm_lmax = 0
	tm_smax = 0
	tm_seen(b, row, t, e, s, used) = (row <= 1 ? (tm_e0[b] = t) : 0, \
		tm_emax[b] = tm_most(tm_most(tm_emax[b], e), s), tm_lmax = tm_most(tm_lmax, e), tm_smax = tm_most(tm_smax, s), \
		tm_skipped = tm_skipped + (used == 0), 0)
	stats tm_F using (column(0) == 0 && !valid(2) ? (tm_ename[column(-2) + 1] = strcol(1), NaN) : \
		tm_seen(column(-2) + 1, column(0), tm_v(1), tm_v(2), tm_v(3), tm_v(4))) nooutput name "TMA"
	stats tm_F using (column(1) - tm_e0[column(-2) + 1]) nooutput name "TMX"
	tm_worst = 1
	do for [i=1:tm_nb] { if (tm_emax[i] > tm_emax[tm_worst]) { tm_worst = i } }
	tm_y = tm_most(tm_lmax, tm_smax)
	if (!(tm_y > 0)) { tm_y = 1e-9 }
	tm_u = tm_unit(tm_y)
	tm_s = tm_per(tm_u)
	tm_crowd = tm_nb > 8
	tm_about = sprintf("interpolation error, %s, %s", tm_plural(tm_nb, "clock map"), tm_plural(tm_skipped, "skipped session"))
	tm_sub = sprintf("largest error: linear %s, %s %s", tm_val(tm_lmax), tm_interpolation, tm_val(tm_smax)). \
		(tm_skipped == 0 ? "; every session is a node of the map, so none checks it" : "")
	tm_pad = TMX_max > 0 ? 0.02 * TMX_max : 1
	do for [tm_f in tm_formats] {
		eval tm_style
		tm_out = tm_stem.".error.".tm_f
		eval tm_terminal(tm_f, "error", 1000, 640)
		set output tm_out
		set title tm_top("Interpolation error")."\n".tm_sub
		set xlabel "local time since the start (s)"
		set ylabel tm_interpolation." (down)    absolute error (".tm_u.")    linear (up)"
		set xrange [-tm_pad : TMX_max + tm_pad]
		set yrange [tm_least(-1.15 * tm_smax, -0.25 * tm_y) * tm_s : tm_most(1.15 * tm_lmax, 0.25 * tm_y) * tm_s]
		set label 1 "linear interpolation" at graph 0.01,0.96 left textcolor rgb "#444444"
		set label 2 tm_interpolation." interpolation" at graph 0.01,0.04 left textcolor rgb "#444444"
		tm_c(i) = tm_crowd ? (i == tm_worst ? tm_bad_colour : tm_col(6)) : tm_col(i)
		tm_x(i, t) = t - tm_e0[i] + (tm_crowd ? 0 : (i - (tm_nb + 1) / 2.) * 0.004 * TMX_max)
		# the worst is drawn last, above the others
		tm_o(n) = n == tm_nb ? tm_worst : n < tm_worst ? n : n + 1
		# impulses of the ranks are drawn next to each other; positions are therefore shifted by less than a session
		plot for [n=1:tm_nb] for [k=2:3] tm_F index tm_o(n)-1 using (tm_x(tm_o(n), column(1))):((k == 2 ? 1 : -1) * column(k) * tm_s) \
				with impulses lw 1 lc rgb tm_c(tm_o(n)) notitle, \
			for [n=1:tm_nb] for [k=2:3] tm_F index tm_o(n)-1 using (column(4) > 0 ? tm_x(tm_o(n), column(1)) : NaN):((k == 2 ? 1 : -1) * column(k) * tm_s) \
				with points pt 7 ps 0.9 lc rgb tm_c(tm_o(n)) notitle, \
			for [n=1:tm_nb] for [k=2:3] tm_F index tm_o(n)-1 using (column(4) == 0 ? tm_x(tm_o(n), column(1)) : NaN):((k == 2 ? 1 : -1) * column(k) * tm_s) \
				with points pt 6 ps 0.8 lc rgb tm_c(tm_o(n)) notitle, \
			for [i=1:tm_crowd ? 0 : tm_nb] NaN with lines lw 3 lc rgb tm_col(i) title tm_cut(tm_ename[i], 36), \
			NaN with lines lw 3 lc rgb tm_bad_colour title tm_crowd ? tm_cut(tm_ename[tm_worst], 40).", the worst" : "", \
			NaN with lines lw 3 lc rgb tm_col(6) title tm_crowd ? sprintf("the other %d ranks", tm_nb - 1) : "", \
			NaN with points pt 7 ps 0.9 lc rgb "#444444" title "session, node of the map", \
			NaN with points pt 6 ps 0.8 lc rgb "#444444" title tm_skipped > 0 ? "session, skipped (a check)" : ""
		eval tm_close
	}
}

# ---- raw clock samples: the first three sessions of the first four children ----

if (tm_ns < 0) { eval tm_lost("raw", '".tm_base.".samples.dat is missing or unreadable') }
if (tm_ns == 0 && tm_children < 1) { eval tm_none("raw", '".tm_alone."') }
if (tm_ns == 0 && tm_children > 0) { eval tm_lost("raw", '".tm_base.".samples.dat holds no data') }
if (tm_nses > 0) {
	tm_F = tm_file("samples")
	# which row and column of the picture a block goes to
	tm_nchild = 0
	tm_ncol = 0
	array tm_row[tm_ranks]
	array tm_rawb[12]
	do for [i=1:12] { tm_rawb[i] = 0 }
	do for [i=1:tm_ranks] { tm_row[i] = 0 }
	do for [i=1:tm_nses] {
		tm_r = tm_srank[i] + 1
		if (tm_row[tm_r] == 0 && tm_nchild < 4) { tm_nchild = tm_nchild + 1; tm_row[tm_r] = tm_nchild }
		if (tm_row[tm_r] > 0 && tm_sseq[i] <= 3) {
			tm_rawb[(tm_row[tm_r] - 1) * 3 + tm_sseq[i]] = i
			tm_ncol = tm_most(tm_ncol, tm_sseq[i])
		}
	}
	# what the kept samples of a child need in height, their bars included; all samples get up to ten
	# times that, for one straggler of a millisecond would hide the rest
	array tm_rlo[4]
	array tm_rhi[4]
	array tm_alo[4]
	array tm_ahi[4]
	array tm_beyond[12]
	array tm_x0[12]
	array tm_xlen[12]
	do for [c=1:tm_nchild] {
		tm_rlo[c] = 1e99; tm_rhi[c] = -1e99; tm_alo[c] = 1e99; tm_ahi[c] = -1e99
		do for [k=1:3] { tm_i = (c - 1) * 3 + k; tm_beyond[tm_i] = 0; tm_x0[tm_i] = 0; tm_xlen[tm_i] = 1e-3; if (tm_rawb[tm_i] > 0) {
			tm_seen(row, t, y, h, kept) = (row <= 1 ? (tm_x0[tm_i] = t) : 0, \
				tm_xlen[tm_i] = tm_most(tm_xlen[tm_i], (t - tm_x0[tm_i]) * 1e6), \
				tm_alo[c] = tm_least(tm_alo[c], y - h), tm_ahi[c] = tm_most(tm_ahi[c], y + h), \
				kept > 0 ? (tm_rlo[c] = tm_least(tm_rlo[c], y - h), tm_rhi[c] = tm_most(tm_rhi[c], y + h)) : 0, y)
			stats tm_F index tm_rawb[tm_i]-1 using (valid(6) ? tm_seen(column(0), column(1), column(6), column(3) / 2, column(4)) : NaN) \
				nooutput name "TMA"
		}}
		# nothing kept: show what there is
		if (tm_rlo[c] > tm_rhi[c]) { tm_rlo[c] = tm_alo[c]; tm_rhi[c] = tm_ahi[c] }
		if (!(tm_rhi[c] > tm_rlo[c])) { tm_rhi[c] = tm_rlo[c] + 1e-9 }
		tm_h = tm_rhi[c] - tm_rlo[c]
		tm_rlo[c] = tm_rlo[c] - 0.08 * tm_h; tm_rhi[c] = tm_rhi[c] + 0.08 * tm_h
		tm_alo[c] = tm_most(tm_alo[c] - 0.08 * tm_h, tm_rlo[c] - 4.5 * tm_h)
		tm_ahi[c] = tm_least(tm_ahi[c] + 0.08 * tm_h, tm_rhi[c] + 4.5 * tm_h)
		do for [k=1:3] { tm_i = (c - 1) * 3 + k; if (tm_rawb[tm_i] > 0) {
			stats tm_F index tm_rawb[tm_i]-1 using (valid(6) && (column(6) < tm_alo[c] || column(6) > tm_ahi[c]) ? \
				(tm_beyond[tm_i] = tm_beyond[tm_i] + 1, 1) : 0) nooutput name "TMA"
		}}
	}
	tm_about = sprintf("raw clock samples, %s of %s", tm_plural(tm_ncol, "session"), \
		tm_nchild < tm_children ? sprintf("the first %d of %d ranks", tm_nchild, tm_children) : tm_plural(tm_nchild, "rank"))
	do for [tm_f in tm_formats] {
		eval tm_style
		tm_out = tm_stem.".raw.".tm_f
		eval tm_terminal(tm_f, "raw", 1200, 110 + tm_nchild * 560)
		set output tm_out
		set multiplot layout 2*tm_nchild,tm_ncol title tm_top("Raw clock samples"). \
			"\n".(tm_nchild < tm_children ? sprintf("first %d of %d ranks; ", tm_nchild, tm_children) : ""). \
			(tm_f eq "txt" ? "sample minus clock map; B: dropped by the filter" : \
			"dot: sample minus clock map, bar: its round-trip time, cross: dropped by the filter")
		unset key
		set lmargin 11
		set rmargin 4
		set errorbars 0
		set tics font ",10"
		do for [c=1:tm_nchild] { do for [p=1:2] { do for [k=1:tm_ncol] {
			tm_i = (c - 1) * 3 + k
			tm_b = tm_rawb[tm_i]
			if (tm_b == 0) { set multiplot next } else {
				tm_u = tm_unit(p == 1 ? tm_most(abs(tm_alo[c]), abs(tm_ahi[c])) : tm_most(abs(tm_rlo[c]), abs(tm_rhi[c])))
				tm_s = tm_per(tm_u)
				set yrange [(p == 1 ? tm_alo[c] : tm_rlo[c]) * tm_s : (p == 1 ? tm_ahi[c] : tm_rhi[c]) * tm_s]
				set title sprintf("rank %d session %d%s\n", tm_srank[tm_b], tm_sno[tm_b], tm_sused[tm_b] > 0 ? "" : " (skipped)"). \
					(p == 1 ? sprintf("all %d samples", tm_sall[tm_b]).(tm_beyond[tm_i] > 0 ? sprintf(", %d beyond the frame", tm_beyond[tm_i]) : "") \
					: sprintf("the %d samples kept", tm_skept[tm_b]))
				set xrange [-0.03 * tm_xlen[tm_i] : 1.03 * tm_xlen[tm_i]]
				if (k == 1) { set ylabel "residual (".tm_u.")" } else { unset ylabel }
				if (p == 2) { set xlabel "time since the first sample (us)" } else { unset xlabel }
				tm_X(t) = (t - tm_x0[tm_i]) * 1e6
				if (p == 1) {
					plot for [q=1:tm_f ne "txt"] tm_F index tm_b-1 using (tm_X(column(1))):(column(6) * tm_s):(column(3) / 2 * tm_s) \
							with yerrorbars pt 0 lw 0.8 lc rgb "#A9C6DB", \
						tm_F index tm_b-1 using (column(4) > 0 ? tm_X(column(1)) : NaN):(column(6) * tm_s) \
							with points pt 7 ps 0.45 lc rgb tm_col(1), \
						tm_F index tm_b-1 using (column(4) == 0 ? tm_X(column(1)) : NaN):(tm_most(tm_alo[c], tm_least(tm_ahi[c], column(6))) * tm_s) \
							with points pt 2 ps 0.9 lw 1.5 lc rgb tm_bad_colour
				} else {
					plot for [q=1:tm_f ne "txt"] tm_F index tm_b-1 using (column(4) > 0 ? tm_X(column(1)) : NaN):(column(6) * tm_s):(column(3) / 2 * tm_s) \
							with yerrorbars pt 0 lw 0.8 lc rgb "#A9C6DB", \
						tm_F index tm_b-1 using (column(4) > 0 ? tm_X(column(1)) : NaN):(column(6) * tm_s) \
							with points pt 7 ps 0.45 lc rgb tm_col(1)
				}
			}
		}}}
		unset multiplot
		eval tm_close
	}
}

# ---- core matrix: offset of one processing unit to another, as an interval ----

tm_nm = tm_rows("matrix")
if (tm_nm < 0) { eval tm_lost("matrix", '".tm_base.".matrix.dat is missing or unreadable') }
if (tm_nm == 0 && tm_pus == 0) { eval tm_none("matrix", 'the offsets between cores were not measured') }
if (tm_nm == 0 && tm_pus == 1) { eval tm_none("matrix", 'one processing unit has no other one to be compared with') }
if (tm_nm == 0 && tm_pus > 1) { eval tm_lost("matrix", '".tm_base.".matrix.dat holds no data') }
if (tm_nm > 0) {
	tm_F = tm_file("matrix")
	tm_inside = 0
	tm_outside = 0
	tm_pumax = 1
	tm_open = 0
	# as timertest judges: 1, together: 0 is inside and no end beyond the limit; 2, apart: 0 is outside; 3, not known
	tm_judge(l, h, t) = l > h ? 3 : l > 0 || h < 0 ? 2 : tm_most(-l, h) <= t ? 1 : 3
	tm_pu(c) = int(0 + strcol(c))
	tm_seen(a, b, l, h, t) = (tm_pumax = tm_most(tm_pumax, tm_most(a, b)), tm_inside = tm_inside + (tm_judge(l, h, t) == 1), \
		tm_outside = tm_outside + (tm_judge(l, h, t) == 2), tm_open = tm_open + (tm_judge(l, h, t) == 3), 0.5 * (l + h))
	stats tm_F using (valid(5) ? tm_seen(tm_pu(1), tm_pu(2), column(3), column(4), column(5)) : NaN) nooutput name "TMO"
	stats tm_F using 3 nooutput name "TML"
	stats tm_F using 4 nooutput name "TMH"
	stats tm_F using 5 nooutput name "TMT"
	tm_list = tm_nm <= 15
	tm_cells = tm_pumax < 16
	tm_omax = tm_most(abs(TMO_min), abs(TMO_max))
	tm_y = tm_list ? tm_most(-TML_min, TMH_max) : tm_omax
	if (!(tm_y > 0)) { tm_y = 1e-9 }
	# numbers in cells are best without fractions: prefer the finer unit
	tm_u = tm_unit(tm_y)
	tm_s = tm_per(tm_u)
	tm_num(x) = sprintf(abs(x * tm_s) < 9.95 ? "%.1f" : "%.0f", x * tm_s)
	array tm_said[tm_nm]
	tm_n = 0
	tm_say(l, h) = (tm_n = tm_n + 1, tm_said[tm_n] = tm_num(0.5 * (l + h))." +- ".tm_num(0.5 * (h - l))." ".tm_u, 0)
	stats tm_F using (valid(5) ? tm_say(column(3), column(4)) : NaN) nooutput name "TMA"
	tm_sub = sprintf("%d of %s together (within %s)", tm_inside, tm_plural(tm_nm, "pair"), tm_val(TMT_max)). \
		(tm_outside > 0 ? sprintf(", %d apart", tm_outside) : "").(tm_open > 0 ? sprintf(", %d not known", tm_open) : "")
	tm_about = sprintf("core matrix, %s of processing units", tm_plural(tm_nm, "pair"))
	do for [tm_f in tm_formats] {
		eval tm_style
		tm_out = tm_stem.".matrix.".tm_f
		eval tm_terminal(tm_f, "matrix", 1000, tm_list ? 260 + 34 * tm_nm : 960)
		set output tm_out
		set title tm_top("Core matrix")."\n".tm_sub
		if (tm_list) {
			set xlabel "clock of the second minus clock of the first processing unit (".tm_u.")"
			set ylabel "processing units"
			set xrange [-1.1 * tm_y * tm_s : 1.1 * tm_y * tm_s]
			set rmargin 20
			unset xzeroaxis
			do for [i=1:tm_nm] { set label i tm_said[i] at graph 1.02, first i - 1 left }
			set yrange [tm_nm - 0.4 : -0.6]
			unset grid
			if (tm_f ne "txt") { set grid x lc rgb "#DDDDDD" lt 1 lw 0.5 }
			set arrow 1 from first 0, graph 0 to first 0, graph 1 nohead lw 1.2 lc rgb "#444444"
			set errorbars tm_f eq "txt" ? 0 : 1
			tm_pick(j) = tm_judge(column(3), column(4), column(5)) == j ? 0.5 * (column(3) + column(4)) * tm_s : NaN
			tm_mark(j) = valid(5) ? tm_pick(j) : NaN
			# every using below counts its rows anew, from the data rows only
			tm_title_rows = tm_blocks("matrix") > 0 ? 1 : 0
			tm_Y(n) = n - tm_title_rows
			plot tm_F using (tm_mark(3)):(tm_Y(column(0))):(0.5 * abs(column(4) - column(3)) * tm_s):ytic(sprintf("%d, %d", tm_pu(1), tm_pu(2))) \
					with xerrorbars pt 6 ps 1.2 lw 2.5 lc rgb tm_grey title tm_open > 0 ? "not known" : "", \
				tm_F using (tm_mark(1)):(tm_Y(column(0))):(0.5 * (column(4) - column(3)) * tm_s) \
					with xerrorbars pt 7 ps 1 lw 2.5 lc rgb tm_col(1) title tm_inside > 0 ? "together" : "", \
				tm_F using (tm_mark(2)):(tm_Y(column(0))):(0.5 * (column(4) - column(3)) * tm_s) \
					with xerrorbars pt 13 ps 1.4 lw 2.5 lc rgb tm_bad_colour title tm_outside > 0 ? "apart" : ""
		} else {
			set xlabel "processing unit"
			set ylabel "processing unit"
			set xrange [-0.5 : tm_pumax + 0.5]
			set yrange [tm_pumax + 0.5 : -0.5]
			set xtics out autofreq 0,tm_pumax > 32 ? 8 : tm_pumax > 16 ? 4 : 1
			set ytics out autofreq 0,tm_pumax > 32 ? 8 : tm_pumax > 16 ? 4 : 1
			unset grid
			unset xzeroaxis
			set rmargin
			set style fill solid 1 noborder
			set palette defined (-1 "#2B7BBA", 0 "#F7F7F7", 1 "#E0812B")
			set cbrange [-tm_y * tm_s : tm_y * tm_s]
			set cblabel "middle of the interval: clock of the column minus clock of the row (".tm_u.")" offset 1,0
			if (tm_f eq "txt") {
				plot tm_F using (tm_pu(2)):(valid(5) && tm_judge(column(3), column(4), column(5)) == 1 ? tm_pu(1) : NaN) with points pt 15 title tm_inside > 0 ? "together" : "", \
					tm_F using (tm_pu(2)):(valid(5) && tm_judge(column(3), column(4), column(5)) == 2 ? tm_pu(1) : NaN) with points pt 2 title tm_outside > 0 ? "apart" : "", \
					tm_F using (tm_pu(2)):(valid(5) && tm_judge(column(3), column(4), column(5)) == 3 ? tm_pu(1) : NaN) with points pt 6 title tm_open > 0 ? "not known" : ""
			} else {
				plot tm_F using (valid(5) ? tm_pu(2) : NaN):(tm_pu(1)):(0.5):(0.5):(0.5 * (column(3) + column(4)) * tm_s) with boxxyerror lc palette notitle, \
					for [i=1:tm_cells] tm_F using (valid(5) ? tm_pu(2) : NaN):(tm_pu(1)):(tm_num(0.5 * (column(3) + column(4)))."\n+-".tm_num(0.5 * (column(4) - column(3)))) \
						with labels font (tm_pumax > 10 ? ",8" : ",10") notitle, \
					tm_F using (valid(5) && tm_judge(column(3), column(4), column(5)) == 2 ? tm_pu(2) : NaN):(tm_pu(1)):(0.46):(0.46) \
						with boxxyerror fill empty lc rgb "#000000" lw 1.6 title tm_outside > 0 ? "apart" : "", \
					tm_F using (valid(5) && tm_judge(column(3), column(4), column(5)) == 3 ? tm_pu(2) : NaN):(tm_pu(1)):(0.46):(0.46) \
						with boxxyerror fill empty lc rgb tm_grey lw 1.6 title tm_open > 0 ? "not known" : ""
			}
		}
		eval tm_close
	}
}

# ---- histogram of the increments between two reads ----

tm_nh = tm_rows("histogram")
if (tm_nh < 0) { eval tm_lost("histogram", '".tm_base.".histogram.dat is missing or unreadable') }
if (tm_nh == 0) { eval tm_lost("histogram", '".tm_base.".histogram.dat holds no data') }
if (tm_nh > 0) {
	tm_F = tm_file("histogram")
	tm_nb = tm_most(tm_blocks("histogram"), 1)
	array tm_hname[tm_nb]
	array tm_htick[tm_nb]
	do for [i=1:tm_nb] { tm_hname[i] = ""; tm_htick[i] = 0 }
	# the length of a tick of each rank, from the bin that tells it best
	tm_seen(b, ft, fs) = (abs(ft) > 0 && abs(fs) > 0 ? (tm_htick[b] = fs / ft) : 0, ft)
	stats tm_F using (column(0) == 0 && !valid(2) ? (tm_hname[column(-2) + 1] = strcol(1), NaN) : \
		tm_seen(column(-2) + 1, tm_v(1), tm_v(2))) nooutput name "TMA"
	do for [i=1:tm_nb] { if (!(tm_htick[i] > 0)) { tm_htick[i] = 1e-9 } }
	# upper end of a bin in ticks; the last bin may be open
	tm_to(b, ft, fs, ts) = ts > fs && ts < 1e9 ? ts / tm_htick[b] : ft + 1
	tm_lo = 1e99
	tm_hi = -1e99
	tm_posi = 1e99
	tm_filled = 0
	tm_back = 0
	tm_total = 0
	tm_spread(b, ft, fs, ts, n) = n > 0 ? (tm_filled = tm_filled + 1, tm_lo = tm_least(tm_lo, ft), \
		tm_hi = tm_most(tm_hi, tm_to(b, ft, fs, ts)), tm_posi = tm_least(tm_posi, tm_to(b, ft, fs, ts)), \
		tm_back = tm_back + (ft < 0 ? n : 0), tm_total = tm_total + n, n) : 0
	stats tm_F using (valid(4) ? tm_spread(column(-2) + 1, column(1), column(2), column(3), column(4)) : NaN) nooutput name "TMN"
	if (tm_filled == 0) { tm_lo = 0; tm_hi = 1; tm_posi = 1; TMN_max = 1 }
	# a rare interruption is a thousand times as long as a read: then a logarithmic axis
	tm_log = tm_back == 0 && tm_hi > 100 * tm_most(tm_lo, 0.5) && tm_hi > 20 * tm_posi
	tm_floor = tm_log ? tm_most(tm_lo, 0.5 * tm_posi) : tm_lo
	tm_xpad = tm_log ? 0 : tm_hi > tm_floor ? 0.04 * (tm_hi - tm_floor) : 1
	tm_xlo = tm_log ? tm_floor / 1.1 : tm_floor - tm_xpad
	tm_xhi = tm_log ? tm_hi * 1.1 : tm_hi + tm_xpad
	tm_left(ft) = tm_most(ft, tm_floor)
	# several hosts may have ticks of different length; the upper axis is that of the first
	tm_same = 1
	do for [i=1:tm_nb] { if (abs(tm_htick[i] / tm_htick[1] - 1) > 1e-3) { tm_same = 0 } }
	tm_u = tm_unit(tm_most(abs(tm_xlo), abs(tm_xhi)) * tm_htick[1])
	tm_k = tm_htick[1] * tm_per(tm_u)
	# a bar may be narrower than a pixel: a line in its middle is not
	tm_thin(from, to) = tm_log ? log(to / from) < 0.004 * log(tm_xhi / tm_xlo) : to - from < 0.004 * (tm_xhi - tm_xlo)
	tm_mid(from, to) = tm_log ? sqrt(from * to) : 0.5 * (from + to)
	tm_crowd = tm_nb > 4
	tm_about = sprintf("histogram of increments, %s", tm_plural(tm_nb, "rank"))
	tm_sub = sprintf("%.0f increments, a tick is %s%s", tm_total, tm_val(tm_htick[1]), tm_same ? "" : " on the first rank, as on the upper axis"). \
		(tm_back > 0 ? sprintf(", %.0f BACKWARD STEPS", tm_back) : "")
	do for [tm_f in tm_formats] {
		eval tm_style
		tm_out = tm_stem.".histogram.".tm_f
		eval tm_terminal(tm_f, "histogram", 1000, tm_crowd ? 760 : 180 + 330 * tm_nb)
		set output tm_out
		tm_head = tm_top("Increments between reads")."\n".tm_sub
		if (tm_crowd) { set title tm_head } else { set multiplot layout tm_nb,1 title tm_head }
		unset key
		set lmargin 11
		set xrange [tm_xlo : tm_xhi]
		if (tm_log) { set logscale x; set logscale x2 }
		set x2range [tm_xlo * (tm_log ? tm_htick[1] : tm_k) : tm_xhi * (tm_log ? tm_htick[1] : tm_k)]
		set x2tics out
		set border 7
		set xlabel "increment (ticks)"
		# a label there would run into the title
		if (tm_log) { set format x2 "%.0s %cs" } else { set format x2 "%g ".tm_u }
		if (tm_crowd) {
			set ylabel "rank"
			unset grid
			unset xzeroaxis
			set rmargin
			set style fill solid 1 noborder
			set yrange [tm_nb - 0.5 : -0.5]
			set ytics out autofreq 0,tm_nb > 32 ? 8 : tm_nb > 12 ? 4 : 1
			set logscale cb
			set format cb "%.0s%c"
			set cbrange [1 : tm_most(TMN_max, 10)]
			set cblabel "count" offset 1,0
			tm_box(b, ft, fs, ts) = 0.5 * (tm_left(ft) + tm_to(b, ft, fs, ts))
			if (tm_f eq "txt") {
				plot tm_F using (column(4) > 0 ? tm_box(column(-2) + 1, column(1), column(2), column(3)) : NaN):(column(-2)) with points pt 15
			} else {
				plot tm_F using (column(4) > 0 ? tm_box(column(-2) + 1, column(1), column(2), column(3)) : NaN):(column(-2)): \
					(tm_left(column(1))):(tm_to(column(-2) + 1, column(1), column(2), column(3))): \
					(column(-2) - 0.45):(column(-2) + 0.45):(column(4)) with boxxyerror lc palette
			}
		} else {
			set ylabel "count"
			set logscale y
			set format y "%.0s%c"
			set yrange [0.5 : 3 * tm_most(TMN_max, 10)]
			set ytics autofreq
			do for [i=1:tm_nb] {
				set title tm_cut(tm_hname[i], 80)
				if (tm_f eq "txt") {
					plot tm_F index i-1 using (column(4) > 0 ? 0.5 * (tm_left(column(1)) + tm_to(i, column(1), column(2), column(3))) : NaN):4 with impulses
				} else {
					plot tm_F index i-1 using (column(4) > 0 ? tm_left(column(1)) : NaN):4: \
						(tm_left(column(1))):(tm_to(i, column(1), column(2), column(3))):(0.5):4 \
						with boxxyerror fill solid 0.7 border rgb "#FFFFFF" lc rgb tm_col(1), \
						tm_F index i-1 using (column(4) > 0 && tm_thin(tm_left(column(1)), tm_to(i, column(1), column(2), column(3))) ? \
							tm_mid(tm_left(column(1)), tm_to(i, column(1), column(2), column(3))) : NaN):4 \
						with impulses lw 1 lc rgb tm_col(1)
				}
			}
		}
		if (!tm_crowd) { unset multiplot }
		eval tm_close
	}
}

if (tm_failed) { exit status 1 }
