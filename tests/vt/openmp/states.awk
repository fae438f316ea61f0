# SPDX-License-Identifier: BSD-3-Clause
# What each thread of a trace spends in each function itself, from `stftool --dump`: "FUNCTION THREAD CALLS SECONDS".
# Exit status 1 if a state is left that was not entered, or is never left.
function text(   s) { s = $0; sub(/^[^"]*"/, "", s); sub(/".*/, "", s); return s }
$1 == "CLKPERIOD" { period = $2 }
$1 == "DEFCLASS" { class[$2] = text() }
$1 == "DEFFUNCTION" { function_[$2] = class[$NF] ":" text() }
$2 == "ENTER" || $2 == "LEAVE" {
	t = int($4 / 65536)
	if (depth[t]) { own[state[t, depth[t]] " " t] += $1 - last[t] }
	last[t] = $1
}
$2 == "ENTER" { state[t, ++depth[t]] = function_[$6]; calls[function_[$6] " " t]++ }
$2 == "LEAVE" { if (!depth[t]--) { print "left without being entered by thread " t; bad = 1; depth[t] = 0 } }
END {
	for (t in depth) { if (depth[t]) { print "still open in thread " t; bad = 1 } }
	for (i in calls) { printf "%s %d %.9f\n", i, calls[i], own[i] * period }
	exit bad
}
