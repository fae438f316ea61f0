#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The preloaded library while it samples, under ThreadSanitizer and under valgrind. AddressSanitizer sees it in
# sanitizers.sh, whose make check preloads what it built.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need gcc valgrind
unset LD_PRELOAD

# as_without PROGRAM-OF-TURNS COMMAND...: COMMAND's output and exit status are those of the turn alone, and its trace is
# valid. What the checker finds makes another status.
as_without()
{
	turn=$1
	shift
	rm -f turns.stf* turns.prot
	./tests/preload/programs/turns "$turn" >plain 2>/dev/null </dev/null
	plain=$?
	timeout -k 10 300 "$@" ./tests/preload/programs/turns "$turn" >out 2>err </dev/null
	status=$?
	cat err
	[ "$status" -eq "$plain" ] || { echo "error: status $status, $plain without"; return 1; }
	diff plain out && ./stftool turns.stf --verify
}

# In TSan's eyes all threads share one table of descriptors, and the sampler's is its own: nothing that closes or counts
# descriptors by number (close-all, descriptors, pipe, closed-streams). What an exec starts is not TSan's program, the
# child
# of a vfork it makes one of a fork, and a signal waits for a call that blocks, so that handler-exit never ends even
# without us.
configured tsan CC=gcc CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=thread"
step "tsan: make" make -j"$jobs" vtrun stftool libVTcs.la tests/preload/programs/turns
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 report_thread_leaks=0"
for turn in nothing many-threads late thread-exit main-gone system spawn mask dlopen _exit quick fork exec-fails \
	signals \
	daemon limits; do
	step "tsan: $turn" as_without "$turn" ./vtrun --sample-period 5ms --counter '**' --
done

# The launcher of valgrind is a program in between, which following children gets over.
configured valgrind CFLAGS="-O1 -g"
step "valgrind: make" make -j"$jobs" vtrun stftool libVTcs.la tests/preload/programs/turns
for turn in nothing many-threads late thread-exit fork close-all spawn; do
	step "valgrind: $turn" as_without "$turn" valgrind -q --error-exitcode=99 --trace-children=yes \
		--trace-children-skip='*/sh,*/true,*/echo' ./vtrun --follow-children --
done
