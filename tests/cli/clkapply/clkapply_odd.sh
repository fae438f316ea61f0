#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clkapply on odd files of each format that has stamps of others: only times change, byte for byte, or the file is
# refused with the place. Names in UTF-8, numbers that no type holds, escapes, DOS lines, keys that come twice, stamps
# of 0 to 19 decimals, several events at one stamp, gzip of several members, empty and cut files, a full disk. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
[ "${PYTHON3:-no}" != no ] || skip_all "no Python 3"
here=$src/tests/cli/clkapply
cd "$dir" || exit 99
"$PYTHON3" "$here/clkapply_json.py" make . && "$PYTHON3" "$here/clkapply_perfetto.py" make . || exit 99
sed -n '/^cat >rocprof.py/,/^END/p' "$here/clkapply_rocprof.sh" | sed '1d;$d' >rocprof.py
"$PYTHON3" rocprof.py "$src" make || exit 99
"$PYTHON3" "$here/clkapply_nsight.py" make a.sqlite 300 || exit 99
if ! "$build/clkapply" c.clk g1.0.json --output x.json >out 2>err && grep -q 'needs zlib' err; then
	skip_all "built without zlib"
fi
have_sqlite=1
"$build/clkapply" c.clk a.sqlite --output x.sqlite --timer clock_realtime >out 2>err || have_sqlite=0

