#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# STOPFILE-NAME: a program or a job ends when the file is there, leaves its trace, and the file is removed. With libVTfs
# the first error of MPI ends the job, whatever handlers the program installs. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" ends/programs/errors.c fails -lVTfs
mpi_compile "$MPICC" ends/programs/errors.c goes_on -lVT

# stops NAME FILE COMMAND...: FILE is made when the program runs; the program ends by it and leaves a sound trace
stops()
{
	name=$1 file=$2
	shift 2
	clean
	rm -f begun ended
	timeout 60 "$@" >say 2>&1 &
	pid=$!
	expect wait_for 30 [ -e begun ]
	: >"$file"
	wait $pid 2>/dev/null
	status=$?
	expect wait_for 30 no_raw_files
	cat say >>out
	expect [ "$status" -ne 124 ]
	expect [ ! -e "$file" ]
	expect [ ! -e ended ]
	expect "$build/stftool" "$name.stf" --verify >>out 2>&1
	expect_line "^INFO ENDED .*by the sampler process: the stop file .*$(basename "$file") was there" "$name.prot"
	expect_line "Tickmark INFO: the stop file .*$(basename "$file") is there: the program is stopped" say
}
mkdir -p "a folder"
printf '#!/bin/sh\n: >begun\nsleep 40\n: >ended\n' >sleeps
chmod +x sleeps
stops t stop "$vtrun" --stopfile-name stop --logfile-name t.stf -- ./sleeps
verdict "a script ends; a relative name is beside the trace"
stops t "$dir/a folder/halt é" "$vtrun" --stopfile-name "$dir/a folder/halt é" --logfile-name t.stf \
	--counter '* off' -- ./sleeps
verdict "a name with a blank and UTF-8, and no counters"
printf '#!/bin/sh\ntrap "" TERM INT\n: >begun\nsleep 40 & wait\nsleep 40\n: >ended\n' >deaf
chmod +x deaf
stops t stop "$vtrun" --stopfile-name stop --logfile-name t.stf -- ./deaf
verdict "a program that ignores SIGTERM is killed"
if [ -z "$san" ]; then
	VT_STOPFILE_NAME=stop stops goes_on stop "$MPIRUN" -np 2 ./goes_on wait
	verdict "a job of two ranks, libVT"
fi
clean
timeout 60 "$vtrun" --stopfile-name nowhere/stop --logfile-name t.stf -- sh -c 'sleep 0.7; echo end' >say 2>&1
expect_line '^end$' say
clean
timeout 60 "$vtrun" --stopfile-name stop --sampler thread --logfile-name t.stf -- sh -c 'echo end' >say 2>&1
expect_line '^end$' say
expect_line 'WARNING: STOPFILE-NAME has no effect: ' say
verdict "no file: the program goes on; no sampler process: a warning says so"

errors() # errors PROGRAM KIND: output in say
{
	clean
	timeout 60 "$MPIRUN" -np 2 ./"$@" >say 2>&1
	status=$?
	expect wait_for 30 no_raw_files
	cat say >>out
}
for kind in comm file win; do
	errors goes_on $kind
	expect_status 0
	expect_lines 2 "went on after the error" say
	expect_no_line 'error handlers of MPI are not installed' say
	errors fails $kind
	expect [ "$status" -ne 0 ]
	expect [ "$status" -ne 124 ]
	expect_no_line "went on after the error" say
	expect_lines 1 'error handlers of MPI are not installed' say
	expect "$build/stftool" fails.stf --verify >>out 2>&1
	expect "$build/stftool" fails.stf --dump >dump 2>>out
	expect_line 'MPI_Barrier' dump
	verdict "libVTfs: an error of MPI ends the job and leaves a trace, libVT: the program's handler decides ($kind)"
done
mpifort=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/mpifort\1/')
sed '/mpif.h/d; s/^ *implicit none/  use mpi_f08\n&/' "$here/ends/programs/errors.f90" >errors_f08.f90
for from in "$here/ends/programs/errors.f90" errors_f08.f90; do
	if [ "${FC:-no}" = no ] || ! "$mpifort" $san "$from" -o plain >out 2>&1; then
		skip "$(basename "$from")" "no mpifort, or no Fortran compiler, here"
		continue
	fi
	for l in VT VTfs; do
		printf '#!/bin/sh\nLD_PRELOAD="%s" exec ./plain\n' "$lib/lib$l.so" >with_$l
		chmod +x with_$l
	done
	errors with_VT
	expect_lines 2 "went on" say
	errors with_VTfs
	expect [ "$status" -ne 0 ]
	expect_no_line "went on" say
	# the linker drops MPI's Fortran library, whose names libVTfs has: the calls must get there all the same
	"$mpifort" $san "$from" -o linked -Wl,--as-needed -L"$lib" -Wl,-rpath,"$lib" -lVTfs >out 2>&1
	errors linked
	expect [ "$status" -ne 0 ]
	expect_no_line "went on" say
	expect one_trace linked 2
	verdict "$(basename "$from")"
done
done_testing
