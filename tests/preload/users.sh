#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Rules of doc/security.md between users: raw files of another user in a shared folder, the sampler's socket taken by
# another user, a setuid program. Needs root, which can become another user. TAP.
. "${top_srcdir:-.}/tests/preload/lib.sh"
VT_VERBOSE=1
export VT_VERBOSE
[ "$(id -u)" -eq 0 ] || skip_all "only root can become another user"
[ -z "$sanitizer" ] || skip_all "the sanitizer is preloaded"
other=65534
as_other() { setpriv --reuid $other --regid $other --clear-groups "$@"; }
as_other test -x "$build/.libs/libVTcs.so" 2>/dev/null && as_other test -x "$build/vtrun" ||
	skip_all "another user cannot read $build, or there is no setpriv"
chmod 755 "$dir"
fresh
chmod 1777 .

# ---- raw files ----
rank_of() # rank_of RANK COMMAND...: as a rank of the job "same", alone on this node
{
	PMIX_NAMESPACE=${job:-same} OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=1 OMPI_MCA_ess_base_jobid=${job:-same}
	export PMIX_NAMESPACE OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_MCA_ess_base_jobid
	shift
	"$@"
}
(rank_of 0 as_other "$build/vtrun" --keep-raw-events on -- sleep 0.1) >"$dir/out" 2>&1
theirs=$(ls .VT-flush-sleep_0-*.raw 2>/dev/null)
cp "$theirs" copy.dat 2>/dev/null
(rank_of 0 "$build/vtrun" --logfile-name mine.stf -- sleep 0.1) >>"$dir/out" 2>&1
"$build/stftool" mine.stf --print-threads >"$dir/err" 2>&1
expect [ -n "$theirs" ]
expect_same copy.dat "$theirs"
expect [ "$(stat -c %u "$theirs")" = $other ]
expect valid mine.stf
expect [ "$(ls .VT-flush-sleep_*)" = "$theirs" ]
expect [ "$(grep -c 'Process\|^ *[0-9]' "$dir/err")" -ge 1 ]
expect_no_line 'Process 1' "$dir/err"
expect_line '1 process' "$dir/out"
verdict "a raw file of another user with the same job is neither merged nor removed"

# the same name as a link to a file of ours: nothing is written through it
fresh
chmod 1777 .
echo precious >"$dir/precious"
as_other ln -s "$dir/precious" sleep.stf
as_other ln -s "$dir/precious" sleep.prot
sampled sleep 0.1
expect_status 0
expect_text precious "$dir/precious"
expect_line 'Writing tracefile' "$dir/err"
verdict "a link of another user where the trace would be is not followed"

# ---- the socket ----
python=
for p in python3 /usr/bin/python3; do
	[ -z "$python" ] && as_other $p -c pass 2>/dev/null && python=$p
done
if [ -n "$python" ]; then
	fresh
	cat >take.py <<'END'
import socket, sys
taken = []
for n in range(int(sys.argv[1])):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.bind("\0tickmark-0-%d-%s" % (n, sys.argv[2]))
    s.listen(9)
    taken.append(s)
print("taken", flush=True)
sys.stdin.read()
END
	for n in 1 8; do
		rm -f ./*.stf* ./*.prot fifo
		mkfifo fifo
		as_other $python take.py $n same$n <fifo >took &
		taker=$!
		exec 7>fifo
		wait_for 60 grep -q taken took
		(job=same$n; rank_of 0 "$build/vtrun" -- sleep 0.2) >"$dir/out" 2>"$dir/err"
		rc=$?
		exec 7>&-
		wait $taker
		if [ $n -eq 1 ]; then
			expect [ $rc -eq 0 ]
			expect_line taken took
			expect valid sleep.stf
			expect_line '^INFO SAMPLED by process' sleep.prot
			verdict "another user has taken the sampler's name: the next one is used"
		else
			expect [ $rc -eq 0 ]
			expect_line taken took
			expect valid sleep.stf
			expect_line '^INFO SAMPLED by a thread inside the program: .*another user' sleep.prot
			verdict "another user has taken all names: a thread inside samples, and the protocol says why"
		fi
	done
else
	skip "the socket is taken by another user" "no python3 that another user can run"
fi

# ---- a setuid program ----
fresh
chmod 1777 .
mkdir rootonly elsewhere
chmod 700 rootonly
if made_library users/evil && mv "$dir/evil.so" . &&
	made users/s -I"$src/include" -L"$build/.libs" -lVTcs -Wl,-rpath,"$build/.libs" &&
	mv "$dir/s" setuid; then
	chmod 4755 setuid
	if [ "$(as_other ./setuid 2>/dev/null | tail -n 1)" != 0 ]; then
		skip "a setuid program" "this file system ignores the bit, or the library is not found"
	else
		rm -f ./*.stf* ./*.prot
		printf 'LOGFILE-NAME %s/rootonly/conf.stf\nVERBOSE 0\n' "$PWD" >c.conf
		EVIL=$PWD/rootonly/evil VT_PLUGIN=$PWD/evil.so VT_LOGFILE_NAME=$PWD/rootonly/env.stf \
			VT_FLUSH_PREFIX=$PWD/rootonly VT_CONFIG=$PWD/c.conf TMPDIR=$PWD/rootonly \
			as_other ./setuid --itc-args --logfile-name "$PWD/rootonly/args.stf" --plugin "$PWD/evil.so" \
			--itc-args-end >"$dir/out" 2>"$dir/err"
		rc=$?
		ls -A rootonly >"$dir/diff"
		# programs and libraries of ours are taken from where they are installed only: without that what is
		# recorded stays
		expect [ $rc -eq 0 ]
		expect_empty "$dir/diff"
		{ [ -e setuid.stf ] || { grep -q 'there is no .*/libVTinside.so' "$dir/err" && [ -e setuid.prot ] &&
			ls .VT-flush-setuid_* >/dev/null 2>&1; }; } || not_met '{ [ -e setuid.stf ] || { grep -q ...'
		verdict "a setuid program takes no plugin and no file name from its caller"
		rm -f ./*.stf* ./*.prot .VT-flush-*
		as_other "${python:-false}" -c 'import os; os.execv("./setuid", ["mine"])' >"$dir/out" 2>"$dir/err"
		ls >"$dir/diff"
		[ -z "$python" ] || { grep -q "^setuid\.prot\$" "$dir/diff" && ! grep -q mine "$dir/diff"; }
		ok "a setuid program takes its own name, not that of its caller" $?
	fi
else
	skip "a setuid program" "no compiler: $(head -n 1 "$dir/diff")"
fi
# ---- a process that lets nobody look into it ----
if made users/private; then
	rm -rf "$dir/hidden" && mkdir "$dir/hidden" && chmod 777 "$dir/hidden" && chmod 755 "$dir" "$dir/private"
	as_other sh -c "cd '$dir/hidden' && timeout 60 '$build/vtrun' -- '$dir/private'" >"$dir/out" 2>&1
	expect [ $? -eq 4 ]
	expect_lines 1 'WARNING: /proc/[0-9]*/io: Permission denied: the process has made itself not dumpable' \
		"$dir/out"
	"$build/stftool" "$dir/hidden/private.stf" --dump 2>/dev/null | expect_line 'COMMENT.*Permission denied' -
	verdict "a process that is not dumpable: what is refused is reported with its errno, once, also in the trace"
