#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The sampler is a process of its own: the program has no thread, no descriptor and no signal handler for it, ends as it would, and no
# sampler is left. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
VT_VERBOSE=0
export VT_VERBOSE

# shellcheck disable=SC2016
# without a child that the shell would catch signals for meanwhile
seen='while read -r line; do case $line in Threads:*|SigIgn:*|SigCgt:*) echo "$line" ;; esac; done </proc/$$/status; ls /proc/$$/fd; env | grep -E "LD_PRELOAD|TICKMARK"; :'
for shell in sh bash; do
	if ! command -v $shell >/dev/null; then
		skip "$shell: threads, signals, descriptors and environment" "no $shell"
		continue
	fi
	fresh
	timeout 300 $shell -c "$seen; $shell -c 'env | grep LD_PRELOAD'" >"$dir/plain" 2>&1 </dev/null
	sampled $shell -c "$seen; $shell -c 'env | grep LD_PRELOAD'"
	if [ -n "$sanitizer" ]; then
		skip "$shell: threads, signals, descriptors and environment" "the sanitizer is preloaded"
	else
		diff "$dir/plain" "$dir/out" >"$dir/diff"
		ok "$shell: threads, signals, descriptors and environment are those without" $?
	fi
	valid $shell.stf && grep -q '^INFO SAMPLED by process [0-9]' $shell.prot && grep -q '^INFO ENDED by' $shell.prot
	ok "$shell: a valid trace by another process, and how it ended" $?
done

fresh
options="--sampler thread"
sampled sh -c 'grep ^Threads: /proc/$$/status'
options=
[ "$(awk '{ print $2 }' "$dir/out")" -eq 2 ] && valid sh.stf && grep -q '^INFO SAMPLED by a thread inside the program: SAMPLER thread$' sh.prot
ok "SAMPLER thread: a thread inside, and the protocol says so" $?

# the last thread ends by itself
cat >"$dir/last.c" <<'END'
#include <pthread.h>
#include <stdio.h>
int main(void)
{
	puts("hello");
	pthread_exit(NULL);
}
END
if ${CC:-cc} -o "$dir/last" "$dir/last.c" -pthread 2>"$dir/diff"; then
	fresh
	timeout 20 "$build/vtrun" -- "$dir/last" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status -eq 0 ] && [ "$(cat "$dir/out")" = hello ] && trace_complete last.stf && valid last.stf
	ok "a program whose last thread ends with pthread_exit() ends" $?
fi

# exec from a small stack
cat >"$dir/small.c" <<'END'
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *thread(void *unused)
{
	execl("/bin/echo", "echo", "became", (char *)0);
	return unused;
}
int main(void)
{
	pthread_attr_t a;
	pthread_t t;
	pthread_attr_init(&a);
	if (pthread_attr_setstacksize(&a, 20480) || pthread_create(&t, &a, thread, NULL)) {
		return 77;
	}
	pthread_join(t, NULL);
	return 1;
}
END
if ${CC:-cc} -o "$dir/small" "$dir/small.c" -pthread 2>"$dir/diff"; then
	fresh
	sampled "$dir/small"
	if [ "$status" -eq 77 ]; then
		skip "exec from a small stack" "no stack of 20 KB here"
	else
		[ "$status" -eq 0 ] && [ "$(cat "$dir/out")" = became ] && valid small.stf
		ok "exec from a thread with 20 KB of stack" $?
		# when vtrun has ended
		grep -q '^INFO BEFORE-EXEC "small"$' small.prot && grep -q '^INFO PROGRAM "echo"$' small.prot && grep -q '^INFO ENDED by exit$' small.prot
		ok "the protocol has both programs and how the second one ended" $?
	fi
fi

# programs that must have one thread
fresh
if unshare -Ur true 2>/dev/null; then
	sampled unshare -Ur true
	[ "$status" -eq 0 ]
	ok "unshare -Ur" $?
else
	skip "unshare -Ur" "no user namespaces here"
fi

# none is left
fresh
sampled sh -c 'sleep 0.3'
pid=$(sampler sh.prot)
tries=0
while grep -q '^State:[^ZX]*$' "/proc/$pid/status" 2>/dev/null && [ $tries -lt 100 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
[ -n "$pid" ] && [ $tries -lt 100 ]
ok "the sampler ends when the trace is written" $?
done_testing
