#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls of MPI that find nothing, in a row, are few records: no call is lost, the time in each function is that of its
# calls, a message found at last is paired, and the calls of a rank that is killed are there. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
python=$(command -v python3) || skip_all "no python3"

run() # run ARGUMENTS OF vtrun... -- ./polls ARGUMENTS
{
	clean
	timeout 120 "$MPIRUN" -np 2 "$vtrun" "$@" >out 2>&1
	rc=$?
}
compare() # compare TRUTH
{
	rm -f polls.jsonl
	"$build/stftool" polls.stf --convert polls.jsonl >converted 2>&1
	"$python" "$here/lib/polls.py" polls.jsonl "$1" >compared 2>&1
	cat compared >>out
	expect_empty_of wrong compared
}
expect_empty_of() { expect [ "$(grep -c "$1" "$2")" -eq 0 ]; }

mpi_compile "$MPICC" mpi/programs/polls.c polls
run -- ./polls
expect [ $rc -eq 0 ]
compare out
expect [ "$(sed -n 's/ states for .*//p' compared)" -lt 2000 ]
"$build/stftool" polls.stf --verify >verified 2>&1
cat verified >>out
expect grep -q ': 7 messages' verified
verdict "seven functions: all calls and their time in few states, seven messages paired"

"$build/vtreport" polls.stf --force >reported 2>&1
tr '<' '\n' <polls.html | sed 's/^[^>]*>//' >words
grep ' calls ' out | while read -r f _ n _; do
	grep -qx "$n" words || echo "no $n calls of $f in the page"
done >missing
expect_empty missing
expect [ "$(grep -c unsuccessful words)" -eq 0 ]
verdict "the page has the calls of each function, and no chart of runs"

"$build/stftool" polls.stf --who >who 2>&1
cat who >>out
expect_line '^rank 0 makes the others wait' who
verdict "rank 1, which looks for what rank 0 sends late, waits for it"

# a run does not go on in another block of the raw file
run --mem-blocksize 4KB -- ./polls
expect [ $rc -eq 0 ]
compare out
verdict "in blocks of 4 KB"

run --statistics -- ./polls
expect [ $rc -eq 0 ]
compare out
"$build/stftool" polls.stf --print-statistics >statistics 2>&1
# of function n: the sum of column 6 of its rows, and of the times in column 9, which are within those of the program
grep ' calls ' out | while read -r f _ n s; do
	awk -F: -v f="MPI:$f" -v n="$n" -v s="$s" '/^# function/ { split($0, d, " "); if (d[5] == f) { id = d[3] } }
		/^# seconds of a unit/ { split($0, d, "= "); unit = d[2] }
		!/^#/ && $2 == id { sum += $6; time += $9 * unit }
		END {
			if (sum != n) { print f ": " sum " of " n " calls are in the statistics" }
			if (time > 1.01 * s || time < 0.1 * s) { print f ": " time " of " s " s" }
		}' statistics
done >missing
cat missing >>out
expect_empty missing
verdict "with STATISTICS"

run --throttle 100:1s -- ./polls
expect [ $rc -eq 0 ]
"$build/stftool" polls.stf --verify >verified 2>&1
cat verified >>out
expect grep -q ': 7 messages' verified
rm -f polls.jsonl
"$build/stftool" polls.stf --convert polls.jsonl >converted 2>&1
expect [ "$(grep -c '"type":"enter".*"function":"MPI_Test' polls.jsonl)" -le 450 ]
expect [ "$(grep -c '"type":"enter".*"function":"MPI_Test"' polls.jsonl)" -gt 0 ]
verdict "--throttle leaves such calls out, and no message"

run -- ./polls counted
expect [ $rc -ne 0 ]
[ -e polls.stf ] || "$build/stftool" --merge polls.prot >>out 2>&1
compare counted
verdict "a rank that is killed while it looks loses no call"

fortran=$(command -v "$MPICC" | sed 's/mpicc/mpif90/')
if [ -x "$fortran" ]; then
	mpi_compile "$fortran" mpi/fortran/polls.f90 polls
	run -- ./polls
	expect [ $rc -eq 0 ]
	compare out
	expect [ "$(sed -n 's/ states for .*//p' compared)" -lt 1000 ]
	verdict "four functions in Fortran"
else
	skip "four functions in Fortran" "no mpif90 beside $MPICC"
fi
done_testing
