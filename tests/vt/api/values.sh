#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that call VT_, in C, C++ and Fortran, linked with -lVTcs: what they recorded comes back from the trace, value
# by value, from the thread, group or node where it belongs. TAP.
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
VT_LOGFILE_PREFIX=$dir VT_LOGFILE_NAME=t.stf VT_FLUSH_PREFIX=$dir VT_FORCE=on SAY=$dir/say
export VT_LOGFILE_PREFIX VT_LOGFILE_NAME VT_FLUSH_PREFIX VT_FORCE SAY

compile() # compile COMPILER... SOURCE: to $dir/prog
{
	# shellcheck disable=SC2086
	"$@" $san -g -D_GNU_SOURCE -I"$src/include" -I"$src" -L"$lib" -lVTcs -Wl,-rpath,"$lib" -lm -pthread \
		-o "$dir/prog" >"$dir/out" 2>&1
}

# The program's own counters only; the collector's have classes of their own.
same() # same: what was said and what is in the trace
{
	LC_ALL=C sort "$dir/say" >"$dir/want"
	"$build/tests/vt/lib/samples" "$dir/t.stf" 2>"$dir/out" | grep -vE ' (Tickmark|OS|PERF_DATA|sampler):' |
		LC_ALL=C sort >"$dir/have"
	[ -s "$dir/want" ] && diff "$dir/want" "$dir/have" >>"$dir/out" 2>&1 &&
		"$build/stftool" "$dir/t.stf" --verify >>"$dir/out" 2>&1
}

try() # try NAME ARGUMENTS...: runs $dir/prog, compares
{
	name=$1
	shift
	rm -f "$dir"/t.* "$dir/say"
	expect timeout 300 "$dir/prog" "$@" >"$dir/out" 2>&1
	expect same
	verdict "$name"
}

# shellcheck disable=SC2086
{
	compile ${CC:-cc} -std=c99 "$here/api/programs/kinds.c" &&
		try "every format, display kind, scope and target comes back" 0
	try "the same from four threads" 3
	compile ${CC:-cc} -std=c99 "$here/api/programs/many.c" && try "255 counters and more in one call"
	compile ${CC:-cc} -std=c99 "$here/api/programs/callback.c" &&
		try "callbacks sample at state changes, per thread"
	compile ${CC:-cc} -std=c99 "$here/api/programs/wild.c" && try "what programs in the wild do hurts nobody"
	compile ${CC:-cc} -std=c99 "$here/api/programs/threads.c" &&
		try "eight threads at once, and others that come and go"
	expect compile ${CC:-cc} -std=c99 "$here/api/programs/api_all.c"
	expect rm -f "$dir"/t.*
	expect timeout 300 "$dir/prog" libVTcs, >"$dir/out" 2>&1
	verdict "every function of VT.h answers"
}
if [ "${CXX:-no}" != no ]; then
	# shellcheck disable=SC2086
	compile $CXX -std=c++11 "$here/api/programs/kinds.c" && try "the same as C++11" 2
	# shellcheck disable=SC2086
	expect compile $CXX -std=c++11 "$here/api/programs/api_cxx.cc"
	expect rm -f "$dir"/t.*
	expect timeout 300 "$dir/prog" >"$dir/out" 2>&1
	verdict "the classes of C++"
else
	skip "C++" "no C++ compiler here (configure CXX=...)"
fi
if [ "${FC:-no}" != no ]; then
	compile "$FC" -std=f2008 "$here/api/programs/fortran.f90" && try "counters from Fortran"
else
	skip "Fortran" "no Fortran compiler here (configure FC=...)"
fi
# vtrun in front changes nothing of it
# shellcheck disable=SC2086
if compile ${CC:-cc} -std=c99 "$here/api/programs/kinds.c"; then
	rm -f "$dir"/t.* "$dir/say"
	expect timeout 300 "$vtrun" -- "$dir/prog" 2 >"$dir/out" 2>&1
	expect same
	verdict "a program linked with -lVTcs, started by vtrun"
fi
# shellcheck disable=SC2086
if ${CC:-cc} $san -D_GNU_SOURCE -I"$src/include" -I"$src" "$here/api/programs/kinds.c" -L"$lib" -lVTnull \
	-Wl,-rpath,"$lib" -lm -pthread -o "$dir/prog" >"$dir/out" 2>&1; then
	rm -f "$dir"/t.* "$dir/say"
	expect timeout 300 "$vtrun" -- "$dir/prog" 2 >"$dir/out" 2>&1
	expect same
	verdict "a program linked with -lVTnull is recorded when vtrun starts it"
	rm -f "$dir"/t.*
	expect timeout 300 "$dir/prog" 2 >"$dir/out" 2>&1
	expect_not ls "$dir"/t.* >/dev/null 2>&1
	verdict "and is not without"
