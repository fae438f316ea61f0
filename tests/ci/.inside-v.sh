#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The preloaded library while it samples, under ThreadSanitizer and under valgrind. AddressSanitizer sees it in
# sanitizers.sh, whose make check preloads what it built.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need gcc valgrind
unset LD_PRELOAD

# as_without PROGRAM-OF-TURNS COMMAND...: COMMAND's output and exit status are those of the turn alone, and its trace is
# valid. What the checker finds makes another status.
as_without()
{
	turn=$1
	shift
	rm -f turns.stf* turns.prot
	./tests/preload/turns "$turn" >plain 2>/dev/null </dev/null
	plain=$?
	timeout 300 "$@" ./tests/preload/turns "$turn" >out 2>err </dev/null
	status=$?
	cat err
	[ "$status" -eq "$plain" ] || { echo "error: status $status, $plain without"; return 1; }
	diff plain out && ./stftool turns.stf --verify
}

# In TSan's eyes all threads share one table of descriptors, and the sampler's is its own: nothing that closes
# or counts descriptors by number. Nor fork with other threads there, vfork and exec, which it does not know how to follow.
configured tsan CC=gcc CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=thread"

# The launcher of valgrind is a program in between, which following children gets over.
configured valgrind CFLAGS="-O1 -g"
step "valgrind: make" make -j"$jobs" vtrun stftool libVTcs.la tests/preload/turns
for turn in nothing many-threads late thread-exit fork close-all spawn; do
	step "valgrind: $turn" as_without "$turn" valgrind -q --error-exitcode=99 --trace-children=yes \
		--trace-children-skip='*/sh,*/true,*/echo' ./vtrun --follow-children --
done