fi
# in a user namespace of its own, where its user has another number
if as_other unshare -Ur true 2>"$dir/diff"; then
	rm -rf "$dir/hidden" && mkdir "$dir/hidden" && chmod 777 "$dir/hidden"
	as_other sh -c "cd '$dir/hidden' && timeout 60 '$build/vtrun' -- unshare -Ur sh -c 'sleep 0.3; exit 4'" \
		>"$dir/out" 2>&1
	rc=$?
	cat "$dir/hidden/unshare.prot" >>"$dir/out"
	expect [ $rc -eq 4 ]
	expect "$build/stftool" "$dir/hidden/unshare.stf" --verify >"$dir/verify" 2>&1
	expect_lines 1 '^INFO SAMPLED by process' "$dir/out"
	expect_line '^INFO BEFORE-EXEC "unshare"$' "$dir/out"
	expect_line '^INFO PROGRAM "sh"$' "$dir/out"
	expect_line -E '^INFO ENDED by (_?exit), exit status [0-9]+$' "$dir/out"
	verdict "a program that enters another user namespace by exec has the same sampler"
else
	skip "a program that enters another user namespace" "no user namespaces for ordinary users here"
fi

# a hidden one: /proc shows only what may be looked into
if [ -x "$dir/private" ] && unshare --mount --pid --fork mount -t proc -o hidepid=2 proc /proc 2>"$dir/diff"; then
	rm -rf "$dir/hidden" && mkdir "$dir/hidden" && chmod 777 "$dir/hidden"
	# the sampler lives as long as the namespace
	unshare \
		--mount --pid --fork sh \
		-c 'mount -t proc -o hidepid=2 proc /proc && cd "$1" && shift && timeout 60 "$@"; status=$?; i=0
		while ls VT-* >/dev/null 2>&1 && [ $i -lt 300 ]; do i=$((i + 1)); sleep 0.1; done; exit $status' \
		sh "$dir/hidden" \
		setpriv --reuid $other --regid $other --clear-groups "$build/vtrun" --counter proc_read \
		-- "$dir/private" >"$dir/out" 2>&1
	expect [ $? -eq 4 ]
	expect_lines 1 'WARNING: /proc/[0-9]*/io: No such file or directory: .* hidepid' "$dir/out"
	"$build/stftool" "$dir/hidden/private.stf" --dump 2>/dev/null | expect_line 'COMMENT.*hidepid' -
	verdict "one that /proc hides (hidepid): reported, too"
else
	skip "a process that /proc hides" "no mount of /proc with hidepid here"
fi

# threads that begin after it: each source says what is refused
if ! "$build/vtcounters" perf_page_faults 2>&1 | grep -q '^perf_page_faults .*thread'; then
	skip "a thread of a process that is not dumpable" "no software events of the kernel here"
elif made users/later -pthread; then
	rm -rf "$dir/hidden" && mkdir "$dir/hidden" && chmod 777 "$dir/hidden" && chmod 755 "$dir/later"
	as_other \
		sh \
		-c \
		"cd '$dir/hidden' && timeout 60 '$build/vtrun' --counter perf_page_faults --counter thread_read \
-- '$dir/later'" >"$dir/out" 2>&1
	expect [ $? -eq 4 ]
	expect_line \
		'counter perf_page_faults: perf_event_open(2) of process [0-9]*: Permission denied: .*SAMPLER thread' \
		"$dir/out"
	expect_line 'counter thread_read: /proc/[0-9]*/task/[0-9]*/io: Permission denied: .*SAMPLER thread' "$dir/out"
	verdict "a thread of a process that is not dumpable: each counter has its errno, and what to do"
fi
done_testing
