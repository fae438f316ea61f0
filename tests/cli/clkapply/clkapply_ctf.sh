#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clkapply on CTF traces as programs of others leave them: an old index, packets that were not completed, begins of 0,
# numbers and comments that the language allows. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
python=$(command -v python3) || skip_all "no python3 here"
command -v babeltrace2 >/dev/null || skip_all "no babeltrace2 here"
sed -n "/^cat >.*m.clk/,/^END/p" "$src/tests/cli/clkapply/clkapply.sh" | sed '1d;$d' >"$dir/m.clk"

# make NAME BEGIN END CLOCK: a trace of two packets with events from 2,000,000,000 to 2,000,009,000. BEGIN and END of
# the packets are Python expressions of the first and last event; CLOCK describes the clock.
make()
{
	mkdir "$dir/$1"
	"$python" -B - "$dir/$1" "$2" "$3" "$4" <<'END'
import os
import struct
import sys
odd = bytes(int(os.environ.get("ODD", 0)))
path, begin, end, clock = sys.argv[1:]
u64 = "integer { size = 64; align = 8; signed = false; }"
with open(path + "/metadata", "w") as f:
    f.write(f"""/* CTF 1.8 */
trace {{ major = 1; minor = 8; byte_order = le;
    packet.header := struct {{ integer {{ size = 32; align = 8; signed = false; }} magic; }}; }};
{clock}
typealias integer {{ size = 64; align = 8; signed = false; map = clock.c.value; }} := stamp_t;
stream {{ packet.context := struct {{ stamp_t timestamp_begin; stamp_t timestamp_end; {u64} content_size;
    {u64} packet_size; }}; event.header := struct {{ stamp_t timestamp; }}; }};
event {{ name = "e"; fields := struct {{ {u64} value; }}; }};
""")
out = b""
for packet in range(2):
    base, step = int(os.environ.get("BASE", 2_000_000_000)), int(os.environ.get("STEP", 1000))
    stamps = [base + step * (5 * packet + i) for i in range(5)]
    names = {"first": stamps[0], "last": stamps[-1], "packet": packet}
    body = b"".join(struct.pack("<QQ", t, t) for t in stamps)
    size = 8 * (36 + len(odd) + len(body))
    out += struct.pack("<I", 0xC1FC1FC1) + odd
    out += struct.pack("<QQQQ", eval(begin, names), eval(end, names), size, size) + body
with open(path + "/stream", "wb") as f:
    f.write(out)
END
}
plain='clock { name = c; freq = 1000000000; };'
fix() # fix NAME RANK: the copy has the true times of rank RANK within the bound that is printed
{
	"$build/clkapply" "$dir/m.clk" "$dir/$1" --rank "$2" --output "$dir/$1.ctf" >"$dir/out" 2>"$dir/err"
	status=$?
	expect_status 0
	babeltrace2 --clock-seconds "$dir/$1.ctf" >"$dir/text" 2>"$dir/warn"
	"$python" -B - "$2" "$dir/text" "$dir/out" >"$dir/diff" 2>&1 <<'END'
import re
import sys
from fractions import Fraction
bound = Fraction(re.search(r"bound at most ([^ ]*) s", open(sys.argv[3]).read())[1])
n = 0
for at, value in re.findall(r"^\[(\d+\.\d+)\].*value = (\d+)", open(sys.argv[2]).read(), re.M):
    n += 1
    local = int(value)
    run = local - 5000 if sys.argv[1] == "0" else 10 + Fraction(local - 7000) * 1000001 / 1000000
    off = abs(Fraction(at) - Fraction(1763689000123456789 + run) / 10**9)
    if off > bound + Fraction(2, 10**9):
        sys.exit(f"{value}: off by {float(off)} s, bound {float(bound)} s")
sys.exit(f"{n} events" if n != 10 else f"bound {float(bound)} s" if bound > Fraction(1, 10**5) else 0)
END
	expect [ ! -s "$dir/diff" ]
}

make plain first last "$plain"
fix plain 1
"$build/stftool" "$dir/plain.ctf" --print-clock >"$dir/clock" 2>"$dir/err"
expect_line 'CTF: stamp 0 is 1763689[0-9]* ns after 1970; the bound is its precision' "$dir/clock"
expect_line 'process 0 0 [0-9.e-]*"$' "$dir/clock"
expect_no_line 'no bound' "$dir/err"
verdict "a plain trace; stftool reads the bound with it"

make old first last "$plain"
mkdir "$dir/old/index"
printf 'CTFIDX\0\0\0\0\0\1\0\0\0\0' >"$dir/old/index/stream.idx"
fix old 1
verdict "an index of early LTTng is not used"

make crash first 'last if packet == 0 else 0' "$plain"
fix crash 1
verdict "a packet that was not completed, as of lttng-crash"

