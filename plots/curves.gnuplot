# SPDX-License-Identifier: BSD-3-Clause
#
# Draws curves that vtreport wrote: gnuplot NAME.gnuplot
#
# vtreport writes the variables vr_title, vr_verdict, vr_format, vr_data, vr_out, vr_x, vr_y, vr_lines, vr_columns and the array vr_name
# above these lines. Text is in single quotes there (a quote doubled), because gnuplot runs what is in backquotes
# inside double ones. The first line of the data file names its columns: the time, then mean, low and high of each curve.
# Needs gnuplot 5.2. Text is never "enhanced", since names hold underscores. No font is named, since none is certain to be
# installed.

vr_colours = "#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9 #000000"
vr_colour(i) = word(vr_colours, (i - 1) % 7 + 1)
vr_has(t) = strstrt(" ".GPVAL_TERMINALS." ", " ".t." ") > 0
if (vr_format eq "svg") { set terminal svg size 1000,480 dynamic noenhanced background "#FFFFFF" }
if (vr_format eq "png") {
	if (vr_has("pngcairo")) { set terminal pngcairo size 1000,480 noenhanced } else { set terminal png size 1000,480 noenhanced }
}
if (vr_format eq "pdf") {
	if (vr_has("pdfcairo")) { set terminal pdfcairo size 25cm,12cm noenhanced } else { set terminal pdf noenhanced }
}
if (vr_format eq "txt") { set terminal dumb size vr_columns,24 noenhanced }
# vtreport reads the picture from standard output, and so notices a full disk
if (vr_out ne "" && !exists("vr_pipe")) { set output vr_out }
set datafile missing "?"
# lines of at most n characters, broken at a space where there is one
vr_break(s, n, k) = k < n / 2 ? n : s[k:k] eq " " ? k : vr_break(s, n, k - 1)
vr_wrap(s, n) = strlen(s) <= n ? s : s[1:vr_break(s, n, n)]."\n".vr_wrap(s[vr_break(s, n, n) + 1:*], n)
vr_wide = vr_format eq "txt" ? vr_columns - 10 : 105
set title vr_wrap(vr_title, vr_wide).(vr_verdict eq "" ? "" : "\n".vr_wrap(vr_verdict, vr_wide)) noenhanced
set xlabel vr_x noenhanced
set ylabel vr_y noenhanced
set key outside bottom center horizontal noenhanced height 1 maxrows 4
if (vr_format ne "txt") { set grid lc rgb "#DDDDDD" lt 1 lw 0.5 }
set autoscale xfix
set yrange [vr_low : vr_high]
if (vr_format eq "txt") {
	plot for [i=1:vr_lines] vr_data using 1:(column(3 * i - 1)) with lines title vr_name[i]
} else {
	plot for [i=1:vr_lines] vr_data using 1:(column(3 * i)):(column(3 * i + 1)) with filledcurves fill transparent solid 0.25 noborder \
			lc rgb vr_colour(i) notitle, \
		for [i=1:vr_lines] vr_data using 1:(column(3 * i - 1)) with lines lw 1.6 lc rgb vr_colour(i) title vr_name[i]
}
unset output
