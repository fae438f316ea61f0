# SPDX-License-Identifier: BSD-3-Clause
# A trace's `stftool --dump` as the lines that regions.c prints: "THREAD + CLASS:FUNCTION", "THREAD -". A CPU is the process + 1 + 65536 x its thread.
# Sets `late` if a stamp is before the one ahead of it.
function text(   s) { s = $0; sub(/^[^"]*"/, "", s); sub(/".*/, "", s); return s }
$1 == "DEFCLASS" { class[$2] = text() }
$1 == "DEFFUNCTION" { function_[$2] = class[$NF] ":" text() }
$2 == "ENTER" { print int($4 / 65536) " + " function_[$6] }
$2 == "LEAVE" { print int($4 / 65536) " -" }
$2 == "ENTER" || $2 == "LEAVE" { if ($1 < last) { late++ } last = $1 }
END { if (late) { print late " stamps go back" } }