make zero 'first if packet else 0' last "$plain"
fix zero 1
verdict "packets that begin at 0"

make hex first last 'clock /* of the node */ { name = c; freq = 0x3B9ACA00; };'
fix hex 1
verdict "a frequency in hexadecimal digits, a comment before the block"

# 32768 Hz and 7 ppm in 50 minutes: no frequency in whole Hz is that of the clock, and the bound says what this makes
cat >"$dir/slow.clk" <<'END'
TICKMARK-CLK 1
program "test"
master 0
ranks 1
global-period 1e-09
realtime-at-0 1763689000123456789
end 3000000000000
clock-was-set 0
interpolation linear
max-drift 0.0005
max-wander 1e-06
rank 0
host "nodeone"
timer "sim:a"
nominal-hz 32768
anchor 98304 1763689000123456789 0
piece 98304 0 98304688 3000000000000 0 0
end-rank
end-file
END
BASE=98304 STEP=10922743
export BASE STEP
make slow first last 'clock { name = c; freq = 32768; };'
unset BASE STEP
"$build/clkapply" "$dir/slow.clk" "$dir/slow" --rank 0 --output "$dir/slow.ctf" >"$dir/out" 2>"$dir/err"
status=$?
expect_status 0
babeltrace2 --clock-seconds "$dir/slow.ctf" >"$dir/text" 2>"$dir/warn"
"$python" -B - "$dir/text" "$dir/out" >"$dir/diff" 2>&1 <<'END'
import re
import sys
from fractions import Fraction
bound = Fraction(re.search(r"bound at most ([^ ]*) s", open(sys.argv[2]).read())[1])
far = [abs(Fraction(at) - Fraction(1763689000123456789, 10**9) - Fraction((int(ticks) - 98304) * 3000, 98304688))
       for at, ticks in re.findall(r"^\[(\d+\.\d+)\].*value = (\d+)", open(sys.argv[1]).read(), re.M)]
# a line by the best whole frequency is 10.5 ms off at both ends
if len(far) != 10 or max(far) > bound or bound > Fraction(12, 1000) or max(far) < Fraction(5, 1000):
    sys.exit(f"{len(far)} events, off by {float(max(far))} s, bound {float(bound)} s")
END
expect [ ! -s "$dir/diff" ]
verdict "a clock of 32768 Hz: the bound holds what its frequency in whole Hz makes"

refuse() # refuse NAME PATTERN
{
	"$build/clkapply" "$dir/m.clk" "$dir/$1" --rank 1 --output "$dir/$1.ctf" >"$dir/out" 2>"$dir/err"
	status=$?
	expect_status 1
	expect_line "$2" "$dir/err"
	expect [ ! -e "$dir/$1.ctf" ]
}
make two first last "$plain"
printf '\036{"type":"preamble","version":2}' >"$dir/two/metadata"
refuse two 'this is CTF 2; only CTF 1.8 is corrected'
verdict "CTF 2 is refused, with its name"

# fields of any kind may be before the stamps
ODD=12
export ODD
make bits first last "$plain"
unset ODD
odd='integer { size = 22; } odd[3]; string text; integer { size = 9; } more;'
sed -i "s/struct { stamp_t timestamp_begin/struct { $odd stamp_t timestamp_begin/" "$dir/bits/metadata"
fix bits 1
verdict "stamps after bits and a text"

# what stops the reading of packets is named
make kind first last "$plain"
sed -i 's/struct { stamp_t timestamp_begin/struct { mytype more; stamp_t timestamp_begin/' "$dir/kind/metadata"
refuse kind "kind/metadata: offset [0-9]*: a type of a name that is not described"
make none first last "$plain"
sed -i 's/timestamp_begin/begin/' "$dir/none/metadata"
refuse none "stream: offset 0: its packets have no timestamp_begin, and there is no index"
make narrow first last "$plain"
sed -i 's/stamp_t timestamp_end;/integer { size = 32; align = 8; } timestamp_end, more;/' \
	"$dir/narrow/metadata"
refuse narrow "timestamp_end of a packet has 32 bits, not 64, and there is no index"
verdict "packets whose stamps cannot be found are refused, with the field that stops it"

make short first last "$plain"
mkdir "$dir/short/index"
"$python" -c 'import struct, sys
sys.stdout.buffer.write(struct.pack(">IIII", 0xC1F1DCC1, 1, 0, 56) +
                        struct.pack(">7Q", 0, 8 * 1000, 8 * 1000, 2000000000, 2000004000, 0, 0))' \
	>"$dir/short/index/stream.idx"
refuse short 'index/stream.idx: offset 16: a packet that ends after the file does'
verdict "an index that lists more than the file has is refused"
done_testing
