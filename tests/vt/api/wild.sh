#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs from the wild: the guide's own examples, calls as people write them, in C, C++ and Fortran, with each library
# by its pkg-config file; and their command lines without the collector's options. TAP.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
cd "$dir" || exit 99
flags() # flags LIBRARY: of its pkg-config file, if there is a pkg-config, as they are before it is installed
{
	if command -v pkg-config >/dev/null 2>&1; then
		PKG_CONFIG_PATH=$build/collector-plugin/api pkg-config --define-variable=libdir="$lib" \
			--define-variable=includedir="$include" \
			--cflags --libs "$1"
	else
		echo "-I$include -L$lib -l$1"
	fi
}

compile() # compile LIBRARY COMPILER... SOURCE: to ./NAME of the source
{
	library=$1
	shift
	for source in "$@"; do :; done
	name=${source##*/}
	name=${name%.*}
	# shellcheck disable=SC2046,SC2086
	"$@" $san -I"$src" -Wno-unused-command-line-argument -x none $(flags "$library") \
		-Wl,-rpath,"$lib" -o "$name" >out 2>&1
}

# ---- the guide's examples, and programs in C and C++ ----

compilers='-std=c99 -std=c11'
strict='-pedantic -Wall -Wextra -Werror'
back() # back TRACE: what was said is in the trace, no more of the program's own and no less
{
	LC_ALL=C sort say | awk '{ for (i = 6; i <= 8; i++) $i = tolower($i) } 1' >want
	"$build/tests/vt/lib/samples" "$1" 2>>out | grep -vE ' (Tickmark|OS|PERF_DATA|sampler):' | LC_ALL=C sort >have
	[ -s want ] && diff want have >>out && "$build/stftool" "$1" --verify >>out 2>&1
}

each() # each WHAT COMPILER...: the programs with each library; what they print is the same
{
	what=$1
	shift
	for l in VTcs VTnull; do
		expect compile $l "$@" "$here/api/programs/guide.c"
		expect ./guide >>out 2>&1
		verdict "$what: the guide's examples with -l$l"
		rm -f ./*.stf* ./*.prot say
		compile $l "$@" "$here/api/programs/wild_user.c" && SAY=$dir/say ./wild_user >"printed.$l" 2>>out &&
			if [ $l = VTnull ]; then cmp printed.VTcs printed.VTnull >>out &&
			! ls ./*.stf >/dev/null 2>&1; else back wild_user.stf; fi
		ok "$what: a program of others with -l$l" $?
	done
}

for std in $compilers; do
	# shellcheck disable=SC2086
	each "C, $std" ${CC:-cc} $std $strict -x c
done
if [ "${CXX:-no}" != no ]; then
	# shellcheck disable=SC2086
	each "C++" $CXX -std=c++11 $strict -x c++
else
	skip "C++" "no C++ compiler here (configure CXX=...)"
fi
if command -v clang >/dev/null 2>&1 && [ -z "$san" ]; then
	# shellcheck disable=SC2086
	each "C, clang" clang -std=c11 $strict -x c
else
	skip "clang" "no clang here, or the libraries are sanitized by gcc"
fi
rm -f ./*.stf* ./*.prot say
# shellcheck disable=SC2086
expect compile VTnull ${CC:-cc} -std=c99 -x c "$here/api/programs/wild_user.c"
SAY=$dir/say expect "$vtrun" -- ./wild_user >printed 2>>out
expect_same printed.VTcs printed
expect back wild_user.stf
verdict "linked with -lVTnull, and recorded because vtrun starts it"
if [ "${FC:-no}" != no ]; then
	for l in VTcs VTnull; do
		rm -f ./*.stf* ./*.prot say
		compile $l "$FC" -std=legacy -w "$here/api/programs/wild.f90" && SAY=$dir/say ./wild >>out 2>&1
		rc=$?
		if [ $l = VTnull ]; then [ $rc -eq 0 ] && ! ls ./*.stf >/dev/null 2>&1; else [ $rc -eq 0 ] &&
			back wild.stf; fi
		ok "Fortran: what programs in the wild do, with -l$l" $?
	done
else
	skip "Fortran" "no Fortran compiler here (configure FC=...)"
fi

# ---- the command line ----

see() # see WANT PROGRAM WORDS...: what the program prints of its words
{
	want=$1
	shift
	rm -f ./*.stf* ./*.prot
	timeout 60 "$@" >printed 2>>out
	rc=$?
	tr -d '\n' <printed >line
	echo >>line
	cat line >>out
	[ $rc -eq 0 ] && [ "$(cat line)" = "$want" ]
}

command_line() # command_line NAME STARTER...: with the words behind STARTER
{
	name=$1
	shift
	expect see '[a][b c]' "$@" a --itc-args --logfile-name 'my trace.stf' --verbose 2 --itc-args-end 'b c'
	expect [ -s 'my trace.stf' ]
	expect_line -x 'LOGFILE-NAME "my trace.stf"' 'my trace.prot'
	grep -B1 '^VERBOSE 2$' 'my trace.prot' | expect_line -x '# command line (--verbose)' -
	verdict "$name: --itc-args is taken out and heeded"
	expect see '[a]' "$@" a --itc-args --logfile-name end.stf
	expect [ -s end.stf ]
	expect see '[a]' "$@" a --itc-args
	expect see '[--itc-args-end][a]' "$@" --itc-args-end a
	expect see '[a][b]' "$@" --itc-args --itc-args-end a --itc-args --itc-args-end b
	expect see '' "$@"
	verdict "$name: without an end, empty, an end alone, twice, none"
	expect see '[a]' "$@" --itc-args --counter 'cpu_*' on --counter net_io on --group 'two words' 0 --process 0:N \
		off --process 0:0 --itc-args-end a
	expect grep -E '^(COUNTER|GROUP|PROCESS) ' ./*.prot >lines
	expect cat lines >>out
	expect printf '%s\n' 'COUNTER cpu_* on' 'COUNTER net_io on' 'GROUP "two words" 0' 'PROCESS 0:N off' \
		'PROCESS 0:0' >want
	expect_same want lines
	verdict "$name: options that are given several times, and blanks in a name"
	word=$(printf 'no\033[31m\nsecond\302\2331m')
	: >out
	# vtrun leaves such words out itself, and takes a longer value
	expect see '[a]' "$@" --itc-args "$word" "--verbose$word=$(head -c 5000 /dev/zero | tr '\0' x)" --itc-args-end a
	expect_line '^[A-Za-z ]*: --itc-args: .*no?\[31m?second??1m.* is no option.* left out$' out
	LC_ALL=C expect_no_line "$(printf '[\033\233]')" out
	verdict "$name: a hostile word is named in one line of text"
}

# shellcheck disable=SC2086
compile VTcs ${CC:-cc} -std=c99 $strict -x c "$here/api/programs/arguments.c" && command_line C ./arguments
command_line "C, by vtrun" "$vtrun" -- ./arguments
if [ "${FC:-no}" != no ]; then
	compile VTcs "$FC" -std=f2008 -cpp "$here/api/programs/arguments.f90"
	if ldd ./arguments 2>/dev/null | grep -q libgfortran; then
		command_line Fortran ./arguments
	else
		skip "Fortran: --itc-args" "not gfortran's run time, or not a shared one"
	fi
	command_line "Fortran, by vtrun" "$vtrun" -- ./arguments
fi

done_testing
