#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs with customs of their own: sanitizers, seccomp, an own SIGPROF, another locale, no /proc. They behave as
# without vtrun, and leave a trace. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
VT_VERBOSE=1 VT_FORCE=on
export VT_VERBOSE VT_FORCE

# ---- sanitizers ----
if [ -n "$sanitizer" ]; then
	skip "a program with AddressSanitizer" "the sanitizer is preloaded"
	skip "a program with ThreadSanitizer" "the sanitizer is preloaded"
else
	if made any/sane -O1 -fsanitize=address && mv "$dir/sane" "$dir/asan" &&
		"$dir/asan" >/dev/null 2>&1 || [ $? -eq 7 ]; then
		fresh
		sampled "$dir/asan"
		expect_status 7
		expect_text sane "$dir/out"
		expect_line 'recorded from outside only: it is built with AddressSanitizer' "$dir/err"
		expect trace_complete asan.stf
		expect valid asan.stf
		verdict "a program with AddressSanitizer is recorded without preloading, with a message"
	else
		skip "a program with AddressSanitizer" "the compiler has none: $(head -n 1 "$dir/diff")"
	fi
	if made any/sane -O1 -fsanitize=thread && mv "$dir/sane" "$dir/tsan" &&
		"$dir/tsan" >/dev/null 2>&1 || [ $? -eq 7 ]; then
		fresh
		sampled "$dir/tsan"
		expect_status 7
		expect_text sane "$dir/out"
		expect trace_complete tsan.stf
		expect valid tsan.stf
		verdict "a program with ThreadSanitizer"
	else
		skip "a program with ThreadSanitizer" "the compiler has none, or it does not run here"
	fi
fi

# ---- seccomp ----
if made any/strict -O1 && "$dir/strict" 1 >"$dir/plain" 2>&1 || [ $? -eq 3 ]; then
	fresh
	sampled "$dir/strict" 1
	expect_status 3
	expect_same "$dir/plain" "$dir/out"
	expect trace_complete strict.stf
	expect valid strict.stf
	verdict "seccomp, strict, by prctl()"
	fresh
	sampled "$dir/strict" 2
	expect_status 3
	expect_same "$dir/plain" "$dir/out"
	expect trace_complete strict.stf
	expect valid strict.stf
	verdict "seccomp, strict, by the system call: the sampler notices it while the program runs"
else
	skip "seccomp, strict" "not available here"
	skip "seccomp, strict, by the system call" "not available here"
fi
if made any/strict -O1 && [ -z "$sanitizer" ]; then
	for options in '' '--sampler thread'; do
		fresh
		sampled "$dir/strict" 3
		expect_status 3 77
		[ "$status" = 77 ] || expect_text 'no clock' "$dir/out"
		expect trace_complete strict.stf
		expect "$build/stftool" strict.stf --verify
		expect_no_line "was killed" "$dir/err"
	done
	options=
	verdict "a program that forbids the time stamp counter"
else
	skip "a program that forbids the time stamp counter" "no compiler, or a sanitizer"
fi
for how in '' call; do
	if [ -z "$sanitizer" ] && made any/filter -O1 &&
		{ "$dir/filter" $how >"$dir/plain" 2>&1 || [ $? -eq 5 ]; }; then
		fresh
		# shellcheck disable=SC2086
		sampled "$dir/filter" $how
		expect_status 5
		expect_same "$dir/plain" "$dir/out"
		expect trace_complete filter.stf
		expect valid filter.stf
		verdict \
			"seccomp, a filter that kills${how:+, by the system call as libseccomp does}: exit() is the \
program's own"
	else
		skip "seccomp, a filter that kills" "not available here, or a sanitizer, which makes other system calls"
	fi
done

if made any/calls -O1 -I"$src/include" -L"$build/.libs" -lVTcs -Wl,-rpath,"$build/.libs" && [ -z "$sanitizer" ]; then
	fresh
	sampled "$dir/calls"
	expect_status 3
	expect_text stored "$dir/out"
	expect trace_complete calls.stf
	expect valid calls.stf
	expect [ "$("$build/stftool" calls.stf --dump 2>/dev/null | grep -c 'SAMP')" -ge 1000 ]
	verdict "seccomp: VT_ calls only store to memory"
	fresh
	sampled "$dir/calls" strict
	expect_status 3
	expect_text stored "$dir/out"
	expect trace_complete calls.stf
	expect valid calls.stf
	verdict "seccomp, strict: VT_ calls do nothing"
else
	skip "seccomp: VT_ calls only store to memory" "no compiler, or a sanitizer"
fi

# ---- a profiler's signal ----
if made any/prof -O1; then
	fresh
	sampled "$dir/prof"
	expect_status 4
	expect_text profiled "$dir/out"
	expect valid prof.stf
	verdict "a program with its own SIGPROF"
fi

