#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that switches stacks inside functions or regions (programs/coroutines.c): a thread has one row, so times
# are wrong, and the run reports that, in the trace too. Jumps and handlers on a signal stack switch no stacks. TAP.
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
cd "$dir" || exit 99
# shellcheck disable=SC2086
${CC:-cc} $san -g -O1 -fno-inline -finstrument-functions -I"$include" "$here/functions/programs/coroutines.c" \
	-o coroutines -L"$lib" -lVTcs -Wl,-rpath,"$lib" >out 2>&1 ||
	{ cat out; skip_all "the program does not compile here"; }
for way in below:2 above:2 by_hand:2 none:0 signal:0 jump:0; do
	rm -f coroutines.stf* coroutines.prot
	"$vtrun" -- ./coroutines "${way%:*}" >out 2>&1
	expect [ $? -eq 0 ]
	"$build/stftool" coroutines.stf --print-clock >>out 2>&1
	expect_lines "${way#*:}" 'stacks were switched inside functions' out
	verdict "${way%:*}"
done
done_testing
