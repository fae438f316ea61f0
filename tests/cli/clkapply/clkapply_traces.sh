#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clkapply on OTF2 archives and CTF traces: true times that readers of others find again within the bound. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
python=$(command -v python3) || skip_all "no python3 here"
at="$dir/a b'c" # names are not simple
mkdir "$at"
sed -n "/^cat >.*m.clk/,/^END/p" "$src/tests/cli/clkapply/clkapply.sh" | sed '1d;$d' >"$at/m.clk"
truth() { "$python" -B "$src/tests/cli/clkapply/clkapply_traces.py" "$@" >"$dir/diff" 2>&1; }
truth make "$at/raw.avt"
from_text "$at/raw.avt" "$at/raw.stf"
ok "a trace with stamps of two clocks" "$status"

apply() # apply ARGUMENTS: sets status, and bound as it is printed
{
	"$build/clkapply" "$at/m.clk" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	bound=$(sed -n 's/.*bound at most \([^ ]*\) s.*/\1/p' "$dir/out")
}
refuse() # refuse NAME PATTERN STATUS ARGUMENTS...
{
	name=$1 pattern=$2 want=$3
	shift 3
	apply "$@"
	expect_status "$want"
	expect_line -E "$pattern" "$dir/err"
	expect [ ! -e "$at/bad.otf2" ]
	expect [ ! -e "$at/bad.ctf" ]
	verdict "$name"
}

# ---- OTF2 ----

tool "$at/raw.stf" --convert "$at/raw.otf2"
if grep -q 'not built' "$dir/err"; then
	skip "OTF2" "not in this build"
else
	apply "$at/raw.otf2" --output "$at/fix.otf2"
	expect_status 0
	expect_line '90000 stamps corrected' "$dir/out"
	expect [ -n "$bound" ]
	verdict "OTF2: every stamp of three threads is corrected"
	if command -v otf2-print >/dev/null; then
		truth otf2 "$at/fix.otf2/traces.otf2" "$bound"
		ok "OTF2: otf2-print finds the true times within the bound, clock properties and bounds" $?
	else
		skip "OTF2: otf2-print finds the true times" "otf2-print is not installed"
	fi
	tool "$at/fix.otf2" --convert "$at/fix.stf"
	expect_status 0
	"$build/stftool" "$at/fix.stf" --dump | expect grep -c ' CPU ' >"$dir/out"
	expect [ "$(cat "$dir/out")" -ge 90000 ]
	verdict "OTF2: the copy is read back, with all events"
	refuse "OTF2: what is there is not replaced" 'fix.otf2 exists' 1 "$at/raw.otf2" --output "$at/fix.otf2"
	apply "$at/raw.otf2" --output "$at/fix.otf2" --force
	ok "OTF2: but by --force" "$status"
	apply "$src/tests/golden/eztrace/eztrace_log.otf2" --output "$at/ez.otf2" --unit s --rank 0
	ok "OTF2: an archive of EZTrace" "$status"
	ez=$(grep -o '[0-9]* stamps corrected' "$dir/out")
	# the definition of region 2, MPI_Send, gets another number
	mkdir "$at/undefined" && cp -r "$src/tests/golden/eztrace"/* "$at/undefined" && chmod -R u+w "$at/undefined" &&
		printf '\310' | dd of="$at/undefined/eztrace_log.def" bs=1 seek=297 conv=notrunc 2>/dev/null
	apply "$at/undefined/eztrace_log.otf2" --output "$at/un.otf2" --unit s --rank 0
	expect_status 0
	expect [ "$(grep -o '[0-9]* stamps corrected' "$dir/out")" = "$ez" ]
	expect_same "$at/ez.otf2/traces/0.evt" "$at/un.otf2/traces/0.evt"
	expect_same "$at/ez.otf2/traces/1073741823.evt" "$at/un.otf2/traces/1073741823.evt"
	verdict "OTF2: calls of a region that is not defined are corrected like the others"
	refuse "OTF2: a trace needs --output" 'corrected copy by --output' 2 "$at/raw.otf2"
	cp -r "$at/raw.otf2" "$at/cut" && truncate -s 1005 "$at/cut/traces/1.evt"
	apply "$at/cut/traces.otf2" --output "$at/bad.otf2"
	expect_status 1
	refuse "OTF2: a file that is cut is an error, with file and offset" 'cut/traces/1.evt: offset [0-9]+: ' 1 \
		"$at/cut" --output "$at/bad.otf2"
	sed '/^rank 1/,/^end-rank/d; s/^ranks 2/ranks 1/' "$at/m.clk" >"$at/one.clk"
	"$build/clkapply" "$at/one.clk" "$at/raw.otf2" --output "$at/bad.otf2" 2>"$dir/err"
	expect [ $? -eq 2 ]
	expect_line 'has no rank 1; it has 1 rank' "$dir/err"
	expect [ ! -e "$at/bad.otf2" ]
	verdict "OTF2: so is a rank that the correction does not have"
	sed 's/^nominal-hz .*/nominal-hz 2000000000/' "$at/m.clk" >"$at/fast.clk"
	"$build/clkapply" "$at/fast.clk" "$at/raw.otf2" --output "$at/bad.otf2" 2>"$dir/err"
	expect [ $? -eq 2 ]
	expect_line 'give --unit s' "$dir/err"
	expect [ ! -e "$at/bad.otf2" ]
	verdict "OTF2: and a frequency that is not the timer's"
