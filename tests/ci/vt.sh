#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The collector for MPI jobs: programs from Debian, 50 kills, threads that are cancelled at 20,000 points, threads of the VT interface under
# ThreadSanitizer, and the same tests with MPICH.
# shellcheck source=lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
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
vt_tests real.sh kill.sh
POINTS=20000 SECONDS_OF_SIGNALS=60 ENDS=400
export POINTS SECONDS_OF_SIGNALS ENDS
vt_tests points.sh
unset POINTS SECONDS_OF_SIGNALS ENDS
CALM=1
export CALM
vt_tests mpi.sh
unset CALM

if command -v mpicc.mpich >/dev/null 2>&1; then
	# a name, as the shell would find it; its launcher is found with it
	configured mpich CC=gcc MPICC=mpicc.mpich
	step "mpich: its compiler and its launcher were taken" \
		sh -c 'grep -q "^MPICC = .*/mpicc.mpich$" Makefile && grep -q "^MPIRUN = .*/mpirun.mpich$" Makefile'
	step "mpich: make" make -j"$jobs"
	vt_tests api.sh mpi.sh mpi_wild.sh mpi_config.sh mpi_steps.sh mpi_sync.sh hosts.sh mpi_hosts.sh real.sh mpi_table.sh mpi_messages.sh mpi_rare.sh mpi_files.sh mpi_statistics.sh mpi_bad.sh kill.sh
	step "mpich: jobs that end badly" env ENDINGS_BUILD="$PWD" ENDINGS_JOBS=2 sh "$top/tests/ci/endings.sh" '? host*'
else
	echo "skipped: no MPICH here (package mpich, libmpich-dev)"
fi

# Every program of values.sh, also where vtrun puts the library into it; what is reported must not be in a program whose exit
# status nobody looks at.
configured tsan CC=gcc CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=thread" --without-mpi
step "tsan: make" make -j"$jobs" libVTcs.la libVTnull.la vtrun vtcounters stftool xstftool tests/vt/samples
quiet()
{
	rm -f "$work"/report.*
	"$@" || return 1
	! cat "$work"/report.* 2>/dev/null
}
top_builddir=$PWD top_srcdir=$top CC=gcc CFLAGS=-fsanitize=thread CXX=$(command -v g++ || echo no) FC=$(command -v gfortran || echo no)
TSAN_OPTIONS="exitcode=66 report_thread_leaks=0 log_path=$work/report suppressions=$top/tests/ci/tsan.supp"
export top_builddir top_srcdir CC CFLAGS CXX FC TSAN_OPTIONS
step "tsan: VT calls from one thread, four and eight" quiet sh "$top/tests/vt/values.sh"
step "tsan: counters of process and threads at events" quiet sh "$top/tests/vt/events.sh"
# two threads read one set of counters
step "tsan: compile events" gcc -fsanitize=thread -g -std=c99 -D_GNU_SOURCE -I"$top/collector-plugin/api" "$top/tests/vt/events.c" -L.libs \
	-lVTcs -Wl,-rpath,"$PWD/.libs" -pthread -o events
printf 'COUNTER perf_task_clock on\nCOUNTER thread_run on\nSAMPLE-PERIOD 1ms\nSAMPLE-BUDGET 100%%\n' >"$work/conf"
step "tsan: events" quiet env VT_CONFIG="$work/conf" VT_LOGFILE_NAME="$work/tsan.stf" VT_FORCE=on ./events slow