# ---- the locale never touches a number ----
if command -v localedef >/dev/null && made any/locale -O1 -I"$src/include" -L"$build/.libs" \
	-lVTcs -Wl,-rpath,"$build/.libs"; then
	mkdir "$dir/locales"
	LOCPATH=$dir/locales
	for l in de_DE tr_TR; do
		if ! localedef -c -i $l -f UTF-8 "$dir/locales/$l.UTF-8" >"$dir/diff" 2>&1 &&
			[ ! -e "$dir/locales/$l.UTF-8/LC_NUMERIC" ]; then
			skip "the locale $l" "localedef has no $l (Debian: locales): $(head -n 1 "$dir/diff")"
			continue
		fi
		for sampler in process thread; do
			fresh
			LOCPATH=$dir/locales
			export LOCPATH
			LC_ALL=$l.UTF-8
			export LC_ALL
			options="--counter disk_io --counter load_1 --counter cpu_usr --sample-period 20ms --sampler \
$sampler"
			sampled "$dir/locale"
			first=$status
			grep -q 1234,5 "$dir/out" || echo "the program does not use the locale: $(cat "$dir/out")" \
				>"$dir/diff"
			# the protocol is read back as a configuration file
			mv locale.prot first.prot
			options="--config first.prot"
			sampled "$dir/locale"
			second=$status
			"$build/stftool" locale.stf --print-counters >"$dir/here" 2>"$dir/verify"
			unset LC_ALL LOCPATH
			options=
			"$build/stftool" locale.stf --print-counters >"$dir/there" 2>>"$dir/verify"
			"$build/stftool" locale.stf --dump >"$dir/dump" 2>>"$dir/verify"
			expect [ $first -eq 0 ]
			expect [ $second -eq 0 ]
			expect_empty "$dir/diff"
			expect valid locale.stf
			expect_same "$dir/here" "$dir/there"
			expect_line 'KB/s' "$dir/there"
			expect_line '1234\.5' "$dir/dump"
			expect_line '^SAMPLE-PERIOD 0\.02s' first.prot
			expect_not grep -Eq '(^| )[0-9]+,[0-9]' first.prot locale.prot "$dir/there" "$dir/dump"
			expect_no_line 'left out' "$dir/err"
			verdict \
				"$l, sampled by a $sampler: numbers of the trace and the protocol are those of the \
locale C"
		done
	done
else
	skip "the locale de_DE" "no localedef, or no compiler"
fi

# ---- another date ----
# as libfaketime makes it: what libc says of every clock is three years ago, where a program waits until is not
if [ -z "$sanitizer" ] && made_library any/date; then
	fresh
	year=$(date +%Y)
	LD_PRELOAD=$dir/date.so timeout -k 10 100 "$build/vtrun" --sample-period 50ms --counter proc_usr \
		-- sh -c 'date +%Y; sleep 1; exit 3' >"$dir/out" 2>"$dir/err" </dev/null
	expect [ $? -eq 3 ]
	expect [ "$(cat "$dir/out")" -lt $((year - 1)) ]
	expect trace_complete sh.stf
	expect valid sh.stf
	expect "$build/stftool" sh.stf --print-counters --csv >"$dir/verify" 2>&1
	expect awk -F, '$2 ~ /sampler_cpu/ && $9 >= 3 { n++ } END { exit !n }' "$dir/verify"
	verdict "a library that shows another date: the program has its date, and there are samples"
else
	skip "a library that shows another date" "a sanitizer is preloaded, or there is no compiler"
fi

# ---- a container that hides /proc and /sys ----
if [ -z "$sanitizer" ] && bwrap --ro-bind / / --dev /dev --tmpfs /proc --tmpfs /sys --bind "$dir" "$dir" true \
	2>"$dir/diff"; then
	fresh
	timeout 60 bwrap --ro-bind / / --dev /dev --tmpfs /proc --tmpfs /sys --bind "$dir" "$dir" "$build/vtrun" \
		-- sh -c 'echo inside; exit 6' >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	expect_status 6
	expect_text inside "$dir/out"
	expect trace_complete sh.stf
	expect "$build/stftool" sh.stf --verify >"$dir/verify" 2>&1
	verdict "a container without /proc and /sys: the program runs, and a trace is written"
else
	skip "a container without /proc and /sys" "no bubblewrap that works (Debian: bubblewrap): \
$(head -n 1 "$dir/diff")"
fi

# ---- a pattern that matches nothing ----
fresh
printf 'COUNTER nosuch_* on\nCOUNTER cpu_usr on\n' >conf
options="--config conf"
sampled sleep 0.2
options=
expect_status 0
expect_line 'COUNTER nosuch_\*: no counter has such a name' "$dir/err"
expect valid sleep.stf
verdict "a counter pattern that matches nothing is named"
if [ -n "$sanitizer" ]; then
	skip "a software-defined event that no library registers is named" "the sanitizer is preloaded"
else
	fresh
	options="--counter sde:::nolib::X"
	sampled sleep 0.2
	options=
	expect_status 0
	expect_line \
		-E \
		'sde:::nolib::X: (the program has registered no event of this name|no counter has such a name|this '\
'build has no PAPI)' "$dir/err"
	expect valid sleep.stf
	verdict "a software-defined event that no library registers is named"
fi
done_testing
