#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# results.sh LABEL [TESTS=...]: what `make check` left in the current build folder: a row of the table of matrix.sh,
# then each skip with its reason. Fails if a check failed, nothing passed, or a test has no result, as after a make that
# broke off.
set -u
label=$1
shift
unset MAKEFLAGS MFLAGS MAKELEVEL
top=$(cd "$(dirname "$0")/../../.." && pwd)
# shellcheck disable=SC2016
logs=$(printf 'include Makefile\nprint-logs:\n\t@:$(info $(TEST_LOGS))\n' | make -s -f - print-logs "$@") || exit 99
for log in $logs; do
	echo "$log ran"
	sed -n "s|^:test-result: \\([A-Z]*\\).*|$log \\1|p" "${log%.log}.trs" 2>/dev/null
done | awk -v cell="$label" '
	{ name = $1; sub(/^tests\//, "", name); sub(/\.log$/, "", name) }
	$2 == "ran" { all++; has[name] = ""; order[all] = name; next }
	{ has[name] = has[name] " " $2 }
	$2 ~ /^(PASS|XFAIL)$/ { pass++ }
	$2 == "SKIP" { skip++ }
	$2 ~ /^(FAIL|XPASS|ERROR)$/ { fail++ }
	END {
		for (i = 1; i <= all; i++) {
			name = order[i]
			if (has[name] == "") { none++; names = names " " name " (no result)" }
			if (has[name] ~ / (FAIL|XPASS|ERROR)/) { names = names " " name }
		}
		printf "| %s | %d of %d | %d | %d | %d |%s |\n", cell, all - none, all, pass, fail, skip, names
		exit fail || none || !pass
	}'
rc=$?
# shellcheck disable=SC2086
SKIPS_RAN='' sh "$top/tests/skips.sh" $logs
exit $rc
