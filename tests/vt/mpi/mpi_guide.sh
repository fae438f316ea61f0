#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command lines of the Intel Trace Collector guide, unchanged, with share/tickmark/itac-env.sh in
# place of psxevars.sh. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
# an installation of this build, whose folder has a blank, and the compiler and launcher of its MPI
root="$dir/in stalled"
mkdir -p "$root/share/tickmark" "$root/lib/pkgconfig" bin
ln -s "$src/include" "$root/include"
ln -s "$lib"/*.so* "$root/lib"
mkdir -p "$root/libexec/tickmark"
ln -s "$build/vtsampler" "$root/libexec/tickmark/vtsampler"
ln -s "$src/contrib/itac/slib" "$src/contrib/itac/examples" "$root/share/tickmark"
ln -s "$build" "$root/bin"
sed "s|^VT_ROOT=.*|VT_ROOT='$root'|; s|^VT_LIB_DIR=.*|VT_LIB_DIR=\$VT_ROOT/lib|" \
	"$build/contrib/itac/itac-env.sh" >env.sh
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v "$MPIRUN")" >bin/mpirun
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v "$MPICC")" >bin/mpicc
cp bin/mpirun bin/mpiexec
chmod +x bin/*
mpi_compile "$MPICC" mpi/programs/mpi_messages.c myApp
PATH=$dir/bin:$PATH
shell=sh

typed() # typed LINE...: in a shell that has read itac-env.sh; output in out
{
	clean
	timeout 60 $shell -c '. ./env.sh && PATH=$0:$PATH && for line; do eval "$line" || exit; done' \
		"$dir/bin" "$@" >out 2>&1
	status=$?
}

kinds() # kinds TRACE: has it messages, and operations?
{
	"$build/stftool" "$1" --matched-vtf --dump 2>>out |
		awk '$2 == "MESSAGE" { m++ } $2 ~ /^COLL/ { c++ } END { print (m > 0) " " (c > 0) }'
}

for shell in sh bash; do
	command -v $shell >/dev/null 2>&1 || continue
	typed 'mpirun -trace -n 2 ./myApp 10 4'
	expect_status 0
	expect kinds myApp.stf >have
	expect_text "1 1" have
	verdict "$shell: mpirun -trace -n 2 ./myApp"
done
typed 'mpiexec -trace "libVT.so libmpi.so" -n 2 ./myApp 10 4' && expect one_trace myApp 2
verdict 'mpiexec -trace "libVT.so libmpi.so"'
typed 'mpirun -trace -n 2 -trace-collectives ./myApp 10 4'
expect kinds myApp.stf >have
expect_text "0 1" have
typed 'mpirun -n 2 -trace-pt2pt ./myApp 10 4'
expect kinds myApp.stf >have
expect_text "1 0" have
verdict "mpirun -trace-collectives and -trace-pt2pt"
# the option of one program of two is the job's; what follows a program is its own
if starts_several; then
	typed 'export VT_LOGFILE_NAME=both.stf' 'mpirun -trace -n 1 ./myApp 10 4 : -n 1 ./myApp 10 4'
	expect one_trace both 2
	verdict "two programs"
else
	skip "two programs" "$several_why"
fi
typed 'mpirun -n 1 echo -trace -check_mpi'
expect_line -x -- '-trace -check_mpi' out
[ ! -e myApp.stf ] || not_met "a program's own -trace starts no trace"
verdict "a program's own arguments"
typed 'mpirun -trace libVTfs.so -n 2 ./myApp 10 4'
expect_status 0
expect_line '^INFO .*' myApp.prot
typed 'export LD_PRELOAD=libVTfs.so' 'mpirun -n 2 ./myApp 10 4'
expect one_trace myApp 2
verdict "the fail-safe library, by -trace and by LD_PRELOAD"
for line in 'mpirun -check_mpi -n 2 ./myApp 10 4' 'mpirun -trace libVTmc.so -n 2 ./myApp 10 4'; do
	typed "$line"
	expect_status 0
	expect_line '^\[0\] INFO: 0 errors, 0 warnings in [0-9]* calls of 2 ranks$' out
	expect [ ! -e myApp.stf ]
done
typed 'export VT_CHECK_TRACING=on' 'mpirun -check_mpi -n 2 ./myApp 10 4'
expect_line '^\[0\] INFO: 0 errors, 0 warnings' out
expect one_trace myApp 2
verdict "the checker, without a trace and with CHECK-TRACING"

for line in 'mpirun -n 2 -trace-imbalance ./myApp 10 4' 'mpirun -trace libVTim.so -n 2 ./myApp 10 4' \
	'LD_PRELOAD=libVTim.so mpirun -n 2 ./myApp 10 4'; do
	typed "$line"
	expect one_trace myApp 2
	expect "$build/stftool" myApp.stf --dump >have 2>>out
	expect_line '^INFO .*TRACE-IMBALANCE.*' have
done
verdict "mpirun -trace-imbalance, and libVTim"

refuses() # refuses TEXT LINE: with status 2, and nothing runs
{
	typed "$2"
	expect_status 2
	expect_line -F -- "$1" out
	expect_no_line ' Tickmark INFO' out
}
refuses 'exclude each other' 'mpirun -trace-pt2pt -trace-collectives -n 2 ./myApp 10 4'
verdict "options without their library are errors"

# shellcheck disable=SC2089,SC2090
HERE="-I$src $here/mpi/programs"
export HERE
typed 'mpicc -I"$VT_ROOT/include" $HERE/mpi_log.c -o myLog -L"$VT_SLIB_DIR" -lVT $VT_ADD_LIBS -lm'
expect_status 0
expect_empty out
typed 'mpicc -o check_compatibility "$VT_ROOT/share/tickmark/examples/check_compatibility.c" -ldl' \
	'mpirun -n 1 ./check_compatibility'
expect_status 0
expect_line '^Compatible: ' out
verdict "a program with VT_ calls, and check_compatibility"

if [ -e /usr/include/papi.h ]; then
	mkdir sample
	cp "$src"/contrib/itac/slib/* sample
	# a software event, which the PAPI of this machine has if it knows the processor; a name of none is left out
	typed 'cd sample' "make -s CFLAGS='-DEVENTS=\"\\\"perf::PAGE-FAULTS\\\",\\\"NO_SUCH\\\"\"'" 'cd ..' \
		'export LD_LIBRARY_PATH=sample:$LD_LIBRARY_PATH VT_COUNTER="* off"' \
		'export LIBS="-lVTsample -lVT -lpapi $VT_ADD_LIBS"' \
		'mpicc $HERE/mpi_messages.c -I"$VT_ROOT/include" -L"$VT_SLIB_DIR" -Lsample $LIBS -o ctest' \
		'mpirun -n 2 ./ctest 10 4'
	expect_status 0
	expect_line 'VT_sample: NO_SUCH: .* (it is left out)' out
	if grep -q 'VT_sample: perf::PAGE-FAULTS: Event does not exist' out; then
		skip "libVTsample: counters of PAPI" "this PAPI does not know the processor"
	else
		expect "$build/stftool" ctest.stf --print-counters >have 2>>out
		expect_line 'perf::PAGE-FAULTS ' have
		verdict "libVTsample: counters of PAPI"
	fi
else
	skip "libVTsample" "there is no papi.h"
fi
done_testing
