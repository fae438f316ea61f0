#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The benches print a row for each figure that was not measured: a launch that hangs ends at its limit, and the next is
# tried. mpirun is here a program that never ends. TAP.
. "${top_srcdir:-.}/tests/lib/tap.sh"
PYTHON3=${PYTHON3:-python3}
mkdir "$dir/bin" && cd "$dir" || exit 99
# shellcheck disable=SC2016
printf '#!/bin/sh\necho $$ >>"%s/launched"\nexec sleep 1000\n' "$dir" >bin/mpirun && chmod +x bin/mpirun
PATH=$dir/bin:$PATH

none_left() # of what was launched
{
	while read -r pid; do
		! kill -0 "$pid" 2>/dev/null || return 1
	done <launched
}

limited() # limited COMMAND...: a bench whose limit is a second
{
	BENCH_LIMIT=1 sh "$src/tests/bench/lib/limited.sh" figure "$@" >out 2>err
	status=$?
}

limited sleep 1000
expect_status 1
expect_text 'figure	not measured	it did not end in 1 s' out
verdict "a bench that hangs ends at its limit"
limited sh -c 'exit 5'
expect_status 1
expect_text 'figure	not measured	it ended with status 5' out
verdict "a bench that fails"
limited echo 'figure	1	ns	1	1	1'
expect_status 0
expect_text 'figure	1	ns	1	1	1' out
verdict "a bench that ends prints its rows and nothing else"

BENCH_LIMIT=1 sh "$src/tests/bench/clocks/bench_mpi.sh" "$build" >out 2>err
status=$?
expect_status 1
for figure in bench_calib bench_session.np2 bench_session.np16 calib.np16.pairs.true_error \
	calib.np16.itc.outside_bound \
	timertest.latency timertest.max_offset.over_tick timertest.pairs64; do
	expect_line "^$figure	not measured	mpirun .* did not end in 1 s$" out
done
expect_lines 12 '	not measured	' out
expect none_left
verdict "launches that hang: each figure of several processes has its row, and nothing is left running"

if [ "$PYTHON3" != no ] && "$PYTHON3" -c 'import statistics' 2>/dev/null; then
	: >launched
	"$PYTHON3" "$src/tests/bench/clocks/bench_calib_table.py" "$build" --rounds 2 --only np16,hogs --limit 1 >out \
		2>err
	status=$?
	expect_status 1
	for figure in 'calib.np16.true' 'calib.np16 session' 'calib.hogs, np 16'; do
		expect_line "^| $figure | not measured |.* | mpirun .* did not end in 1 s |$" out
	done
	expect_lines 2 . launched
	expect none_left
	verdict "bench-calib: hog rows that hang are rows, a kind that hung is not launched again"
else
	skip "bench-calib" "no Python"
fi
done_testing
