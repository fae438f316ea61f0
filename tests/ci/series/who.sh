#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The line about the rank that the others wait for, of 50 jobs in which one rank is slow, which it must name, and 50 of
# the same jobs without it, in which it must name nobody: 16 shapes, 2 to 64 ranks. Each prints a line, the last one
# counts. Where the ranks were ready to run for 40 % of the time without a processor, and a line says so, a name
# that is missing is not wrong: these are counted apart, and at most a fifth may be so. WHO_BUILD is a folder that is
# built already (default: a new one), WHO_JOBS the number of jobs of each kind, WHO_FIRST the first one's number,
# WHO_BUSY=1: beside as many busy loops as there are processing units, WHO_KEEP=PATH: wrong ones are kept in PATH.N.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need gcc
need mpirun
all=${WHO_JOBS:-50} first=${WHO_FIRST:-0}
if [ -n "${WHO_BUILD:-}" ]; then
	cd "$WHO_BUILD" || exit 99
else
	configured who CC=gcc
	step "who: make" make -j"$jobs"
fi
build=$PWD
MPICC=$(sed -n 's/^MPICC = //p' Makefile) MPIRUN=$(sed -n 's/^MPIRUN = //p' Makefile)
step "who: the program" "$MPICC" -g -O1 -fopenmp "$top/tests/ci/series/who.c" -o "$work/who"
. "$top/tests/lib/launcher.sh"
cd "$work" || exit 99
loops=
# shellcheck disable=SC2086
trap 'kill $loops 2>/dev/null; chmod -R u+w "$work"; rm -rf "$work"' EXIT
if [ "${WHO_BUSY:-0}" = 1 ]; then
	for i in $(seq "$(nproc)"); do
		sh -c 'while :; do :; done' &
		loops="$loops $!"
	done
fi

# "shape ranks slow base extra" of job number $1; work and delay in ms, longer with more ranks
job()
{
	./who | awk -v k="$1" '{ shape[NR - 1] = $1 }
		END {
			n = split("4 8 2 16 6 32 3 12 24 64", ranks, " ")
			s = shape[k % NR]
			of = ranks[(7 * k + int(k / NR)) % n + 1]
			of = s == "master" && of < 4 ? 4 : of
			slow = (k * 2654435761 % 4294967296) % of
			print s, of, s == "master" && !slow ? 1 : slow, 10 + of / 2, 60 + 6 * of
		}'
}

named=0 hindered=0 false=0 n=$first
while [ $n -lt $((first + all)) ]; do
	# shellcheck disable=SC2046
	set -- $(job $n)
	for slow in "$3" -1; do
		VT_FORCE=on VT_LOGFILE_NAME=$work/job.stf timeout 300 "$MPIRUN" -np "$2" "$build/vtrun" -- \
			./who "$1" 10 "$4" "$5" "$slow" >out 2>&1 || { cat out; exit 1; }
		line=$(sed -n 's/.*Tickmark INFO: \(.* makes* the others wait.*\)/\1/p' out)
		got=$(echo "$line" | sed -n 's/^rank \([0-9]*\) makes.*/\1/p')
		verdict=right
		if [ "$slow" = -1 ]; then
			[ -z "$got" ] || { false=$((false + 1)) verdict=FALSE; }
		elif [ "$got" = "$slow" ]; then
			named=$((named + 1))
		elif grep -qE 'ready to run for ([4-9][0-9]|100) % of the time' out; then
			hindered=$((hindered + 1)) verdict=hindered
		else
			verdict=MISSED
		fi
		echo "$verdict: job $n, $1 of $2 ranks, slow $slow: $line"
		if [ "$verdict" != right ] && [ -n "${WHO_KEEP:-}" ]; then
			mkdir -p "$WHO_KEEP.$n" && cp job.stf* "$WHO_KEEP.$n"
		fi
	done
	n=$((n + 1))
done
for shape in $(./who even); do
	VT_FORCE=on VT_LOGFILE_NAME=$work/job.stf timeout 300 "$MPIRUN" -np 4 "$build/vtrun" -- \
		./who "$shape" 24 30 0 -1 >out 2>&1 || { cat out; exit 1; }
	line=$(sed -n 's/.*Tickmark INFO: \(.* makes* the others wait.*\)/\1/p' out)
	case $line in
	"rank "[0-9]*" makes"*) false=$((false + 1)) && echo "FALSE: $shape of 4 ranks: $line" ;;
	*) echo "right: $shape of 4 ranks: $line" ;;
	esac
done
echo "named $named of $all slow ranks, $hindered for want of processors not; $false false names in $all even jobs"
[ $((named + hindered)) = "$all" ] && [ $((5 * hindered)) -le "$all" ] && [ $false = 0 ]
