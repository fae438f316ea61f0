#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stamps that take part in "before" and "after" are not taken before what they follow: VT_timestamp() between two
# threads, and the counters at state changes, on a simulated clock whose plain reads are 1 ms early. TAP.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
cd "$dir" || exit 99
VT_LOGFILE_PREFIX=$dir VT_LOGFILE_NAME=t.stf VT_FLUSH_PREFIX=$dir VT_FORCE=on
export VT_LOGFILE_PREFIX VT_LOGFILE_NAME VT_FLUSH_PREFIX VT_FORCE
# shellcheck disable=SC2086
${CC:-cc} -std=gnu11 -O2 $san -g -D_GNU_SOURCE -I"$include" "$here/api/programs/stamps.c" -L"$lib" \
	-lVTcs -Wl,-rpath,"$lib" -pthread \
	-o prog >out 2>&1
ok "a program that compares stamps compiles" $?

if [ "$(getconf _NPROCESSORS_ONLN)" -lt 2 ]; then
	skip "stamps of two threads" "one processing unit"
elif [ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2>/dev/null)" != tsc ]; then
	skip "stamps of two threads" "the kernel does not take this machine's counter for one clock"
else
	VT_TIMER=CPU timeout 120 ./prog threads >out 2>err
	sed 's/^/# /' out
	grep -q ' seen, 0 before they were published' out
	ok "no stamp is seen before it was published" $?
fi

# values of VT_countval() are stamped by plain reads, early here, so that the test can tell both kinds
VT_TIMER='sim:base=clock_monotonic_raw,early=1ms' timeout 120 ./prog events >out 2>err &&
	"$build/tests/vt/lib/samples" t.stf -t >have 2>>out
awk 'function hex(s,  i, v) {
		v = 0
		for (i = length(s) - 12; i <= length(s); i++) {
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		}
		return v * 1e-9
	}
	/Stamps:event/ { event = $1 - hex($NF); events++ }
	/Stamps:value/ && events { value = $1 - hex($NF); d = event - value; values++
		# preemption between a stamp and the reading of the clock makes one of them earlier by itself
		good += d > 0.0008 && d < 0.0012; sum += d }
	END { printf "# %d events, %d values; events are %.6f s later than plain reads\n", events, values,
	values ? sum / values : 0
		exit !(events >= 50 && values >= 50 && good >= values / 2) }' have >awked 2>&1
status=$?
cat awked
cat awked have >>out
ok "stamps of state changes are ordered reads" $status
done_testing
