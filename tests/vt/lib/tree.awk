# SPDX-License-Identifier: BSD-3-Clause
# The call tree of a trace of one thread, from `stftool --dump`: one name a line, a dot for each level.
function text(   s) { s = $0; sub(/^[^"]*"/, "", s); sub(/".*/, "", s); return s }
$1 == "DEFCLASS" { class[$2] = text() }
$1 == "DEFFUNCTION" { function_[$2] = class[$NF] ":" text() }
$1 == "DEFSCOPE" { scope[$2] = text() }
$2 == "ENTER" { print dots function_[$6]; dots = dots "." }
$2 == "LEAVE" { dots = substr(dots, 2) }
$2 == "ENTERSCOPE" { print dots "[" scope[$6] }
$2 == "LEAVESCOPE" { print dots "]" scope[$6] }
END { if (dots) { print "open" dots } }
