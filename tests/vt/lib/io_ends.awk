# SPDX-License-Identifier: BSD-3-Clause
# From `stftool --dump`: one line "CALL END" for each transfer that a call with a request began; END is the call that is left at the
# time at which the transfer ends.
$1 == "DEFFUNCTION" { s = $0; sub(/^[^"]*"/, "", s); sub(/" [^"]*$/, "", s); name[$2] = s }
$2 == "ENTER" { n[$4]++; state[$4, n[$4]] = $6 }
$2 == "LEAVE" { left[$4, $1] = name[state[$4, n[$4]]]; n[$4]-- }
$2 == "IOBEGIN" { begun[$4, $8, ++begins[$4, $8]] = name[state[$4, n[$4]]] }
$2 == "IOEND" {
	by = begun[$4, $8, ++ends[$4, $8]]
	if (by ~ /^MPI_File_i(read|write)/) { call[++lines] = by; at[lines] = $4 SUBSEP $1 }
}
END { for (i = 1; i <= lines; i++) { print call[i], left[at[i]] } }
