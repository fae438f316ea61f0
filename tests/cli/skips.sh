#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/skips.sh, by which make check ends: skips are named, and a new one on the same machine fails. TAP.
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
unset SKIPS_KNOWN
mkdir -p t
printf 'ok 1 - works\nok 2 - a disk # SKIP no disk here: none\n1..2\n' >t/a.sh.log
printf '1..0 # SKIP no MPI\n' >t/b.sh.log
printf 'ok 1 - fine\n1..1\n' >t/c.log
skips() { sh "$src/tests/skips.sh" "$@" >"$dir/out" 2>"$dir/err"; }
skips t/a.sh.log t/b.sh.log t/c.log && grep -qx 'Skipped, 2:' out && grep -qx '  t/a.sh: a disk: no disk here: none' out && grep -qx '  t/b.sh: all of it: no MPI' out
ok "skips are named with their reasons" $?
skips t/c.log && grep -qx 'Nothing was skipped.' out
ok "nothing skipped" $?
SKIPS_KNOWN=known/of_here
export SKIPS_KNOWN
skips t/a.sh.log && [ -f known/of_here ] && printf 'ok 2 - a disk # SKIP no disk here: 5 loops\n' >t/a.sh.log && skips t/a.sh.log
ok "a known skip with another reason is no failure" $?
! skips t/a.sh.log t/b.sh.log && grep -q 'New on this machine' out && tail -n 1 out | grep -qx '  t/b.sh: all of it'
ok "a new skip on the same machine fails" $?
printf 'ok 7 - np 2: messages # SKIP this time the machine: busy\n' >t/c.log
skips t/a.sh.log t/c.log && grep -qx '  t/c: np 2: messages: this time the machine: busy' out
ok "one that depends on what else runs is named, and no failure" $?
# as make check calls it: the status is the last word
printf 'all: ; @sh %s/tests/skips.sh t/b.sh.log\n' "$src" >Makefile
! make -s >out 2>err && tail -n 1 out | grep -qx '  t/b.sh: all of it'
ok "and make fails" $?
done_testing
