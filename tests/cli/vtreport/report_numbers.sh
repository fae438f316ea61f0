#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every number of a report against the samples that were put into the trace: few ranks, many, more than rows of the heat
# map.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99

if ! command -v python3 >/dev/null; then
	skip_all "no python3"
	exit 0
fi

numbers() # numbers RANKS SEED
{
	rm -f x.*
	python3 "$src/tests/cli/vtreport/report_numbers.py" make "$@" >x.avt &&
		"$build/tests/cli/lib/text_stf" x.avt x.stf >out 2>err &&
		"$build/vtreport" x.stf >out 2>err &&
		python3 "$src/tests/cli/vtreport/report_numbers.py" check "$@" x.html >verify
}

numbers 3 1
ok "curves of three ranks, the heat map and the tables" $?
numbers 9 2
ok "nine ranks: their range, their mean and three of them" $?
numbers 150 3
ok "150 ranks: two in a row of the heat map" $?
done_testing
