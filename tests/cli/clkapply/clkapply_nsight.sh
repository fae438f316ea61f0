#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clkapply on databases that Nsight Systems exports: each time is right, nothing else changes, what is unclear is
# refused. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
[ "${PYTHON3:-no}" != no ] || skip_all "no Python 3"
"$PYTHON3" -c 'import sqlite3' 2>/dev/null || skip_all "no sqlite3 in Python"
py=$src/tests/cli/clkapply/clkapply_nsight.py
cd "$dir" || exit 99
"$PYTHON3" "$src/tests/cli/clkapply/clkapply_json.py" make . && "$PYTHON3" "$py" make a.sqlite 3000 || exit 99
if ! "$build/clkapply" c.clk a.sqlite --output x.sqlite >out 2>err && grep -q 'needs sqlite3' err; then
	skip_all "built without sqlite3"
fi
cp a.sqlite before.sqlite

"$build/clkapply" c.clk a.sqlite --output b.sqlite --timer clock_realtime >out 2>err
expect [ $? -eq 0 ]
expect_empty err
expect_line '^b.sqlite: [0-9]* stamps corrected, bound at most' out
expect "$PYTHON3" "$py" judge a.sqlite b.sqlite >judged 2>&1
sed 's/^/# /' judged
expect cmp a.sqlite before.sqlite
verdict "only times change, and each is right; the host says the rank"
"$build/clkapply" c.clk a.sqlite --output c.sqlite --timer clock_realtime --rank 1 >out 2>err
expect [ $? -eq 0 ]
expect "$PYTHON3" "$py" judge a.sqlite c.sqlite >judged 2>&1
verdict "the rank by --rank"

refuse() # refuse STATUS PATTERN FILE OPTION...: no copy
{
	wanted=$1 pattern=$2
	shift 2
	rm -f refused.sqlite
	"$build/clkapply" c.clk "$@" --output refused.sqlite >out 2>err
	status=$?
	expect_status "$wanted"
	expect_line "$pattern" err
	expect [ ! -e refused.sqlite ]
	expect [ -z "$(ls -A | grep '^\.refused\|refused.*tmp')" ]
}

change() # change SQL: d.sqlite is a.sqlite after that
{
	cp a.sqlite d.sqlite
	"$PYTHON3" -c 'import sqlite3, sys; sqlite3.connect("d.sqlite").executescript(sys.argv[1])' "$1"
}

refuse 2 'a.sqlite does not say which clock it has: give --timer' a.sqlite
refuse 1 'b.sqlite: the file is corrected already' b.sqlite --timer clock_realtime
refuse 2 'has no rank 7' a.sqlite --timer clock_realtime --rank 7
change "UPDATE TARGET_INFO_SYSTEM_ENV SET value = 'elsewhere'"
refuse 2 'no rank was on its host elsewhere: give --rank' d.sqlite --timer clock_realtime
change "UPDATE META_DATA_EXPORT SET value = '500' WHERE name = 'EXPORT_PARAM_TIME_SHIFT'"
refuse 1 'd.sqlite was exported with shifted or normalized times' d.sqlite --timer clock_realtime
change "DROP TABLE TARGET_INFO_SESSION_START_TIME"
refuse 1 'has no TARGET_INFO_SESSION_START_TIME.utcEpochNs' d.sqlite --timer clock_realtime
change "UPDATE NVTX_EVENTS SET start = -9000000000000000000"
refuse 1 'd.sqlite: .*the stamp -9000000000000000000 is before the start of its clock' d.sqlite --timer clock_realtime
echo "no database at all, but long enough to look like one" >d.sqlite
refuse 1 'd.sqlite: .*not a database' d.sqlite --timer clock_realtime
cp a.sqlite d.sqlite
dd if=/dev/zero of=d.sqlite bs=4096 seek=2 count=40 conv=notrunc 2>/dev/null
refuse 1 'd.sqlite: .*malformed' d.sqlite --timer clock_realtime
cp a.sqlite d.sqlite && echo x >d.sqlite-wal
refuse 1 'd.sqlite-wal has changes that are not in it yet' d.sqlite --timer clock_realtime
rm d.sqlite-wal
refuse 1 'cannot open missing.sqlite' missing.sqlite --timer clock_realtime
verdict "what is unclear or damaged is refused, with the reason, and nothing is written"
"$build/clkapply" c.clk a.sqlite --output u.sqlite --unbounded >out 2>err
status=$?
expect_status 3
expect "$PYTHON3" - <<'END' >judged 2>&1
import sqlite3
a, u = ("\n".join(sqlite3.connect(f).iterdump()) for f in ("a.sqlite", "u.sqlite"))
assert sqlite3.connect("u.sqlite").execute("SELECT * FROM TICKMARK").fetchone() == (None, "", 1, 1)
assert [l for l in u.splitlines() if "TICKMARK" not in l] == a.splitlines()
END
verdict "--unbounded copies all times unchanged, and says so"

"$PYTHON3" "$py" make large.sqlite "${ROWS:-100000}"
expect "$PYTHON3" - "$build/clkapply" <<'END' >out 2>&1
import os, resource, subprocess, sys
subprocess.run([sys.argv[1], "c.clk", "large.sqlite", "--timer", "clock_realtime", "--output", "l.sqlite"], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
mb = os.path.getsize("large.sqlite") / 1e6
print(f"{used.ru_maxrss / 1024:.1f} MiB, {used.ru_utime + used.ru_stime:.2f} s of CPU for {mb:.0f} MB")
sys.exit(used.ru_maxrss > 64 << 10)
END
sed 's/^/# /' out
verdict "a large database in at most 64 MiB of memory"
done_testing
