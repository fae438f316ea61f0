#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The last sample: whatever way a program ends by itself, what it counted up to then is in the trace, from its first
# step on. LASTS runs of each. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
turns=$build/tests/preload/programs/turns
lasts=${LASTS:-5}
VT_VERBOSE=0 VT_FORCE=on
export VT_VERBOSE VT_FORCE

last_of() # last_of COUNTER THREAD: its greatest recorded value in turns.stf, which for a count is the last
{
	"$build/stftool" turns.stf --print-counters --csv 2>"$dir/verify" |
		awk -F, -v c="\"$1\"" -v t="\"$2\"" '$2 == c && (t == "\"\"" || $8 == t) && $15 > m { m = $15 }
		END { print m + 0 }'
}

for end in return exit _exit quick_exit thread; do
	STEPS_END=$end
	export STEPS_END
	fresh
	options="--counter sde:::turns::steps"
	i=0 wrong=0 plain=
	while [ "$i" -lt "$lasts" ]; do
		i=$((i + 1))
		sampled "$turns" steps
		plain=$status
		[ "$status" -eq 0 ] || break
		got=$(last_of sde:::turns::steps "")
		[ "$got" -eq 1000 ] || { wrong=$((wrong + 1))
		echo "run $i: the last value is $got, the program counted $(cat "$dir/out")"; }
	done >"$dir/diff"
	options=
	if [ "$plain" -eq 77 ] || ! grep -q '^#define HAVE_PAPI ' "$build/config.h"; then
		skip "$end: all 1000 steps" "no libsde.so.1 (Debian: libsde1), or built without PAPI"
	else
		expect [ "$wrong" -eq 0 ]
		expect [ "$plain" -eq 0 ]
		expect [ "$i" -eq "$lasts" ]
		verdict "$end: all 1000 steps, $lasts times"
	fi
done

# a thread that is alive at the end has counted until then
fresh
options="--counter perf_page_faults --sample-period 50ms"
sampled "$turns" last-faults
options=
got=$(last_of perf_page_faults "1:0")
echo "$got page faults of thread 1" >"$dir/diff"
if "$build/vtcounters" perf_page_faults 2>&1 | grep -q '^perf_page_faults .*thread'; then
	expect_status 0
	expect [ "$got" -ge 1000 ]
	verdict "a live thread's last values"
else
	skip "a live thread's last values" "no software events of the kernel here"
fi

# What the main thread does first is counted, too. Where the sampler process was not ready in time, the trace says that
# the first samples are missing.
if "$build/vtcounters" perf_page_faults 2>&1 | grep -q '^perf_page_faults .*thread' &&
	made first; then
	fresh
	options="--counter perf_page_faults"
	sampled "$dir/first"
	options=
	got=$("$build/stftool" first.stf --print-counters --csv 2>"$dir/verify" | awk -F, '
		$2 == "\"perf_page_faults\"" && $8 == "\"0:0\"" { print $15 + 0 }')
	echo "$got page faults of the main thread" >"$dir/diff"
	expect_status 0
	{ [ "${got:-0}" -ge 20000 ] || "$build/stftool" first.stf --dump |
		grep -q 'no samples of the first [0-9.]* s: the sampler process was not ready'; } ||
		not_met '{ [ "${got:-0}" -ge 20000 ] || "$build/stftool" first.stf --dump | grep -q ...'
	verdict "all 20000 page faults of the main thread, from its first step on, or the trace says from when on"
else
	skip "the main thread from its first step on" "no software events of the kernel here, or no compiler"
fi

# coreutils close their standard error in a handler of their own
fresh
VT_VERBOSE=1
i=0 silent=0
while [ "$i" -lt $((4 * lasts)) ]; do
	i=$((i + 1))
	sampled sleep "0.0$((i % 9 + 1))"
	grep -q 'Writing tracefile' "$dir/err" || silent=$((silent + 1))
done
[ "$silent" -eq 0 ]
ok "the last line of $i short runs is read" $?
done_testing
