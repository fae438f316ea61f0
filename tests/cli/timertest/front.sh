#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every program answers -h, --help, -V, --version and --usage alike, in the width of the terminal, and suggests a name
# for a misspelt option. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
version=$(sed -n 's/^PACKAGE_VERSION *= *//p' "$build/Makefile")

for p in timertestcs timertest calibsim calibtruth vtcounters vtreport vttop stftool xstftool vtrun clkapply \
	otf2-to-stf tickmark-clockd; do
	if [ ! -x "$build/$p" ] || [ -d "$build/$p" ]; then
		skip "$p" "not built"
		continue
	fi
	expect "$build/$p" --help >"$dir/out" 2>"$dir/err"
	expect "$build/$p" -h >"$dir/h" 2>&1
	expect_same "$dir/out" "$dir/h"
	expect_empty "$dir/err"
	head -1 "$dir/out" | expect_line "^Usage: $p " -
	expect_line '^  -h, --help ' "$dir/out"
	expect_line '^  -V, --version ' "$dir/out"
	verdict "$p: -h is --help, on standard output, status 0"
	expect [ "$("$build/$p" --version)" = "$p (Tickmark) $version" ]
	expect [ "$("$build/$p" -V)" = "$p (Tickmark) $version" ]
	verdict "$p: --version"
	expect "$build/$p" --usage >"$dir/out"
	head -1 "$dir/out" | expect_line "^Usage: $p " -
	expect grep -q -e '\[--' -e '\[OPTION' "$dir/out"
	verdict "$p: --usage"
	for columns in 40 60 100; do
		COLUMNS=$columns "$build/$p" --help | awk -v most="$columns" '
			length($0) > most && $0 ~ /^ {30}/ && $0 ~ / [^ ]+ / { print }' # a single word may be longer
	done >"$dir/out"
	ok "$p: the help fits the terminal" "$(wc -l <"$dir/out")"
	"$build/$p" --hepl >"$dir/out" 2>"$dir/err"
	expect [ $? -ge 2 ]
	expect_empty "$dir/out"
	expect_line "^$p: unknown option '--hepl'; did you mean --help?" "$dir/err"
	verdict "$p: a misspelt option is refused with the right name"
	"$build/$p" --help >/dev/full 2>"$dir/err"
	expect [ $? -ge 1 ]
	expect_line "standard output" "$dir/err"
	verdict "$p: a full standard output is an error"
done
if [ -x "$build/vtrun" ]; then
	COLUMNS=80 "$build/vtrun" --help >"$dir/out"
	expect [ "$(wc -l <"$dir/out")" -le 15 ]
	"$build/vtrun" --help=all >"$dir/all"
	expect [ "$(wc -l <"$dir/all")" -gt 100 ]
	# shellcheck disable=SC2013
	for option in $(grep -o -e ' --[a-z][a-z-]*' "$dir/out"); do
		expect_line -e "^ *\(-., \)*$option\>" "$dir/all"
	done
	verdict "vtrun --help has 15 lines, and --help=all each of its options"
fi
expect [ "$("$build/tools/convert-stats" --version)" = "convert-stats (Tickmark) $version" ]
expect [ "$("$build/tools/convert-stats" -V)" = "convert-stats (Tickmark) $version" ]
verdict "convert-stats: --version"
expect "$build/tools/convert-stats" -h >"$dir/out"
expect_line '^  -h, --help ' "$dir/out"
expect_line '^  -V, --version ' "$dir/out"
expect_line '^Exit status: ' "$dir/out"
verdict "convert-stats: -h"
expect "$build/vtrun" --usage >"$dir/out"
expect_line -F '[--counter [+]PATTERN [on|off]]' "$dir/out"
expect_line -F '[--config=FILE]' "$dir/out"
expect_line -F '[--report [on|off]]' "$dir/out"
verdict "--usage spells options as --help does"
"$build/otf2-to-stf" --force a.otf2 b.stf >"$dir/out" 2>"$dir/err"
expect [ $? -eq 2 ]
expect_line "^otf2-to-stf: '--force': options come after the two files" "$dir/err"
verdict "otf2-to-stf: an option before the files is named"
# the same words and numbers in every locale: a comma in numbers, an i without a dot
if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" >/dev/null 2>&1 &&
	localedef -i tr_TR -f UTF-8 "$dir/tr_TR.UTF-8" >/dev/null 2>&1; then
	trace=$src/tests/golden/plain-little.stf
	for l in C de_DE.UTF-8 tr_TR.UTF-8; do
		for p in timertestcs timertest calibsim calibtruth vtcounters vtreport stftool xstftool vtrun clkapply \
			otf2-to-stf tickmark-clockd; do
			[ ! -x "$build/$p" ] || LOCPATH=$dir LC_ALL=$l LANGUAGE=de "$build/$p" --help
		done >"$dir/help.$l" 2>&1
		{
			LOCPATH=$dir LC_ALL=$l "$build/stftool" "$trace" --dump
			LOCPATH=$dir LC_ALL=$l "$build/stftool" "$trace" --PRINT-CLOCK
			printf '# seconds of a unit of time = 2.5e-10\n0:0:0xffffffff:0xffffffff:1:3:5:7:15:5:7:15\n' |
				LOCPATH=$dir LC_ALL=$l "$build/tools/convert-stats"
			LOCPATH=$dir LC_ALL=$l "$build/vtrun" --SAMPLE-PERIOD 0.25s --ESTIMATE 1.5min
			[ ! -x "$build/calibsim" ] ||
				LOCPATH=$dir LC_ALL=$l "$build/calibsim" --DOMAINS 2:4 --APART 0.5s
		} >"$dir/numbers.$l" 2>&1
	done
	cat "$dir"/help.[dt]* >"$dir/out"
	expect_same "$dir/help.C" "$dir/help.de_DE.UTF-8"
	expect_same "$dir/help.C" "$dir/help.tr_TR.UTF-8"
	verdict "--help is the same under de_DE and tr_TR"
	cat "$dir"/numbers.* >"$dir/out"
	expect_same "$dir/numbers.C" "$dir/numbers.de_DE.UTF-8"
	expect_same "$dir/numbers.C" "$dir/numbers.tr_TR.UTF-8"
	expect_line '0\.5 s apart' "$dir/numbers.tr_TR.UTF-8"
	verdict "options in capitals and numbers are the same under de_DE and tr_TR"
