#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP regions as functions of class OMP, with GCC's run-time library and with LLVM's: what programs know of
# themselves. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
programs=$here/openmp/programs

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "calls of libgomp are not recorded on this kind of machine" ;;
esac
[ -z "$san" ] || skip_all "libgomp and libomp are not sanitized"

record() # record OPTIONS -- PROGRAM ARGUMENTS: $dir/states gets the time in each function
{
	rm -f "$dir"/t.*
	timeout 100 "$vtrun" --logfile-name "$dir/t.stf" "$@" >"$dir/out" 2>"$dir/err" </dev/null &&
		"$build/stftool" "$dir/t.stf" --dump >"$dir/dump" &&
		"$build/stftool" "$dir/t.stf" --verify >/dev/null 2>&1 &&
		awk -f "$here/openmp/states.awk" "$dir/dump" >"$dir/states"
}

calls() # calls FUNCTION: of all threads
{
	awk -v f="OMP:$1" '$1 == f { n += $3 } END { print n + 0 }' "$dir/states"
}

# the program measures a little less than the states: from before the barrier to after it, 0.3 ms for 10 of each
waits_as_said()
{
	awk 'NR == FNR { said[$1 " " $2] = $3; next } { sub(/^OMP:/, ""); is[$1 " " $2] = $4 }
		END {
			for (i in said) {
				d = is[i] - said[i]; d = d < 0 ? -d : d
				if (!(i in is) || d > 0.05 * said[i] + 0.0003) {
					print i ": " is[i] " s, but the program measured " said[i] " s"
					bad = 1
				}
			}
			exit bad
		}' "$dir/out" "$dir/states" >"$dir/diff"
}

for compiler in "${CC:-gcc}" clang; do
	if ! "$compiler" -O2 -g -fopenmp -o "$dir/unequal" "$programs/unequal.c" 2>"$dir/err" ||
		! "$compiler" -O2 -g -fopenmp -o "$dir/constructs" "$programs/constructs.c" 2>>"$dir/err"; then
		skip "OpenMP with $compiler" "$compiler -fopenmp does not work here"
		continue
	fi
	for how in spin sleep; do
		# under load a thread may lose its processor between its own reading of the time and ours
		for try in 1 2 3 4 5; do
			record -- "$dir/unequal" 4 10 "$how" && waits_as_said && break
		done
		expect waits_as_said
		expect_line '^CPUNAMES "unequal" "OMP 1" "OMP 2" "OMP 3"' "$dir/dump"
		verdict "$compiler: each thread's waiting at barriers is what it measured ($how)"
	done
	line=$(grep -n 'pragma omp parallel' "$programs/unequal.c" | cut -d: -f1)
	expect_line "^DEFSCL .* LINE 1 $line " "$dir/dump"
	line=$(grep -n 'pragma omp barrier' "$programs/unequal.c" | cut -d: -f1)
	expect_line "^DEFSCL .* LINE 1 $line " "$dir/dump"
	verdict "$compiler: source lines of the constructs"

	expect record -- "$dir/constructs" 4 3
	# GCC has no call in masked and distribute, and one in scopes with task reductions only, from 12 on
	case $("$compiler" -dM -E -x c - </dev/null | sed -n 's/^#define \(__clang__\|__GNUC__\) //p' | tr '\n' ' ') in
	*' 1 ' | '1 '*) own='masked:3 distribute:3' ;;
	[4-9]' ' | 1[01]' ') own='parallel:66' ;;
	*) own='parallel:66 scope:12' ;;
	esac
	for f in $own implicit_barrier:66 sections:24 single:7 task:105 taskwait:39 taskloop:3 critical:24 \
		critical_wait:24 ordered:24 ordered_wait:24; do
		expect [ "$f" = "${f%:*}:$(calls "${f%:*}")" ]
	done
	expect [ "$(calls parallel)" -ge 66 ]
	for f in loop barrier lock_wait taskgroup; do
		expect [ "$(calls "$f")" -ge 3 ]
	done
	verdict "$compiler: each construct is seen, so often as the program runs it"

	expect record --activity "OMP OFF" -- "$dir/constructs" 4 1
	expect_no_line 'OMP' "$dir/dump"
	verdict "$compiler: ACTIVITY OMP OFF"
done

library=$("${CC:-gcc}" -print-file-name=libgomp.so.1)
if [ -e "$library" ]; then
	list=$src/collector-plugin/openmp/not_wrapped.list
	sed -n 's/^CALL([A-Z_]*, \(GOMP_[a-z0-9_]*\),.*/\1/p' "$src/collector-plugin/openmp/calls.def" |
		sort >"$dir/wrapped"
	sed '/^#/d; s/\t.*//' "$list" >"$dir/patterns"
	nm -D --defined-only "$library" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | grep '^GOMP_[a-z]' |
		sort -u >"$dir/exported"
	comm -23 "$dir/exported" "$dir/wrapped" | grep -vxE -f "$dir/patterns" >"$dir/out"
	expect [ "$(wc -l <"$dir/exported")" -gt 100 ]
	expect_empty "$dir/out"
	grep -xE -f "$dir/patterns" "$dir/wrapped" >"$dir/both"
	expect_empty "$dir/both"
	expect_no_line -E '^[^#	]*(	.{0,5})?$' "$list"
	verdict "each GOMP_ function of libgomp is in the table, or named with the reason why not"
else
	skip "each GOMP_ function of libgomp is in the table" "${CC:-gcc} names no libgomp"
fi

if [ -e "$lib/libVT.so" ] && [ "${MPIRUN:-no}" != no ] &&
	"$MPICC" -O2 -g -fopenmp -DWITH_MPI -o "$dir/hybrid" "$programs/constructs.c" >"$dir/err" 2>&1; then
	# shellcheck source=../../lib/launcher.sh source-path=SCRIPTDIR
	. "$src/tests/lib/launcher.sh"
	cd "$dir" || exit 99
	timeout 100 "$MPIRUN" -np 2 "$vtrun" --logfile-name hybrid.stf -- ./hybrid 2 2 >out 2>err </dev/null
	expect [ $? -eq 0 ]
	expect_trace hybrid.stf && "$build/stftool" hybrid.stf --dump >dump
	# the ranks do the same: each function of OMP twice as often as in the first of them
	awk '$1 == "DEFCLASS" { class[$2] = $0 ~ /"OMP"/ } $1 == "DEFFUNCTION" { omp[$2] = class[$NF] ? $0 : "" }
		$2 == "ENTER" && omp[$6] ~ /"(parallel|single|sections|critical)"/ { n[$4 % 65536]++ }
		END { for (p in n) { print p, n[p] } }' dump | sort >ranks
	expect [ "$(wc -l <ranks)" -eq 2 ]
	expect [ "$(cut -d ' ' -f 2 ranks | sort -u | wc -l)" -eq 1 ]
	expect_line '"MPI_Finalize"' dump
	cat ranks >>out
	verdict "a job of MPI and OpenMP: both ranks have the regions that they run"
else
	skip "a job of MPI and OpenMP" "this build has no MPI, or there is no mpirun"
fi
done_testing
