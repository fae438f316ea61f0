#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The collector for MPI jobs: programs from Debian, 50 kills, threads that are cancelled at 20,000 points, threads of
# the VT interface under ThreadSanitizer, and the same tests with MPICH.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need gcc
need mpirun

vt_tests() # vt_tests SCRIPT...: in the build that is the current folder
{
	for script in "$@"; do
		step "$script" make check TESTS="tests/vt/$script"
		grep -a '^ok .*# SKIP' "tests/vt/${script%.sh}.log" || [ $? -eq 1 ] || exit 1
	done
}

configured openmpi CC=gcc
step "make" make -j"$jobs"
vt_tests mpi/real.sh ends/kill.sh
POINTS=20000 SECONDS_OF_SIGNALS=60 ENDS=400
export POINTS SECONDS_OF_SIGNALS ENDS
vt_tests api/points.sh
unset POINTS SECONDS_OF_SIGNALS ENDS
CALM=1
export CALM
vt_tests mpi/mpi.sh
unset CALM

if command -v mpicc.mpich >/dev/null 2>&1; then
	# a name, as the shell would find it; its launcher is found with it
	configured mpich CC=gcc MPICC=mpicc.mpich
	step "mpich: its compiler and its launcher were taken" \
		sh -c 'grep -q "^MPICC = .*/mpicc.mpich$" Makefile && grep -q "^MPIRUN = .*/mpirun.mpich$" Makefile'
	step "mpich: make" make -j"$jobs"
	vt_tests api/api.sh mpi/mpi.sh mpi/mpi_wild.sh mpi/mpi_config.sh clocks/mpi_steps.sh clocks/mpi_sync.sh \
		clocks/hosts.sh mpi/mpi_hosts.sh mpi/real.sh mpi/mpi_table.sh mpi/mpi_messages.sh mpi/mpi_rare.sh \
		mpi/mpi_files.sh mpi/mpi_statistics.sh mpi/mpi_bad.sh ends/kill.sh
	step "mpich: jobs that end badly" env ENDINGS_BUILD="$PWD" ENDINGS_JOBS=2 sh "$top/tests/ci/series/endings.sh" \
		'? host*'
else
	echo "skipped: no MPICH here (package mpich, libmpich-dev)"
fi

# Every program of values.sh, also where vtrun puts the library into it; what is reported must not be in a program whose
# exit status nobody looks at.
configured tsan CC=gcc CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=thread" --without-mpi
step "tsan: make" make -j"$jobs" libVTcs.la libVTnull.la vtrun vtcounters stftool xstftool tests/vt/lib/samples
quiet()
{
	rm -f "$work"/report.*
	"$@" || return 1
	! cat "$work"/report.* 2>/dev/null
}
top_builddir=$PWD top_srcdir=$top CC=gcc CFLAGS=-fsanitize=thread CXX=$(command -v g++ || echo no) \
	FC=$(command -v gfortran || echo no)
TSAN_OPTIONS="exitcode=66 report_thread_leaks=0 log_path=$work/report suppressions=$top/tests/ci/lib/tsan.supp"
export top_builddir top_srcdir CC CFLAGS CXX FC TSAN_OPTIONS
step "tsan: VT calls from one thread, four and eight" quiet sh "$top/tests/vt/api/values.sh"
step "tsan: counters of process and threads at events" quiet sh "$top/tests/vt/api/events.sh"
# two threads read one set of counters
step "tsan: compile events" gcc -fsanitize=thread -g -std=c99 -D_GNU_SOURCE -I"$top/include" \
	"$top/tests/vt/api/programs/events.c" -L.libs \
	-lVTcs -Wl,-rpath,"$PWD/.libs" -pthread -o events
printf 'COUNTER perf_task_clock on\nCOUNTER thread_run on\nSAMPLE-PERIOD 1ms\nSAMPLE-BUDGET 100%%\n' >"$work/conf"
step "tsan: events" quiet env VT_CONFIG="$work/conf" VT_LOGFILE_NAME="$work/tsan.stf" VT_FORCE=on ./events slow
