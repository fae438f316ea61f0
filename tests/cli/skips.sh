#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/skips.sh, by which make check ends: skips are named, and a new one on the same machine fails. TAP.
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
unset SKIPS_RAN MAKEFLAGS MFLAGS MAKELEVEL
mkdir -p t
printf 'ok 1 - works\nok 2 - a disk # SKIP no disk here: none\n1..2\n' >t/a.sh.log
printf '1..0 # SKIP no MPI\n' >t/b.sh.log
printf 'ok 1 - fine\n1..1\n' >t/c.log
skips() { sh "$src/tests/skips.sh" "$@" >"$dir/out" 2>"$dir/err"; }
skips t/a.sh.log t/b.sh.log t/c.log && grep -qx 'Skipped, 2:' out && grep -qx '  t/a.sh: a disk: no disk here: none' out && grep -qx '  t/b.sh: all of it: no MPI' out
ok "skips are named with their reasons" $?
skips t/c.log && grep -qx 'Nothing was skipped.' out
ok "nothing skipped" $?
SKIPS_RAN=known/of_here
export SKIPS_RAN
skips t/a.sh.log t/b.sh.log && [ -f known/of_here ] && skips t/a.sh.log t/b.sh.log
ok "what never ran on this machine is no failure" $?
printf 'ok 1 - np 2: messages\nok 2 - np 2: steps\n1..2\n' >t/b.sh.log
skips t/b.sh.log && printf 'ok 1 - np 2: messages\nok 2 - np 2: steps # SKIP no MPI\nok 3 - new # SKIP no disk\n1..3\n' >t/b.sh.log && ! skips t/b.sh.log &&
	grep -q 'Ran before on this machine' out && tail -n 1 out | grep -qx '  t/b.sh: np 2: steps'
ok "a check that ran and is skipped now fails" $?
printf 'ok 2 - np 2: steps # SKIP this time the machine: busy\n' >t/b.sh.log
skips t/b.sh.log && grep -qx '  t/b.sh: np 2: steps: this time the machine: busy' out
ok "one that depends on what else runs is named, and no failure" $?
printf '1..0 # SKIP no MPI\n' >t/b.sh.log
! skips t/a.sh.log t/b.sh.log && tail -n 1 out | grep -qx '  t/b.sh: all of it'
ok "so does a whole test" $?
# as make check calls it: the status is the last word
printf 'all: ; @sh %s/tests/skips.sh t/b.sh.log\n' "$src" >Makefile
! make -s --no-print-directory >out 2>err && tail -n 1 out | grep -qx '  t/b.sh: all of it'
ok "and make fails" $?
done_testing
