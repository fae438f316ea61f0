#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/skips.sh, by which make check ends: skips are named, and a new one on the same machine fails. And
# tests/ci/lib/results.sh, by which a cell of tests/ci/matrix.sh ends: a test that has no result fails. TAP.
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
unset SKIPS_RAN MAKEFLAGS MFLAGS MAKELEVEL
mkdir -p t
printf 'ok 1 - works\nok 2 - a disk # SKIP no disk here: none\n1..2\n' >t/a.sh.log
printf '1..0 # SKIP no MPI\n' >t/b.sh.log
printf 'ok 1 - fine\n1..1\n' >t/c.log
skips() { sh "$src/tests/skips.sh" "$@" >"$dir/out" 2>"$dir/err"; }
expect skips t/a.sh.log t/b.sh.log t/c.log
expect_line -x 'Skipped, 2:' out
expect_line -x '  t/a.sh: a disk: no disk here: none' out
expect_line -x '  t/b.sh: all of it: no MPI' out
verdict "skips are named with their reasons"
expect skips t/c.log
expect_line -x 'Nothing was skipped.' out
verdict "nothing skipped"
SKIPS_RAN=known/of_here
export SKIPS_RAN
expect skips t/a.sh.log t/b.sh.log
expect [ -f known/of_here ]
expect skips t/a.sh.log t/b.sh.log
verdict "what never ran on this machine is no failure"
printf 'ok 1 - np 2: messages\nok 2 - np 2: steps\n1..2\n' >t/b.sh.log
expect skips t/b.sh.log
expect printf 'ok 1 - np 2: messages\nok 2 - np 2: steps # SKIP no MPI\nok 3 - new # SKIP no disk\n1..3\n' >t/b.sh.log
expect_not skips t/b.sh.log
expect_line 'Ran before on this machine' out
tail -n 1 out | expect_line -x '  t/b.sh: np 2: steps' -
verdict "a check that ran and is skipped now fails"
printf 'ok 2 - np 2: steps # SKIP this time the machine: busy\n' >t/b.sh.log
expect skips t/b.sh.log
expect_line -x '  t/b.sh: np 2: steps: this time the machine: busy' out
verdict "one that depends on what else runs is named, and no failure"
printf '1..0 # SKIP no MPI\n' >t/b.sh.log
expect_not skips t/a.sh.log t/b.sh.log
tail -n 1 out | expect_line -x '  t/b.sh: all of it' -
verdict "so does a whole test"
# as make check calls it: the status is the last word
printf 'all: ; @sh %s/tests/skips.sh t/b.sh.log\n' "$src" >Makefile
expect_not make -s --no-print-directory >out 2>err
tail -n 1 out | expect_line -x '  t/b.sh: all of it' -
verdict "and make fails"

unset SKIPS_RAN
results() { sh "$src/tests/ci/lib/results.sh" cell "$@" >"$dir/out" 2>"$dir/err"; }
echo 'TEST_LOGS = $(TESTS:=.log)' >Makefile
echo 'TESTS = tests/a.sh tests/b tests/c' >>Makefile
mkdir tests
printf ':test-result: PASS works\n:test-result: SKIP a disk # SKIP none\n' >tests/a.sh.trs
cp t/a.sh.log tests/a.sh.log
printf ':test-result: PASS x\n:test-result: XFAIL y\n' >tests/b.trs
expect_not results
expect_line -x '| cell | 2 of 3 | 3 | 0 | 1 | c (no result) |' out
expect_line -x '  tests/a.sh: a disk: no disk here: none' out
verdict "results of a check that broke off: the test without one fails, and skips have their reasons"
expect results 'TESTS=tests/a.sh tests/b'
expect_line -x '| cell | 2 of 2 | 3 | 0 | 1 | |' out
printf ':test-result: ERROR z\n' >>tests/b.trs
expect_not results 'TESTS=tests/a.sh tests/b'
expect_line -x '| cell | 2 of 2 | 3 | 1 | 1 | b |' out
printf ':test-result: SKIP x\n' >tests/c.trs
expect_not results TESTS=tests/c
expect_line -x '| cell | 1 of 1 | 0 | 0 | 1 | |' out
verdict "those of the tests that were asked for; a failure, or nothing that passed, fails"
done_testing
