# SPDX-License-Identifier: BSD-3-Clause
# What a trace says of files, from `stftool --dump`: one line "function READ|WRITE bytes file" for each operation that has ended;
# with ranks=1, the rank before it.
function text(   s) { s = $0; sub(/^[^"]*"/, "", s); sub(/" [^"]*$/, "", s); return s }
$1 == "DEFFUNCTION" { name[$2] = text() }
$1 == "DEFIOFILE" { file[$2] = text() }
$2 == "ENTER" { delete left[$4]; n[$4]++; state[$4, n[$4]] = $6 }
# a transfer at the time at which its call ends may be listed after it
$2 == "LEAVE" { left[$4] = $1 " " name[state[$4, n[$4]]]; n[$4]-- }
$2 == "IOBEGIN" { open[$4, $8]++; by[$4, $8] = index(left[$4], $1 " ") == 1 ? substr(left[$4], length($1) + 2) : name[state[$4, n[$4]]] }
$2 == "IOEND" {
	if (open[$4, $8]-- <= 0) { print "end without begin" }
	print (ranks ? ($4 - 1) % 65536 " " : "") by[$4, $8], $6 ? "READ" : "WRITE", $10, file[$8]
}
END { for (k in open) { if (open[k] > 0) { print "begin without end" } } }