fi

# ---- CTF ----

tool "$at/raw.stf" --convert "$at/raw.ctf"
apply "$at/raw.ctf" --output "$at/fix.ctf" --rank 1
expect_status 0
expect [ -n "$bound" ]
expect_line 'precision = ' "$at/fix.ctf/metadata"
verdict "CTF: the clock of one rank gets offset, frequency and bound"
if command -v babeltrace2 >/dev/null; then
	truth ctf "$at/fix.ctf" "$bound"
	ok "CTF: babeltrace2 finds the true times within the bound" $?
	for order in '<' '>'; do
		rm -rf "$at/packets.ctf" "$at/fix.ctf"
		cp -r "$at/raw.ctf" "$at/packets.ctf" && truth packets "$at/packets.ctf/metadata" "$order"
		apply "$at/packets.ctf" --output "$at/fix.ctf" --rank 1
		expect_status 0
		expect truth ctf "$at/fix.ctf" "$bound"
		verdict "CTF: the same of a description in packets, as LTTng writes it ($order)"
	done
	# the same stamps, of a clock beside the timer of rank 1: this counts 3 GHz
	awk '$1 == "rank" { one = $2 } !one { print; next }
		$1 == "timer" { $2 = "\"CPU\"" }
		$1 == "nominal-hz" { $2 = "3000000000" }
		$1 == "nominal-rate" || $1 == "rate" { for (i = 2; i <= NF; i++) { $i = sprintf("%.17g", $i / 3) } }
		$1 == "node" || $1 == "piece" { $2 = sprintf("%.0f", 3 * $2 + 1000) }
		$1 == "piece" { $4 = sprintf("%.0f", 3 * $4) }
		$1 == "end-rank" {
			for (t = 0; t <= 2000; t += 500) {
				at = t * 3e6 + 990
				printf "clock clock_monotonic_raw %.0f %.0f %.0f 0 0\n", t * 1e6, at, at + 20
			}
		}
		{ print }' "$at/m.clk" >"$at/other.clk"
	expect "$build/clkapply" "$at/other.clk" "$at/raw.ctf" --output "$at/other.ctf" --rank 1 \
		--timer clock_monotonic_raw >"$dir/out"
	bound=$(sed -n 's/.*bound at most \([^ ]*\) s.*/\1/p' "$dir/out")
	expect truth ctf "$at/other.ctf" "$bound"
	expect awk -v bound="$bound" 'BEGIN { exit !(bound < 3e-6) }'
	expect_not "$build/clkapply" "$at/other.clk" "$at/raw.ctf" --output "$at/bad.ctf" --rank 1 2>"$dir/err"
	expect_line 'CPU of rank 1 .*give --timer' "$dir/err"
	verdict "CTF: stamps of another clock than the timer"
else
	skip "CTF: babeltrace2 finds the true times" "babeltrace2 is not installed"
