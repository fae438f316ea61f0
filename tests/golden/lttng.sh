#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# LTTng of 2008 in all variants of its headers: byte order, trace header packed or aligned, stamps of 64 and 32 bits,
# arch_size, events packed or aligned to 4 or 8. The second reader finds what was written, and stftool what the second
# reader finds. TAP.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
python=$(command -v python3) || skip_all "no python3 here"
reader=$src/tests/golden/lttng_reader.py

n=0 bad=0 sums=0 flights=0
while "$build/tests/lib/lttng_variants" "$dir/t$n" "$n" >"$dir/want"; do
	"$python" -B "$reader" "$dir/t$n" 2>&1 | diff "$dir/want" - >"$dir/diff" || { bad=$((bad + 1))
	head -n 4 "$dir/diff" | sed "s/^/# $n: /"; }
	# the values of one marker's field, by stftool: whole numbers as text, so that no bit is lost
	if "$build/stftool" "$dir/t$n" --input-format LTTNG --convert "$dir/t$n.csv" 2>"$dir/err" ||
		{ "$build/stftool" "$dir/t$n" --convert "$dir/t$n.stf" 2>>"$dir/err" &&
		"$build/stftool" "$dir/t$n.stf" --convert "$dir/t$n.csv" 2>>"$dir/err"; }; then
		sed -n 's/.*,numbers:eight,\([0-9]*\),.*/\1/p' "$dir/t$n.csv" >"$dir/got"
		sed -n 's/.* eight=\([0-9]*\)$/\1/p' "$dir/want" | diff - "$dir/got" >"$dir/diff" || sums=$((sums + 1))
		"$build/stftool" "$dir/t$n" --convert "$dir/i$n.stf" >>"$dir/err" 2>&1 &&
			"$build/stftool" "$dir/i$n.stf" --dump |
			grep -c 'LTTng: recorded as a flight recorder' >"$dir/flight"
		[ "$(cat "$dir/flight")" -eq $((n % 5 == 0)) ] || flights=$((flights + 1))
	else
		sums=$((sums + 1))
		sed "s/^/# $n: /" "$dir/err"
	fi
	n=$((n + 1))
done
expect [ "$n" -eq 48 ]
expect [ "$bad" -eq 0 ]
verdict "the second reader finds every event, stamp, time and value in all 48 variants"
expect [ "$n" -eq 48 ]
expect [ "$sums" -eq 0 ]
verdict "so does stftool, also in the files of control/"
expect [ "$flights" -eq 0 ]
verdict "a flight recorder is named in the trace, and nothing else is"

done_testing
