#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No line of a script in tests/ has more than 120 columns, tabs of 8; text in a here-document is no line of it. None
# passes the status of the command before by $? behind a $(...): to bash that is the status of what is in the brackets,
# so that the test could not fail. TAP.
. "${top_srcdir:-$(dirname "$0")/..}/tests/lib/tap.sh"

# long_lines FOLDER: FILE:LINE: COLUMNS
long_lines()
{
	find "$1" \( -name '*.sh' -o -name '*.bats' \) -exec awk '
		FNR == 1 { end = "" }
		end != "" { end = $0 == end ? "" : end; next }
		{
			column = 0
			for (i = 1; i <= length($0); i++) {
				column = substr($0, i, 1) == "\t" ? column + 8 - column % 8 : column + 1
			}
		}
		column > 120 { print FILENAME ":" FNR ": " column " columns" }
		!/<<</ && match($0, /<<-?[ ]*[^ a-zA-Z]?[A-Za-z_]+/) {
			end = substr($0, RSTART, RLENGTH)
			gsub(/[^A-Za-z_]/, "", end)
		}' {} +
}

# lost_statuses FOLDER: FILE: the command
lost_statuses()
{
	find "$1" -name '*.sh' -exec awk '
		FNR == 1 { line = "" }
		{ line = line $0 }
		/\\$/ { sub(/\\$/, " ", line); next }
		line ~ /^[ \t]*(ok|expect|result) .*\$\(.*\$\?[ \t]*$/ { print FILENAME ": " line }
		{ line = "" }' {} +
}

result "no line of a script has more than 120 columns" "$(long_lines "$src/tests")"

mkdir "$dir/t"
printf '%s\n' "cat <<'END'" "$(printf '%0121d' 0)" END "$(printf '%0120d' 0)" "$(printf '\t%0113d' 0)" >"$dir/t/a.sh"
[ "$(long_lines "$dir/t")" = "$dir/t/a.sh:5: 121 columns" ]
ok "one that has is named, by its columns; a here-document is not" $?
result "no status is that of a command in a text" "$(lost_statuses "$src/tests")"
printf '%s\n' 'false' 'ok "a $(echo) \' '	b" $?' 'ok "c" $?' 'ok "$(echo)" $status' >"$dir/t/a.sh"
[ "$(lost_statuses "$dir/t")" = "$dir/t/a.sh: ok \"a \$(echo)  	b\" \$?" ]
ok "one that is is named" $?
done_testing