apply() # apply CLK FILE COPY OPTION...: it must succeed
{
	clk=$1 file=$2 copy=$3
	shift 3
	rm -f "$copy"
	"$build/clkapply" "$clk" "$file" --output "$copy" "$@" >out 2>err
	expect [ $? -eq 0 ]
	expect_empty err
}
judge() # judge PYTHON ARGUMENTS: what the judge of the format says
{
	expect "$PYTHON3" "$@" >judged 2>&1
	cat judged >>out
}
refuse() # refuse PATTERN CLK FILE OPTION...: with that text, and nothing is left
{
	pattern=$1 clk=$2 file=$3
	shift 3
	"$build/clkapply" "$clk" "$file" --output "refused.${file#*.}" "$@" >out 2>err
	expect [ $? -ne 0 ]
	expect_line "$pattern" err
	expect [ -z "$(find . -name '*refused*')" ]
}
# damage CLK FILE OPTION...: a second member of gzip that is cut or damaged is refused; zeros after it are not
damage()
{
	damaged_clk=$1 whole=$2 name=damaged.${2#*.}.gz
	shift 2
	half=$(($(wc -c <"$whole") / 2))
	head -c $half "$whole" | gzip -c >first.gz
	tail -c +$((half + 1)) "$whole" | gzip -c >second.gz
	# within its head, behind it, within the check sum
	for cut in 1 5 20 60 $(($(wc -c <second.gz) - 3)); do
		(cat first.gz && head -c $cut second.gz) >"$name"
		refuse "$name: offset [0-9]*: .* end too early (byte $(($(wc -c <"$name"))) of the file)" \
			"$damaged_clk" "$name" "$@"
	done
	# the mark of its head, the method, data, check sum
	for place in 0 1 2 40 $(($(wc -c <second.gz) - 6)); do
		(cat first.gz && head -c "$place" second.gz && printf '\251' &&
			tail -c +$((place + 2)) second.gz) >"$name"
		refuse "$name: offset [0-9]*: .*damaged (byte [0-9]* of the file)" \
			"$damaged_clk" "$name" "$@"
	done
	(cat first.gz second.gz && printf 'tail of a log\n') >"$name"
	refuse "$name: offset $(($(wc -c <"$whole"))): .*damaged" "$damaged_clk" "$name" "$@"
	(cat first.gz second.gz && head -c 100000 /dev/zero) >"$name"
	apply "$damaged_clk" "$name" "copy.${whole#*.}.gz" "$@"
	apply "$damaged_clk" "$whole" "copy.${whole#*.}" "$@"
	gzip -dc "copy.${whole#*.}.gz" >plain
	expect_same "copy.${whole#*.}" plain
}

# ---- trace events ----

at=17636890001 # s since 1970, and a digit
cat >odd.json <<END
{"schemaVersion": 1, "distributedInfo": {"rank": 1}, "ключ": "\\ud83d\\ude80 ☃ \\"ts\\": 7", "traceEvents": [
{"ph": "i", "ts": ${at}23900.5, "name": "ä\\u00e4\\\\\\"\\/\\n", "pid": 99999999999999999999999999, "args": {"x": 1e400, "ts": 5}},
{"ph": "X", "ts": ${at}23900.123456, "dur": 1.000001, "name": ""},
{"ph": "X", "ts": ${at}23900.1234561, "dur": 0, "name": "6 and 7 decimals"},
{"ph": "X", "ts": ${at}23900.1234567890123456789, "dur": 0.0000000000000000001},
{"ph": "X", "ts": 0.${at}23901e16, "dur": 12E0, "name": "exponents"},
{"ph": "B", "ts": ${at}23902, "name": "one stamp"}, {"ph": "E", "ts": ${at}23902}, {"ph": "B", "ts": ${at}23902.000},
{"ph":"E","ts":${at}23902}, {"ts" :
	${at}23903 ,"ph":"X","dur"
:5,"name":"🚀","args":{"a":[[[{}]],-0.0,true,null,"",1E-999,NaN,-Infinity]}}
]}
END
apply c.clk odd.json copy.json
judge "$here/clkapply_json.py" judge odd.json copy.json 1 2
expect_line '^1[0-9] times' judged
sed 's/$/\r/' odd.json >dos.json
apply c.clk dos.json copy.json
judge "$here/clkapply_json.py" judge dos.json copy.json 1 2
verdict "trace events: UTF-8, escapes, numbers that no type holds, 0 to 19 decimals, events at one stamp, DOS lines"
# readers take the last of two
cat >twice.json <<END
{"distributedInfo": {"rank": 0}, "distributedInfo": {"rank": 1}, "traceEvents": [
{"ph": "M", "ph": "X", "dur": 7, "ts": 5, "ts": ${at}23900.5, "dur": 20000, "args": {"ts": 1, "ts": 2}}]}
END
apply c.clk twice.json copy.json
judge "$here/clkapply_json.py" judge twice.json copy.json 1 2
expect_line '"ts": 5, "ts": [0-9.]*, "dur": [0-9.]*, "args": {"ts": 1, "ts": 2}' copy.json
verdict "trace events: of a key that comes twice the last counts"
for number in 1e30 -1e30 123456789012345678901234567890 1e99999999999 '"1,5"'; do
	echo "[{\"ph\":\"i\",\"ts\":$number}]" >number.json
	refuse 'number.json: offset 1[67]: ' c.clk number.json --timer clock_realtime --rank 1
	echo "[{\"ph\":\"X\",\"ts\":${at}23900,\"dur\":$number}]" >number.json
	refuse 'number.json: offset \(39\|40\): ' c.clk number.json --timer clock_realtime --rank 1
done
echo "[{\"ph\":\"X\",\"ts\":${at}23900,\"dur\":9223372036854775.807}]" >number.json
refuse 'number.json: offset 39: a span that ends too far away' c.clk number.json --timer clock_realtime --rank 1
# the profiler that PyTorch had before Kineto counts from its start
echo '[{"ph":"X","ts":142,"dur":21},{"ph":"X","ts":1500,"dur":3}]' >legacy.json
refuse 'legacy.json: each stamp is so far .* another clock than clock_realtime, or no date' c.clk legacy.json \
	--timer clock_realtime --rank 1
verdict "trace events: times that are none, or too far away, are refused"
for cut in 0 1 20 400 2000 4000; do
	head -c $cut g3.1.json >cut.json
	refuse "cut.json: offset \\($cut\\|0\\): " c.clk cut.json
	gzip -c cut.json >cut.json.gz
	refuse "cut.json.gz: offset \\($cut\\|0\\): " c.clk cut.json.gz
done
: >cut.json.gz
refuse 'cut.json.gz: offset 0: ' c.clk cut.json.gz
(head -c 1000 g3.1.json | gzip -c && : | gzip -c && tail -c +1001 g3.1.json | gzip -c) >members.json.gz
apply c.clk members.json.gz copy.json.gz
apply c.clk g3.1.json copy.json
gzip -dc copy.json.gz >plain
expect_same copy.json plain
verdict "trace events: empty and cut files are refused, gzip of several members is one file"
# a trace of which nothing says that its end is missing
printf '[{"ph":"X","ts":%s23900,"dur":1},\n' $at >open.json
yes "{\"ph\":\"X\",\"ts\":${at}23901,\"dur\":2}," | head -500 >>open.json
damage c.clk open.json --timer clock_realtime --rank 1
verdict "trace events: a second member of gzip that is damaged or cut is refused with the place, zeros behind are not"

# ---- rocprofv3 ----

cat >odd.sed <<'END'
s/"strings": {/"ключ": "🚀 \\u0041\\"end_timestamp\\": 5", "huge": [1e400, 99999999999999999999999999], &/
s/"thread_id": \([0-9]*\)}/"thread_id": \1, "more": {"note": "\\"end_timestamp\\": 9"}}/g
s/$/\r/
END
sed -f odd.sed r.json >odd.rocprof.json
apply p.clk odd.rocprof.json copy.json
judge rocprof.py "$src" judge odd.rocprof.json copy.json
expect_line '^3651 times' judged
(head -c 5000 r.json | gzip -c && tail -c +5001 r.json | gzip -c) >members.json.gz
apply p.clk members.json.gz copy.json.gz
apply p.clk r.json copy.json
gzip -dc copy.json.gz >plain
expect_same copy.json plain
for number in 1e30 123456789012345678901234567890 -5 1.5 '"x"'; do
	sed '0,/"end_timestamp":[0-9]*/s//"end_timestamp":'"$number"'/' r.json >number.json
	refuse 'number.json: offset [0-9]*: ' p.clk number.json
done
cp r.json whole.json
damage p.clk whole.json
for cut in 30 400 3000; do
	head -c $cut r.json >cut.json
	refuse "cut.json: offset $cut: " p.clk cut.json --rank 1
done
verdict "rocprofv3: only times change; what is no time, or cut, is refused"

# ---- Perfetto ----

cat >odd.py <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from clkapply_perfetto import *

def long(v):  # a number of ten bytes, whatever it is
    out = varint(v)
    return out[:-1] + bytes([out[-1] | 128]) + b"\x80" * (9 - len(out)) + b"\0"

t = 10 ** 7
odd = num(500, 2 ** 64 - 1) + sub(501, "ä☃🚀") + varint(502 << 3 | 1) + b"\xff" * 8 + sub(503, b"")
a = shared(10 ** 6)
a += packet(num(8, boot(5)) + num(8, boot(t)) + event(t) + num(10, 2))  # the last counts
a += packet(varint(8 << 3) + long(boot(2 * t)) + event(2 * t) + num(10, 2))
a += packet(odd + num(8, boot(3 * t)) + num(10, 2) + event(3 * t, sub(4, sub(10, "ключ") + sub(6, "\0\x7f"))) + odd)
a += packet(num(8, boot(3 * t)) + num(10, 2) + event(3 * t)) * 3
write("odd.pftrace", a)
write("members.pftrace.gz", b"")
with open("members.pftrace.gz", "wb") as f:
    f.write(gzip.compress(a[:200]) + gzip.compress(b"") + gzip.compress(a[200:]))
write("far.pftrace", a + packet(num(8, 2 ** 64 - 1) + event(4)))
for n in (1, 30, len(a) - 1):
    write(f"cut{n}.pftrace", a[:n])
END
"$PYTHON3" odd.py "$here" || exit 99
apply p.clk odd.pftrace copy.pftrace --rank 1
judge "$here/clkapply_perfetto.py" judge odd.pftrace copy.pftrace 2 60
expect_line '^6 times' judged
apply p.clk members.pftrace.gz copy.pftrace.gz --rank 1
gzip -dc copy.pftrace.gz >plain
expect_same copy.pftrace plain
for f in cut*.pftrace; do
	refuse "$f: offset [0-9]*: the file ends within a packet" p.clk "$f" --rank 1
done
: >none.pftrace.gz
refuse 'none.pftrace.gz has no packet' p.clk none.pftrace.gz --rank 1
mv odd.pftrace whole.pftrace
damage p.clk whole.pftrace --rank 1
verdict "Perfetto: fields that come twice or are long, UTF-8, several events at one stamp, gzip of several members"

# ---- Nsight Systems ----

change() # change SQL: odd.sqlite is a.sqlite after that
{
	cp a.sqlite odd.sqlite
	"$PYTHON3" -c 'import sqlite3, sys; sqlite3.connect("odd.sqlite").executescript(sys.argv[1])' "$1"
}
if [ $have_sqlite = 1 ]; then
	change "INSERT INTO StringIds VALUES
			(900, 'nämé ☃ 🚀'), (901, x'00ff00'), (902, ''), (903, 'a' || char(0) || 'b');
		INSERT INTO NVTX_EVENTS VALUES (5000, 5000, 59, 1, NULL, 7, 9223372036854775807, -1),
			(5000, 5000, 59, 2, x'80', 7, -9223372036854775807, 3),
			(5000, NULL, 59, 2, '\"', NULL, NULL, NULL);
		INSERT INTO OTHER VALUES (x'41', 1e308), (NULL, NULL);
		CREATE TABLE \"a \"\"b\" (\"x y\" TEXT, n REAL);
		INSERT INTO \"a \"\"b\" VALUES (1.5, 1e-308)"
	apply c.clk odd.sqlite copy.sqlite --timer clock_realtime
	judge "$here/clkapply_nsight.py" judge odd.sqlite copy.sqlite
	verdict "Nsight: UTF-8, zero bytes, blobs, the largest numbers, events at one stamp, tables of odd names"
	for value in "'abc'" 1.5 "x'00'" 9223372036854775807; do
		change "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES ($value, 3)"
		refuse 'odd.sqlite: .*the stamp .* is ' c.clk odd.sqlite --timer clock_realtime
	done
	: >empty.sqlite
	refuse 'empty.sqlite has no TARGET_INFO_SESSION_START_TIME' c.clk empty.sqlite --timer clock_realtime --rank 1
	for cut in 50 4096 20000; do
		head -c $cut a.sqlite >cut.sqlite
		refuse 'cut.sqlite' c.clk cut.sqlite --timer clock_realtime --rank 1
	done
	verdict "Nsight: what is no time in a column of times, empty and cut files are refused"
else
	skip "Nsight" "built without sqlite3"
fi

# ---- a full disk ----

if unshare -m true 2>/dev/null; then
	mkdir full
	cat >full.sh <<'END'
mount -t tmpfs -o size=$(($1 * 1024)) none full || exit 99
shift
clk=$1 file=$2 build=$3
shift 3
"$build/clkapply" "$clk" "$file" --output "full/copy.${file#*.}" "$@"
status=$?
ls -A full >left
exit $status
END
	full() # full KIB CLK FILE OPTION...: the copy does not fit into so much
	{
		kib=$1 clk=$2 file=$3
		shift 3
		unshare -m sh full.sh "$kib" "$clk" "$file" "$build" "$@" >out 2>err
		status=$?
		expect_status 1
		expect_line "clkapply: .*\\(No space left on device\\|database or disk is full\\)" err
		expect_empty left
	}
	full 16 c.clk g3.1.json
	full 4 c.clk last.pt.trace.json.gz
	full 16 p.clk r.json
	full 4 p.clk r.json.gz
	full 16 p.clk service.pftrace --rank 1
	full 16 p.clk both.pftrace.gz --rank 1
	if [ $have_sqlite = 1 ]; then
		full 16 c.clk a.sqlite --timer clock_realtime
		full $(($(wc -c <a.sqlite) / 1024)) c.clk a.sqlite --timer clock_realtime
	fi
	verdict "a full disk: status 1, the reason, and nothing is left"
else
	skip "a full disk" "no mount namespace"
fi
done_testing
