# SPDX-License-Identifier: BSD-3-Clause
#
# Draws what calibsim found: gnuplot BASE.gnuplot
# Another picture format:    gnuplot -e 'cs_format="png"' BASE.gnuplot   (svg, png, pdf, txt)
#
# calibsim writes the variables cs_dir, cs_base, cs_title and cs_shapes above these lines. The data is in the same folder: the
# first line names columns and units, a block starts with its title in double quotes. Text is never "enhanced".

if (!exists("cs_base") || !exists("cs_title") || !exists("cs_shapes")) {
	set print
	print "calibsim.gnuplot: no variables: run the .gnuplot file that calibsim wrote, not this part of it"
	exit status 2
}
cs_path(s) = s[1:1] eq "/" ? s : "./".s
cs_stem = cs_path(cs_dir.cs_base)
if (!exists("cs_format")) cs_format = strstrt(GPVAL_TERMINALS, "svg") ? "svg" : strstrt(GPVAL_TERMINALS, "png") ? "png" : "txt"
if (!strstrt(" svg png pdf txt ", " ".cs_format." ")) {
	set print
	print "calibsim.gnuplot: cs_format \"".cs_format."\": not one of svg, png, pdf, txt"
	exit status 2
}
cs_terminal = cs_format eq "svg" ? "svg size 900,620 noenhanced background '#ffffff'" : \
	cs_format eq "pdf" ? "pdfcairo size 9in,6.2in noenhanced" : cs_format eq "txt" ? "dumb size 110,38 noenhanced" : \
	strstrt(GPVAL_TERMINALS, "pngcairo") ? "pngcairo size 900,620 noenhanced" : "png size 900,620 noenhanced"
eval "set terminal ".cs_terminal
# the network is too long for one line
cs_cut = strlen(cs_title) > 110 ? strstrt(cs_title[80:*], ",") + 79 : 0
cs_shown = cs_cut > 79 ? cs_title[1:cs_cut]."\n".cs_title[cs_cut + 1:*] : cs_title

# stdout tells what was drawn, stderr what went wrong
set print "-"
set border 3
set tics nomirror out
if (cs_format ne "txt") { set grid lc rgb "#DDDDDD" lt 1 lw 0.5 }
set key outside bottom center horizontal height 1
set style data linespoints
cs_n = "".cs_stem.".scale.dat"
stats cs_n using 1 nooutput name "D"
cs_blocks = D_blocks
set xlabel "clock domains"
set logscale x 2
set xrange [D_min / 1.2:D_max * 1.2]
cs_colour(i) = word("#0072B2 #D55E00 #009E73", i)

# ---- how long a session takes ----

set output cs_stem.".duration.".cs_format
set title "Virtual duration of one session\n".cs_shown
set ylabel "milliseconds"
set logscale y
plot for [i=0:cs_blocks-1] cs_n index i using 1:($5 * 1e3) lw 2 pt 7 ps 0.8 lc rgb cs_colour(i + 1) title word(cs_shapes, i + 1)
unset output
print cs_base.".duration.".cs_format.": virtual duration of a session"

# ---- how good it is ----

set output cs_stem.".error.".cs_format
set title "True error and bound of all clock maps over the run\n".cs_shown
set ylabel "nanoseconds"
plot for [i=0:cs_blocks-1] cs_n index i using 1:($9 * 1e9) lw 2 pt 7 ps 0.8 lc rgb cs_colour(i + 1) \
		title "largest bound, ".word(cs_shapes, i + 1), \
	for [i=0:cs_blocks-1] cs_n index i using 1:($7 * 1e9) lw 2 dt 2 pt 6 ps 0.8 lc rgb cs_colour(i + 1) \
		title "largest true error, ".word(cs_shapes, i + 1)
unset output
print cs_base.".error.".cs_format.": true error and bound"

# ---- where it comes from ----

set output cs_stem.".hops.".cs_format
set title "What each rank knows at once, by its distance from the master\n".cs_shown
set xlabel "exchanges between a rank and the master, ".word(cs_shapes, 1)
unset logscale x
set xrange [0.5:*]
set xtics 1
plot cs_stem.".hops.dat" index 0 using 1:($4 * 1e9) lw 2 pt 7 lc rgb "#0072B2" title "largest bound", \
	"" index 0 using 1:($3 * 1e9) lw 2 dt 2 pt 6 lc rgb "#0072B2" title "largest true error"
unset output
print cs_base.".hops.".cs_format.": error and bound by distance"
