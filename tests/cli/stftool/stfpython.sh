#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The examples of doc/stf, as the manual has them, and the Python module: against values that are known. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"

for p in write read; do
	awk -v want="$p" '/^\.Ss A writer/ { in_page = "write" } /^\.Ss A reader/ { in_page = "read" }
		/^\.Ed/ { on = 0 }
		on && in_page == want { gsub(/\\e/, "\\"); print }
		/^\.Bd -literal$/ { on = 1 }' "$src/doc/man/tickmark-stf.3" | diff "$src/doc/stf/$p.c" - >"$dir/diff"
	ok "the manual has doc/stf/$p.c" $?
done
grep -Eq "^#define STF_VERSION_TEXT \"$("$build/stftool" --version | sed -n '1s/.* \([0-9][0-9.]*\).*/\1/p')\"" \
	"$src/include/stf.h"
ok "the version of the header is that of the package" $?
lib=$build/.libs/libtickmark-stf.so.0
if [ ! -e "$lib" ]; then
	skip "the Python module" "no shared library in this build"
	done_testing
	exit
fi
failed=0
# the header where an installation has it
mkdir -p "$dir/include" && ln -s "$(cd "$src" && pwd)/include" "$dir/include/stf"
# what the library was sanitized with, the examples must be too
san=$(printf '%s ' ${CFLAGS:-} | tr ' ' '\n' | grep '^-f.*sanitize' | tr '\n' ' ')
for p in write read; do
	# shellcheck disable=SC2086
	${CC:-cc} $san -std=c99 -Wall -Wextra -pedantic -I"$dir/include" "$src/doc/stf/$p.c" -o "$dir/$p" "$lib" \
		2>>"$dir/cc" || failed=1
done
if [ $failed -eq 0 ] && [ ! -s "$dir/cc" ]; then
	LD_LIBRARY_PATH=$build/.libs
	export LD_LIBRARY_PATH
	expect "$dir/write" "$dir/e.stf"
	expect tool "$dir/e.stf" --verify
	expect_status 0
	expect "$dir/read" "$dir/e.stf" >"$dir/out"
	expect has '1000 values, 2000 other records, last value 4096000 at 0.999500000 s'
	expect has 'counter 1: bytes_sent [bytes]'
	verdict "the examples write and read"
else
	cat "$dir/cc" >"$dir/diff"
	ok "the examples compile" 1
fi
grep -q '"/[^"$@]*/libtickmark-stf[.]so[.]0"' "$build/python/tickmark_stf.py"
ok "the Python module names the folder of the library" $?
python=
for p in "${PYTHON3:-python3}" /usr/bin/python3; do
	if [ -z "$python" ] && "$p" -c 'import numpy' 2>/dev/null; then
		python=$p
	fi
done
[ -z "$san" ] || python=
if [ -z "$python" ]; then
	skip "the Python module" "${san:+the library is sanitized and python3 is not, or }no python3 with numpy"
	done_testing
	exit
fi
mkdir "$dir/without" && echo 'raise ImportError("none")' >"$dir/without/numpy.py"
PYTHONPATH=$dir/without:$build/python PYTHONDONTWRITEBYTECODE=1 "$python" -c 'import tickmark_stf' 2>"$dir/err"
grep -q '^ImportError: tickmark_stf needs numpy (Debian: python3-numpy' "$dir/err"
ok "Python: numpy is named where it is missing" $?
cat >"$dir/rows.avt" <<'END'
C ASCII trace
CLKPERIOD 1e-09
EVENTBITS 0
NCPUS 1 1
CPUNAMES "a" "b"
DURATION 0 9000
DEFCLASS 1 "MPI" SELF "MPI" PARENT 0
DEFCLASS 2 "App" SELF "App" PARENT 0
DEFCLASS 5 "clock-bound" SELF "clock-bound" PARENT 0
DEFFUNCTION 1 "MPI_Send" CLASS 1
DEFFUNCTION 2 "work" CLASS 2
DEFFUNCTION 3 "MPI_Recv" CLASS 1
DEFCOMM 1 "MPI_COMM_WORLD" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1
INFO CLASS 5 TEXT "process 0 0 1e-07"
INFO CLASS 5 TEXT "process 1 0 2e-07 4000 3e-07"
0 ENTER CPU 1 FUNCTION 2
0 ENTER CPU 2 FUNCTION 2
1000 SENDMSG CPU 1 TO 2 COMM 1 TAG 7 LEN 2048 FUNCTION 1 PAIR 1
1000 ENTER CPU 1 FUNCTION 1
1500 ENTER CPU 2 FUNCTION 3
2000 SENDMSG CPU 1 TO 2 COMM 1 TAG 8 LEN 16 FUNCTION 1 PAIR 2
2500 RECVMSG CPU 2 FROM 1 COMM 1 TAG 7 LEN 2048 FUNCTION 3 PAIR 1
2600 LEAVE CPU 1
2700 LEAVE CPU 2
4500 RECVMSG CPU 2 FROM 1 COMM 1 TAG 8 LEN 16 FUNCTION 3 PAIR 2
8000 LEAVE CPU 1
END
from_text "$dir/rows.avt" "$dir/rows.stf"
tool "$dir/rows.stf" --verify
cat >"$dir/try.py" <<'END'
import os, sys, threading
import numpy as np
import tickmark_stf as t