else
	skip "other locales" "localedef cannot make de_DE and tr_TR"
fi
# completion offers what --help names, in a locale too whose a to z is not the ASCII one
if command -v bash >/dev/null; then
	for p in timertestcs vtreport stftool vtcounters; do
		# shellcheck disable=SC2016
		offered=$(PATH="$build:$PATH" LOCPATH=$dir LC_ALL=tr_TR.UTF-8 bash \
			-c '. "$1/tools/completion/$2"; COMP_WORDS=("$2" --ver); COMP_CWORD=1; "$(complete -p "$2" | '\
'sed "s/.* -F \([^ ]*\) .*/\1/")" "$2"; printf "%s " "${COMPREPLY[@]}"' - "$src" "$p" 2>&1)
		echo "$offered" >"$dir/out"
		case $offered in
		*--version*) ok "$p: completion in bash" 0 ;;
		*) ok "$p: completion in bash" 1 ;;
		esac
	done
	# shellcheck disable=SC2016
	PATH="$build:$PATH" bash \
		-c \
		'. "$1/tools/completion/timertest"; COMP_WORDS=(timertestcs --check --max); COMP_CWORD=2; _tickmark '\
'timertestcs; echo "${COMPREPLY[@]}"' - "$src" >"$dir/out" 2>&1
	[ "$(cat "$dir/out")" = "--max-age" ]
	ok "the options of --check are completed too" $?
	# vtrun's --help is short: all of its options are offered
	sed -n 's/^OPTION("\([A-Z-]*\)".*/--\1/p' "$src/collector-plugin/settings/options.def" |
		tr A-Z a-z | sort >"$dir/want"
	# shellcheck disable=SC2016
	PATH="$build:$PATH" bash -c '. "$1/tools/completion/vtrun"; COMP_WORDS=(vtrun --); COMP_CWORD=1; _vtrun vtrun
		printf "%s\n" "${COMPREPLY[@]}"' - "$src" 2>&1 | sort >"$dir/out"
	comm -23 "$dir/want" "$dir/out" >"$dir/diff"
	[ ! -s "$dir/diff" ] && grep -qx -e --altstack "$dir/want"
	ok "each option of vtrun is completed" $?
	mkdir "$dir/files" "$dir/files/a folder"
	(cd "$dir/files" && touch "a b.stf" a.clk a.stf.f.0 a q.stf q.stf.f.0)
	# shellcheck disable=SC2016
	(cd "$dir/files" && bash -c '. "$1/tools/completion/vtreport"
		for cur in "a" "x"; do
			COMP_WORDS=(vtreport "$cur"); COMP_CWORD=1; _tickmark vtreport; printf "%s\n" "${COMPREPLY[@]}"
		done; COMP_WORDS=(vtreport --output a.s); COMP_CWORD=2; _tickmark vtreport; echo "${COMPREPLY[@]}"' - \
		"$(cd "$src" && pwd)") >"$dir/out" 2>&1
	printf '%s\n' "a b.stf" a.clk "a folder" "" a.stf.f.0 | diff - "$dir/out" >"$dir/diff"
	ok "vtreport is offered traces, .clk files and folders" $?
	for p in vtrun stftool; do
		[ -x "$build/$p" ] || continue
		# shellcheck disable=SC2016
		PATH="$build:$PATH" bash \
			-c \
			'. "$1/tools/completion/$2"; COMP_WORDS=("$2" --logfile-format P); COMP_CWORD=2; "_$2" "$2"; '\
'echo "${COMPREPLY[@]}"' - "$src" "$p" >"$dir/out" 2>&1
		[ "$(cat "$dir/out")" = "PAJE PERFETTO PARQUET" ]
		ok "$p --logfile-format is completed from the table of formats" $?
	done
	for p in "$src"/tools/completion/*; do
		p=${p##*/}
		[ "$p" = zsh ] || sed -n '1s/$/ /p' "$src/tools/completion/zsh/_tickmark" | grep -q " $p " ||
			echo "zsh: $p"
	done >"$dir/out"
	[ ! -s "$dir/out" ]
	ok "each program that bash completes is completed by zsh" $?
else
	skip "completion" "no bash"
fi

# a real zsh, with the Tab key
if command -v zsh >/dev/null; then
	complete() # complete LINE: what it becomes
	{
		PATH="$build:$PATH" timeout 60 zsh -f "$src/tests/lib/complete.zsh" "$src/tools/completion/zsh" "$1" \
			2>&1
	}
	for line in 'vttop --per|vttop --period=' 'timertestcs --check --max|timertestcs --check --max-age ' \
		'vtreport --com|vtreport --compare ' 'vtrun --altst|vtrun --altstack ' \
		"vtreport $dir/files/a.c|vtreport $dir/files/a.clk " \
		"vtreport $dir/files/q|vtreport $dir/files/q.stf "; do
		[ "$(complete "${line%|*}")" = "${line#*|}" ] || complete "${line%|*}"
	done >"$dir/out"
	[ ! -s "$dir/out" ]
	ok "zsh completes options" $?
else
	skip "zsh completes options" "no zsh"
fi
done_testing