fi
refuse "CTF: without --rank it is refused" 'give --rank' 2 "$at/raw.ctf" --output "$at/bad.ctf"
rm -rf "$at/cut.ctf" "$at/fix.ctf" && cp -r "$at/raw.ctf" "$at/cut.ctf" && rm -r "$at/cut.ctf/index"
apply "$at/cut.ctf" --output "$at/fix.ctf" --rank 1
plain=$(cat "$at/fix.ctf/metadata")
apply "$at/raw.ctf" --output "$at/fix.ctf" --rank 1 --force
expect_status 0
expect_text "$plain" "$at/fix.ctf/metadata"
verdict "CTF: without an index the heads of the packets say the same"
truncate -s -100 "$at/cut.ctf/process_1_thread_0"
refuse "CTF: a stream that is cut is an error, with file and offset" \
	'cut.ctf/process_1_thread_0: offset [0-9]+: .*size' 1 "$at/cut.ctf" --output "$at/bad.ctf" --rank 1
printf '\377' | dd of="$at/cut.ctf/process_0_thread_1" bs=1 conv=notrunc 2>/dev/null
truncate -s 0 "$at/cut.ctf/process_1_thread_0"
refuse "CTF: so is one that does not begin with a packet" 'cut.ctf/process_0_thread_1: offset 0: no packet' 1 \
	"$at/cut.ctf" --output "$at/bad.ctf" --rank 1
rm -rf "$at/cut.ctf" && cp -r "$at/raw.ctf" "$at/cut.ctf" && printf 'x' >"$at/cut.ctf/index/process_1_thread_0.idx"
apply "$at/cut.ctf" --output "$at/odd.ctf" --rank 1
ok "CTF: of an index that is none the packets tell the range" "$status"
mkdir -p "$at/session/ust/uid" && cp -r "$at/raw.ctf" "$at/session/ust/uid/0" &&
	cp -r "$at/raw.ctf" "$at/session/kernel"
for d in session session/ust; do
	apply "$at/$d" --output "$at/bad.ctf" --rank 1
	expect_status 2
	expect_line "$d is a folder of CTF traces: correct each of .*session/ust/uid/0" "$dir/err"
	expect [ ! -e "$at/bad.ctf" ]
done
mkdir "$at/nothing"
refuse "CTF: of a folder of traces, these are named" 'nothing is a folder without a trace' 2 "$at/nothing" \
	--output "$at/bad.ctf" --rank 1
: >"$at/cut.ctf/metadata"
refuse "CTF: and a trace that describes no clock" 'metadata: no clock' 1 "$at/cut.ctf" --output "$at/bad.ctf" --rank 1
rm -rf "$at/two.ctf" && cp -r "$at/raw.ctf" "$at/two.ctf" && truth clocks "$at/two.ctf"
refuse "CTF: of several clocks one has to be named" 'several clocks .tickmark, first.: say which by --clock' 2 \
	"$at/two.ctf" --output "$at/bad.ctf" --rank 1
refuse "CTF: one that the trace has" 'no clock third; there is tickmark, first' 2 "$at/two.ctf" --output "$at/bad.ctf" \
	--rank 1 --clock third
rm -rf "$at/fix.ctf"
apply "$at/two.ctf" --output "$at/one.ctf" --rank 1 --clock tickmark
bound1=$bound
[ "$status" -eq 0 ] && apply "$at/one.ctf" --output "$at/fix.ctf" --rank 0 --clock first
expect_status 0
expect_line 'first' "$at/fix.ctf/metadata"
verdict "CTF: two clocks are corrected one after the other"
expect [ "$(sed -n '/^clock {/,/^};/p' "$at/fix.ctf/metadata" | grep -c 'offset_s = ')" -eq 2 ]
expect_line '"corrected' "$at/fix.ctf/metadata"
verdict "CTF: each clock has one offset, and its description as it was"
if command -v babeltrace2 >/dev/null; then
	expect truth ctf "$at/fix.ctf" "$bound1" 1:0
	expect truth ctf "$at/fix.ctf" "$bound" 0:0
	expect truth ctf "$at/fix.ctf" "$bound" 0:1
	verdict "CTF: babeltrace2 finds the true times of both"
fi

done_testing