folder, n = sys.argv[1], 0


def ok(what, good):
    global n
    n += 1
    print(("ok " if good else "not ok ") + what)


with t.Trace(folder + "/e.stf") as trace:
    ok("names, threads, duration", trace.counter_names == ["net:bytes_sent"] and trace.threads == [2] and
       trace.duration == (0, 999500000) and trace.resolution == 1e-9 and t.library_version() == 200)
    a, b = trace.counters("bytes_*")
    want = 4096 * np.arange(1, 1001, dtype=np.uint64)
    ok("values and times", (a.value == want[::2]).all() and (b.value == want[1::2]).all() and a.value.dtype == np.uint64 and
       (a.time == np.arange(0, 1000, 2) * 1000000 + 500000).all() and a.time.dtype == np.int64)
    ok("bounds, units, places", (a.bound == 5e-8).all() and len(a.bound) == 500 and a.unit == "bytes" and a.is_total and
       (a.process, a.thread, b.thread, a.host) == (0, 0, 1, "node1"))
    ok("no other counter", trace.counters("nothing") == [] and len(trace.counters("net:*")) == 2)
    w = trace.counters(window=(10500000, 12500000))
    ok("a window", sorted(int(x) for s in w for x in s.ticks) == [10500000, 11500000, 12500000])
ok("arrays outlive the trace", a.value[-1] == want[-2] and a.time[-1] == 998500000)
read, write = os.pipe()
threading.Thread(target=lambda: (os.write(write, open(folder + "/e.single.stf", "rb").read()), os.close(write))).start()
ok("a pipe", sum(len(s) for s in t.Trace(read).counters()) == 1000)
with t.Trace(folder + "/rich.stf") as trace:
    s = {(x.name, x.process, x.thread): x for x in trace.counters()}
    load = s["PERF_DATA:load", 1, 2]
    ok("types", load.value.dtype == np.float64 and list(load.value) == [i * .25 for i in range(1, 9)] and
       s["PERF_DATA:odd \"name\" \\ \u00e4\n1", 0, 0].value[0] == -2**63 and np.isnan(load.bound).all())
with t.Trace(folder + "/rows.stf") as trace:
    m, c = trace.messages(), trace.calls()
    part, m2 = trace.calls(window=(1200, 2550)), trace.messages(window=(1200, 2550))
    mpi, nothing = trace.calls("MPI:*"), trace.calls("no*")
    ok("names of functions", list(c.name) == ["App:work", "App:work", "MPI:MPI_Send", "MPI:MPI_Recv"] and
       list(mpi.name) == ["MPI:MPI_Send", "MPI:MPI_Recv"] and list(m.receiver_function) == ["MPI:MPI_Recv"] * 2 and
       len(nothing) == 0 and len(nothing.name) == 0)
ok("messages", list(m.sent) == [1000, 2000] and list(m.received) == [2500, 4500] and list(m.bytes) == [2048, 16] and
   list(m.tag) == [7, 8] and list(m.sender) == [0, 0] and list(m.receiver) == [1, 1] and m.halves == 0 and
   np.allclose(m.bound, [3e-7, 4e-7], 1e-12))
ok("calls", list(c.begin) == [0, 0, 1000, 1500] and list(c.end) == [8000, 9000, 2600, 2700] and
   list(c.depth) == [0, 0, 1, 1] and list(c.is_open) == [False, True, False, False] and list(c.process) == [0, 1, 0, 1] and
   not c.began_before.any() and np.allclose(c.bound, [1e-7, 2e-7, 1e-7, 2e-7], 1e-12))
key = sorted(zip(part.process, part.depth, part.begin, part.end, part.is_open, part.began_before))
ok("messages and calls of a window", list(m2.sent) == [1000, 2000] and key == [
   (0, 0, 1200, 2550, True, True), (0, 1, 1200, 2550, True, True), (1, 0, 1200, 2550, True, True),
   (1, 1, 1500, 2550, True, False)])
data = bytearray(open(folder + "/e.stf.c.0", "rb").read())
data[len(data) // 2] ^= 4
open(folder + "/e.stf.c.0", "wb").write(data)
try:
    t.Trace(folder + "/e.stf").counters()
    ok("damage is an error", False)
except t.StfError as e:
    ok("damage is an error", e.code == 10 or "damaged" in str(e))
with t.Trace(folder + "/e.stf", damage=True) as trace:
    left = trace.counters()
    ok("damage is named", len(trace.damage) == 1 and trace.damage[0][0] == ".c.0")
try:
    t.Trace(folder + "/none.stf")
    ok("a missing file", False)
except t.StfError as e:
    ok("a missing file", "none.stf" in str(e))
END
tool "$dir/e.stf" --convert "$dir/e.single.stf"
TICKMARK_STF_LIBRARY=$lib PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 "$python" "$dir/try.py" "$dir" \
	>"$dir/tried" 2>"$dir/diff"
status=$?
while read -r line; do
	case $line in
	"ok "*) ok "Python: ${line#ok }" 0 ;;
	*) ok "Python: ${line#not ok }" 1 ;;
	esac
done <"$dir/tried"
expect_status 0
expect [ "$(wc -l <"$dir/tried")" -eq 15 ]
verdict "Python: all was tried"
done_testing
