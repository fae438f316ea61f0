#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs with customs of their own: sanitizers, seccomp, an own SIGPROF, another locale, no /proc. They behave as
# without vtrun, and leave a trace. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
VT_VERBOSE=1 VT_FORCE=on
export VT_VERBOSE VT_FORCE

made() # made NAME [FLAG...]: compiles $dir/NAME.c
{
	name=$1
	shift
	${CC:-cc} -O1 -o "$dir/$name" "$dir/$name.c" "$@" >"$dir/diff" 2>&1
}

# ---- sanitizers ----
printf \
	'#include <stdio.h>\n#include <stdlib.h>\nint main(void) { char *p = malloc(8); p[0] = 1; puts("sane"); '\
'free(p); return 7; }\n' >"$dir/asan.c"
cp "$dir/asan.c" "$dir/tsan.c"
if [ -n "$sanitizer" ]; then
	skip "a program with AddressSanitizer" "the sanitizer is preloaded"
	skip "a program with ThreadSanitizer" "the sanitizer is preloaded"
else
	if made asan -fsanitize=address && "$dir/asan" >/dev/null 2>&1 || [ $? -eq 7 ]; then
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
	if made tsan -fsanitize=thread && "$dir/tsan" >/dev/null 2>&1 || [ $? -eq 7 ]; then
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
cat >"$dir/strict.c" <<'END'
/* strict N: read, write and exit are all that is left; N: prctl(), 2: the system call itself */
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	volatile double x = 0;
	long i, n = argc > 1 && argv[1][0] == '2' ? 1500000000 : 30000000;

	if (argc > 1 && argv[1][0] == '2') {
		syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
	} else {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	}
	for (i = 0; i < n; i++) {
		x += 1;
	}
	syscall(SYS_write, 1, "strict\n", 7);
	if (argc > 2) {
		exit(3);
	}
	syscall(SYS_exit, 3);
	return 1;
}
END
cat >"$dir/filter.c" <<'END'
/* a filter that kills for all but write, exit_group and returning from signals; then it ends by exit() */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(f) / sizeof(f[0]), f };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || (argc > 1 ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))) {
		return 77;
	}
	if (write(1, "filtered\n", 9) != 9) {
		return 1;
	}
	exit(5);
}
END
if made strict && "$dir/strict" 1 >"$dir/plain" 2>&1 || [ $? -eq 3 ]; then
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
for how in '' call; do
	if [ -z "$sanitizer" ] && made filter && { "$dir/filter" $how >"$dir/plain" 2>&1 || [ $? -eq 5 ]; }; then
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

cat >"$dir/calls.c" <<'END'
/* VT_ calls after seccomp: stored as long as there is memory, then counted as lost. With a word: in strict mode, where no clock can be
 * read, they do nothing. */
#include <VT.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { sizeof(filter) / sizeof(filter[0]), filter };
	uint64_t bounds[2] = { 0, UINT64_MAX }, i;
	int c, f;

	VT_initialize(&argc, &argv);
	VT_funcdef("work", VT_NOCLASS, &f);
	VT_countdef("n", VT_NOCLASS, VT_COUNT_INTEGER64 | VT_COUNT_ABSVAL | VT_COUNT_VALID_SAMPLE, VT_ME, bounds, "x", &c);
	VT_countval(1, &c, &bounds[1]);
	VT_begin(f);
	VT_end(f);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (argc > 1) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	} else {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
	}
	for (i = 0; i < 3000000; i++) {
		VT_begin(f);
		VT_countval(1, &c, &i);
		VT_end(f);
	}
	syscall(SYS_write, 1, "stored\n", 7);
	syscall(SYS_exit, 3);
	return 0;
}
END
if made calls -I"$src/include" -L"$build/.libs" -lVTcs -Wl,-rpath,"$build/.libs" && [ -z "$sanitizer" ]; then
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
cat >"$dir/prof.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
static volatile sig_atomic_t n;
static void handler(int sig) { (void)sig; n++; }
int main(void)
{
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	volatile double x = 0;
	long i;

	signal(SIGPROF, handler);
	setitimer(ITIMER_PROF, &every, NULL);
	for (i = 0; i < 2000000000 && n < 20; i++) {
		x += 1;
	}
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_PROF, &every, NULL);
	puts(n >= 20 ? "profiled" : "no signal");
	return 4;
}
END
if made prof; then
	fresh
	sampled "$dir/prof"
	expect_status 4
	expect_text profiled "$dir/out"
	expect valid prof.stf
	verdict "a program with its own SIGPROF"
fi

# ---- the locale never touches a number ----
cat >"$dir/locale.c" <<'END'
#include <VT.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv)
{
	double bounds[2] = { 0, 1e9 }, v = 1234.5;
	struct timespec t = { 0, 300000000 };
	int c;

	if (!setlocale(LC_ALL, "")) {
		return 77;
	}
	VT_initialize(&argc, &argv);
	VT_countdef("half", VT_NOCLASS, VT_COUNT_FLOAT | VT_COUNT_ABSVAL | VT_COUNT_VALID_SAMPLE, VT_ME, bounds, "x", &c);
	VT_countval(1, &c, &v);
	nanosleep(&t, NULL);
	printf("%.1f\n", v);
	return 0;
}
END
if command -v localedef >/dev/null && made locale -I"$src/include" -L"$build/.libs" \
	-lVTcs -Wl,-rpath,"$build/.libs"; then
	mkdir "$dir/locales"
	LOCPATH=$dir/locales
	for l in de_DE tr_TR; do
		if ! localedef -c -i $l -f UTF-8 "$dir/locales/$l.UTF-8" >"$dir/diff" 2>&1 &&
			[ ! -d "$dir/locales/$l.UTF-8" ]; then
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
cat >"$dir/date.c" <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#define YEARS (3 * 365 * 86400l)
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, t);

	t->tv_sec -= clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID ? 0 : YEARS;
	return rc;
}
int gettimeofday(struct timeval *t, void *zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}
time_t time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (t) {
		*t = now.tv_sec;
	}
	return now.tv_sec;
}
END
if [ -z "$sanitizer" ] && ${CC:-cc} -shared -fPIC -o "$dir/date.so" "$dir/date.c" 2>"$dir/diff"; then
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
options="--counter nosuch_* --counter cpu_usr"
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
