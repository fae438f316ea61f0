#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Wrong turns of a program: the output and exit status are those without the sampler, and the trace is valid. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
turns=$build/tests/preload/programs/turns
VT_VERBOSE=0
export VT_VERBOSE

same() # same NAME PROGRAM ARGUMENT...: as without the sampler
{
	name=$1
	shift
	fresh
	timeout 300 "$@" >"$dir/plain" 2>"$dir/plain.err" </dev/null
	plain=$?
	fresh
	sampled "$@"
	[ "$status" -eq "$plain" ] || echo "exit status $status, $plain without" >"$dir/diff"
	expect_status "$plain"
	expect_same "$dir/plain" "$dir/out"
	expect_same "$dir/plain.err" "$dir/err"
	verdict "$name: as without"
}

for t in fork vfork system spawn environment exec-fails late thread-exit main-gone many-threads signals handler-exit \
	mask \
	close-all descriptors pipe daemon dlopen limits _exit quick nothing closed-streams; do
	same "$t" "$turns" "$t"
	expect valid turns.stf
	expect_not ls .VT-flush-* >"$dir/verify" 2>&1
	verdict "$t: a valid trace, no raw file"
done

same chdir "$turns" chdir
valid turns.stf
ok "chdir: the trace is where the program began" $?

EARLY_THREAD=1
export EARLY_THREAD
same early "$turns" early
unset EARLY_THREAD
expect valid turns.stf
expect [ "$("$build/stftool" turns.stf --print-threads --csv | grep -c '1:0')" -ge 1 ]
verdict "early: the thread from before main is in the trace"

same exec "$turns" exec
expect valid turns.stf
expect_line '^ *1 sampler_cpu' "$dir/counters"
expect "$build/stftool" turns.stf --print-threads >"$dir/verify"
expect_line ' sh$' "$dir/verify"
expect_not ls .VT-flush-* >/dev/null 2>&1
verdict "exec: one trace of the process and what it became"

same abort "$turns" abort
expect trace_complete turns.stf
expect valid turns.stf
expect_line -E '^INFO ENDED (by signal 6 |without exit, status unknown)' turns.prot
verdict "abort: a valid trace, and the protocol says how it ended"

# what no library can be put into takes over: the trace of what was before
printf '#include <stdio.h>\nint main(void) { puts("static"); return 7; }\n' >"$dir/static.c"
if ${CC:-cc} -static "$dir/static.c" -o "$dir/static" 2>/dev/null; then
	STATIC=$dir/static
	export STATIC
	same exec-static "$turns" exec-static
	expect valid turns.stf
	expect_not ls .VT-flush-* >"$dir/verify" 2>&1
	verdict "exec-static: a valid trace, no raw file"
	fresh
	VT_VERBOSE=1
	sampled "$turns" exec-static
	VT_VERBOSE=0
	grep -q "sampling ends here: $STATIC .*statically linked" "$dir/err"
	ok "exec-static: said" $?
	unset STATIC
else
	skip "exec-static" "no static libc"
fi

if [ -n "$sanitizer" ]; then
	skip "a malloc of its own" "the sanitizer has one too"
else
	same "a malloc of its own" "$build/tests/preload/programs/turns_malloc" malloc
	valid turns_malloc.stf
	ok "a malloc of its own: a valid trace" $?
fi

# another preloaded library, and one that is missing
cp "$build/.libs/libVTnull.so" "$dir/other.so"
before=${LD_PRELOAD:-}
LD_PRELOAD=$dir/other.so${before:+:$before}
export LD_PRELOAD
same "another preloaded library" "$turns" environment
LD_PRELOAD=$before
[ -n "$before" ] || unset LD_PRELOAD

# a followed child each way, all in one trace
fresh
options=--follow-children
for t in fork system spawn vfork; do
	fresh
	timeout 300 "$turns" "$t" >"$dir/plain" 2>/dev/null
	plain=$?
	sampled "$turns" "$t"
	expect_status "$plain"
	expect_same "$dir/plain" "$dir/out"
	expect valid turns.stf
	verdict "followed $t: as without, a valid trace"
done
fresh
sampled sh -c '(sleep 0.3; exit 2); sleep 0.3 & wait; (sleep 0.2)'
expect "$build/stftool" sh.stf --print-threads >"$dir/verify" 2>&1
expect [ "$(grep -c ' 0:[0-9]* ' "$dir/verify")" -ge 4 ]
expect valid sh.stf
expect_not ls .VT-flush-* >/dev/null 2>&1
verdict "children of a shell are followed into one trace"
# the last of them writes it, also when that is not the first
fresh
sampled sh -c 'sleep 2 & until [ $# -ge 2 ]; do set -- .VT-flush-*; done; exit 6'
wait_for 60 [ -e sh.stf ]
# the raw files go when the trace is whole
wait_for 60 no_raw_files
expect_status 6
expect valid sh.stf
expect "$build/stftool" sh.stf --print-threads >"$dir/verify" 2>&1
expect_line ' sleep$' "$dir/verify"
verdict "a child that outlives the program writes the trace of all"
options=

# without FOLLOW-CHILDREN only the program itself
fresh
sampled sh -c 'sleep 0.2; sleep 0.2'
expect "$build/stftool" sh.stf --print-threads --csv >"$dir/verify" 2>&1
expect [ "$(wc -l <"$dir/verify")" -eq 2 ]
verdict "children are not followed unasked"

# scripts
fresh
printf '#!/bin/sh\necho script "$@"\nexit 21\n' >s
chmod +x s
sampled ./s a 'b c'
expect_status 21
expect_text "script a b c" "$dir/out"
expect valid s.stf
verdict "a script: named after it, its interpreter is sampled"
{ printf '#!/' && head -c 400 /dev/zero | tr '\0' x && printf '\necho hi\n'; } >long
chmod +x long
sampled ./long
expect_status 126
expect_line '^vtrun: ./long: its #! line has' "$dir/err"
verdict "a script whose interpreter has a longer name than the kernel takes: a message"
done_testing
