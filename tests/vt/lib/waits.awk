# SPDX-License-Identifier: BSD-3-Clause
# The states of a trace, from `stftool --dump`: a line "RANK|CLASS:FUNCTION|COUNT|NANOSECONDS" for each rank and function, and
# one "RANK|open" for a state that is not left.
function text(   s) { s = $0; sub(/^[^"]*"/, "", s); sub(/".*/, "", s); return s }
$1 == "CLKPERIOD" { period = $2 }
$1 == "DEFCLASS" { class[$2] = text() }
$1 == "DEFFUNCTION" { name[$2] = class[$NF] ":" text() }
$2 == "ENTER" { since[$4] = $1; state[$4] = $6 }
$2 == "LEAVE" {
	key = ($4 - 1) % 65536 "|" name[state[$4]]
	count[key]++
	sum[key] += ($1 - since[$4]) * period * 1e9
	delete since[$4]
}
END {
	for (key in count) {
		printf "%s|%d|%.0f\n", key, count[key], sum[key]
	}
	for (t in since) {
		print (t - 1) % 65536 "|open"
	}
}