fi
# counters of the system at state changes: each of the 200 of each of two threads, and of all of them those of the
# process
printf 'COUNTER thread_run on\nCOUNTER proc_maxrss on\nSAMPLE-PERIOD 60s\n' >"$dir/conf"
sampled() # sampled NAME: how many samples per thread and counter, in have
{
	rm -f "$dir"/t.*
	timeout 300 "$dir/prog" >"$dir/out" 2>&1
	"$build/tests/vt/lib/samples" "$dir/t.stf" 2>>"$dir/out" |
		awk '$2 ~ /:(thread_run|proc_maxrss)$/ { n[$1 " " $2]++ }
		END { for (k in n) print k, n[k] }' | LC_ALL=C sort >"$dir/have"
	cat "$dir/have" >>"$dir/out"
}
# shellcheck disable=SC2086
compile ${CC:-cc} -std=c99 "$here/api/programs/events.c"
VT_CONFIG=$dir/conf
export VT_CONFIG
expect sampled
expect awk '$1 == "0:0" && /thread_run/ { a = $3 >= 200 } $1 == "0:1" && /thread_run/ { b = $3 >= 200 }
	$1 == "0:0" && /proc_maxrss/ { c = $3 >= 400 } END { exit !(a && b && c) }' "$dir/have"
verdict "counters that COUNTER chooses are sampled at every state change of every thread"
VT_COUNTER_MIN_INTERVAL=100s expect sampled
expect awk '{ n += $3 } END { exit !(n >= 3 && n < 30) }' "$dir/have"
verdict "COUNTER-MIN-INTERVAL: less often"
# in the background as well, and a counter that begins when it is opened: one total, which goes on where the thread
# takes it over from the background, with samples while it computes between two calls
printf 'COUNTER perf_task_clock on\nSAMPLE-PERIOD 2ms\nSAMPLE-BUDGET 100%%\n' >"$dir/conf"
rm -f "$dir"/t.*
timeout 300 "$vtrun" --config "$dir/conf" -- "$dir/prog" slow >"$dir/out" 2>&1
"$build/tests/vt/lib/samples" "$dir/t.stf" 2>>"$dir/out" |
	awk '$2 ~ /:perf_task_clock$/ { if ($NF "" < last[$1] "") { wrong[$1]++ } last[$1] = $NF; n[$1]++ }
	END { for (k in n) print k, n[k], wrong[k] + 0, last[k] }' >"$dir/have"
cat "$dir/have" >>"$dir/out"
if grep -q 'perf_task_clock: ' "$dir/out"; then
	skip "a total that begins when it is opened goes on rising" "no perf events here"
else
	# each has 200 at its calls, and of the 250 periods of half a second of computing a tenth at least; in the end
	# there is
	# that half second (0x1dcd6500 ns), of which the thread's first event may have missed what came before it. A
	# sanitizer has a thread of its own, which may have had the number until another one called.
	awk -v most="${san:+1}" '$1 ~ /^0:[01]$/ { good += $2 >= 225 && $3 <= most + 0 &&
		$4 "" >= "000000001dcd6500" } END { exit good != 2 }' "$dir/have"
	ok "a total that begins when it is opened goes on rising, and is sampled between calls too" $?
fi
unset VT_CONFIG

# the example of VT(3), as it is there
sed -n '/^\.Sh EXAMPLES/,/^\.Ed/p' "$src/doc/man/VT.3" | sed '1,/^\.Bd/d; /^\.Ed/,$d; s/\\e/\\/g' >"$dir/page.c"
# shellcheck disable=SC2086
expect ${CC:-cc} -Wall -Werror $san -I"$include" -o "$dir/page" "$dir/page.c" -L"$lib" -lVTcs -Wl,-rpath,"$lib" \
	>"$dir/out" 2>&1
VT_LOGFILE_NAME=$dir/page.stf expect timeout 100 "$dir/page" >>"$dir/out" 2>&1
expect "$build/stftool" "$dir/page.stf" --print-counters >"$dir/counters" 2>>"$dir/out"
expect_line -E '^ *[0-9]+ residual .* 20 ' "$dir/counters"
verdict "the example of VT(3) compiles, runs, and records its counter 20 times"
done_testing
