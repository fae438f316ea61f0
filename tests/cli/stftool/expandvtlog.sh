#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# expandvtlog prints of stftool's text what xstftool prints of the trace. TAP.
# shellcheck disable=SC1091,SC2154
. "${top_srcdir:-.}/tests/cli/lib/toollib.sh"
expand=$build/tools/expandvtlog

for t in "$rich" "$src"/tests/golden/*.stf; do
	for form in "" --matched-vtf; do
		# shellcheck disable=SC2086
		"$build/stftool" "$t" --dump $form >"$dir/dump" 2>/dev/null
		# shellcheck disable=SC2086
		"$build/xstftool" "$t" $form >"$dir/want" 2>/dev/null
		sh "$expand" "$dir/dump" >"$dir/have"
		[ -s "$dir/want" ] || not_met "$t: xstftool prints something"
		expect_same "$dir/want" "$dir/have"
	done
done
verdict "the text of xstftool, from the text of stftool"
# the guide's two examples
printf '%s\n' 'DEFCLASS 1 "PERF_DATA" SELF "PERF_DATA" PARENT 0' 'DEFCOUNTER 6 "PAPI_TOT_INS" CLASS 1 CPU 1' \
	'DEFGROUP 2147483649 "Process_0" NMEMBS 1 1' 'DEFGROUP 2147483650 "Process_2" NMEMBS 1 3' \
	'DEFGROUP 2147942402 "All_Processes" NMEMBS 2 2147483649 2147483650' \
	'8629175798 SAMP CPU 131074 DEF 6 UINT 8 3897889661' | sh "$expand" >"$dir/have"
expect_line -x 'DEFGROUP All_Processes NMEMBS 2 "Process_0" "Process_2"' "$dir/have"
expect_line -x '8629175798 SAMP CPU 2:1 DEF "PERF_DATA:PAPI_TOT_INS" UINT 8 3897889661' "$dir/have"
verdict "the examples of the guide, from standard input"
sh "$expand" --version >"$dir/out"
expect_line "^expandvtlog (Tickmark [0-9]" "$dir/out"
verdict "--version"
sh "$expand" --frobnicate >"$dir/out" 2>&1
[ $? -eq 2 ]
ok "an unknown option" $?
done_testing
