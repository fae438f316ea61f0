#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The one trace of an MPI job: what it says of each process, the same records when it is made of the raw files, in
# one file or several. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" clocks/programs/mpi_truth.c truth -lVT
VT_TIMER=clock_monotonic
export VT_TIMER
# Second names of the raw files of a run, which go on when they are removed.
cat >keep <<'END'
tries=0
until [ "$(find . -maxdepth 1 -name '.VT-flush-*.raw' | wc -l)" -eq "$1" ] || [ $tries -ge 1000 ]; do
	tries=$((tries + 1))
	sleep 0.02
done
ln .VT-flush-*.raw kept/
END
kept() # kept N PROGRAM ARGUMENTS...
{
	rm -rf kept one
	mkdir kept one
	clean
	sh keep "$1" &
	run "$@"
	rc=$?
	wait $!
	return $rc
}

same_records() # same_records NAME: the trace in one/ is that here, record for record; each has an identity of its own
{
	[ "$(cd one && find . -type f | sort)" = "$(find . -maxdepth 1 -name "$1*" -type f | sort)" ] &&
		"$build/xstftool" "$1" >here 2>>out && "$build/xstftool" "one/$1" >there 2>>out &&
		[ -s here ] && diff here there >>out
}

# Tens of thousands of samples, with many anchors, whose histories --verify compares with the data.
VT_COMPRESS_TRACE=off expect kept 3 ./truth 2 much
expect one_trace truth 3
expect "$build/stftool" kept/.VT-flush-*.raw --merge one/truth.stf --clock truth.clk --compress-trace off >>out 2>&1
expect same_records truth.stf
expect [ "$(wc -c <truth.stf.c.0)" -gt $((64 * 65536)) ]
expect [ "$(wc -c <truth.stf.c.0.anc)" -gt 6400 ]
verdict "offline it is the same, record for record"
if strace -f -o opens true >>out 2>&1; then
	expect strace -f -qq -e trace=openat -o opens "$build/stftool" kept/.VT-flush-*.raw --merge opened.stf \
		--clock truth.clk >>out 2>&1
	# what kind of file it is, and its content
	expect_lines 6 '\.raw", O_RDONLY' opens
	verdict "each raw file that is named is opened twice"
else
	skip "each raw file that is named is opened twice" "no strace that works"
fi
rm -f opened.stf*
"$build/stftool" truth.stf --print-threads >threads 2>>out
"$build/stftool" truth.stf --print-clock >clock 2>>out
date +%s >now
awk '{ print $1 }' /proc/uptime >up
cat threads clock >>out
# the protocol has the processes from the ranks themselves; a main thread's id is the process's
awk -v now="$(cat now)" -v up="$(cat up)" '
FILENAME == "truth.prot" && $1 == "INFO" && $2 == "PROCESS" { gsub(/"/, ""); host[$3] = $4; ip[$3] = $5; pid[$3] = $6;
n++ }
FILENAME == "threads" && $1 ~ /^[0-9]+$/ {
	split($3, id, ":"); r = id[2]
	bad = bad || $4 != host[r] || $5 != ip[r] || $6 != pid[r] || (id[1] == 0 && ($7 != pid[r] ||
	$8 != "truth")) || seen[$7]++
	mains += id[1] == 0
}
# seconds since 1970 = offset + ns of the monotonic clock x skew
FILENAME == "clock" && $2 ~ /^[0-9]+:[0-9]+$/ { bad = bad || $4 < 0.999e-9 || $4 > 1.001e-9 || $3 - (now - up) > 2 ||
(now - up) - $3 > 2; lines++ }
FILENAME == "clock" && $NF == "little" { bad = bad || $1 > 1e-6 || $7 < 0.2 }
END { exit bad || n != 3 || mains != 3 || lines < 3 }' truth.prot threads clock
ok "each thread has host, address, pid, tid, offset and skew, and the clock its resolution and duration" $?
expect kept 3 ./truth 1
expect one_trace truth 3 >>out
VT_KEEP_RAW_EVENTS=on expect run 3 ./truth 1
expect [ ! -e truth.stf ]
expect [ "$(find . -maxdepth 1 -name '.VT-flush-*.raw' | wc -l)" -eq 3 ]
expect "$build/stftool" .VT-flush-*.raw --merge truth.stf --delete-raw-data >>out 2>&1
expect one_trace truth 3
verdict "KEEP-RAW-EVENTS, then a merge"
export VT_LOGFILE_FORMAT=SINGLESTF VT_STF_PROCS_PER_FILE=1
kept 3 ./truth 2 much && one_trace truth.single 3 >>out
mv truth.single.clk truth.clk 2>/dev/null
expect "$build/stftool" kept/.VT-flush-*.raw --merge one/truth.single.stf --clock truth.clk \
	--stf-procs-per-file 1 >>out 2>&1
expect same_records truth.single.stf
verdict "and in one file"
unset VT_LOGFILE_FORMAT VT_STF_PROCS_PER_FILE

what="on a shared folder only the trace is opened, and each rank opens its raw file, on the node, twice"
if [ -z "$san" ] && strace -f -o opens true >>out 2>&1; then
	mpi_compile "$MPICC" lib/nfs.c libnfs.so -shared -fPIC
	clean
	mkdir shared node
	expect env LD_PRELOAD="$dir/libnfs.so" SHARED="$dir/shared" TMPDIR="$dir/node" timeout 300 strace -f -qq \
		-e trace=openat -o opens "$MPIRUN" -np 4 "$vtrun" --logfile-prefix shared -- ./truth 2 >>out 2>&1
	expect [ "$(grep -c "\"$dir/node/.VT-flush-.*raw\", O_RDWR" opens)" -le 8 ]
	# the files of the trace once each, the protocol three times, and what says who waits
	expect [ "$(grep -c "\"$dir/shared" opens)" -le 24 ]
	expect_lines 0 "$dir/shared/.*raw" opens
	expect "$build/stftool" shared/truth.stf --verify >>out 2>&1
	expect [ -z "$(ls -A node)" ]
	grep "\"$dir/shared" opens >>out
	verdict "$what"
else
	skip "$what" "no strace that works, or a sanitizer's"
fi
rm -rf shared node
done_testing
