#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 200 MPI jobs on clocks that nobody sets, of more ranks than processing units, half of them beside busy loops: no step
# is reported, and the truth is inside every bound. JOBS_BUILD is a folder that is built already (default: a new one).
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need gcc
need mpirun
each=${JOBS_EACH:-100}
if [ -n "${JOBS_BUILD:-}" ]; then
	cd "$JOBS_BUILD" || exit 99
else
	configured jobs CC=gcc
	step "jobs: make" make -j"$jobs"
	step "jobs: clk_truth" make tests/ci/lib/clk_truth
fi
build=$PWD
MPICC=$(sed -n 's/^MPICC = //p' Makefile) MPIRUN=$(sed -n 's/^MPIRUN = //p' Makefile)
step "jobs: the program" "$MPICC" -g -I"$top/include" "$top/tests/vt/clocks/programs/mpi_sync.c" -o "$work/sync" \
	-L.libs -lVT -Wl,-rpath,"$build/.libs" -ldl
. "$top/tests/lib/launcher.sh"
OMPI_MCA_mpi_yield_when_idle=1
VT_SYNCED_HOST=off VT_TIMER='sim:base=CPU,offset={rank}ms,drift={rank}0ppm,tick=3ns' VT_COUNTER='** off' VT_FORCE=on
export OMPI_MCA_mpi_yield_when_idle VT_SYNCED_HOST VT_TIMER VT_COUNTER VT_FORCE
loops=
# shellcheck disable=SC2086
trap 'kill $loops 2>/dev/null; chmod -R u+w "$work"; rm -rf "$work"' EXIT

one_job() # one_job RANKS: its largest error goes to errors
{
	rm -f job.*
	VT_LOGFILE_NAME=$work/job.stf timeout 300 "$MPIRUN" -np "$1" ./sync 6 20 >out 2>&1 || { cat out; return 1; }
	"$build/tests/ci/lib/clk_truth" job.clk >truths 2>&1 || { cat truths; return 1; }
	awk '/ us off/ { most = $7 > most ? $7 : most } END { print most * 1000 }' truths >>errors
	if grep '^step ' job.clk || grep 'stepped against' out || ! grep -q ': unchanged' out ||
		grep '^changed' out; then
		return 1
	fi
}

# A job of 150 s learns the rate of rank 1, which runs fast by 10 ppm, and the rate that is stated is right. Shorter
# ones learn less than is assumed, 1 ppm.
learned()
{
	rm -f job.*
	VT_LEARN_DRIFT=on VT_LOGFILE_NAME=$work/job.stf timeout 300 "$MPIRUN" -np 2 ./sync 150 1000 >out 2>&1 ||
		{ cat out; return 1; }
	awk '$1 == "piece" && !scale { scale = $5 / $4 }
		$1 == "learned-rate" { n++; rate = scale / (1 + 10e-6); good += $2 < rate && rate < $3; print }
		END { exit !(n == 1 && good == 1) }' job.clk
}

all_jobs() # all_jobs LOAD: all of them, so that it is known how many are wrong
{
	rm -f errors
	n=0 wrong=0
	while [ $n -lt "$each" ]; do
		one_job $((n % 2 ? 8 : 4)) || wrong=$((wrong + 1))
		n=$((n + 1))
	done
	sort -g errors | awk -v load="$1" '{ v[NR] = $1 } END {
		printf "# %d jobs, %s: true error %g ns (median), %g (nine tenths), %g (worst)\n", NR, load,
		v[int((NR + 1) / 2)], v[int(NR * 0.9)], v[NR] }'
	echo "# $wrong of $n wrong"
	[ $wrong -eq 0 ]
}

cd "$work" || exit 99
step "jobs: LEARN-DRIFT" learned
step "jobs: $each of them" all_jobs idle
grep '^# ' log
i=0
while [ $i -lt $(($(getconf _NPROCESSORS_ONLN) * 3 / 2)) ]; do
	sh -c 'while :; do :; done' &
	loops="$loops $!"
	i=$((i + 1))
done
step "jobs: $each of them beside busy loops" all_jobs busy
grep '^# ' log
