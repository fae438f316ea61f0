#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bytes of MPI-IO and of one-sided operations, in C and Fortran, compared with what the programs know. TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
VT_COUNTER='** off'
export VT_COUNTER

transfers() # transfers TRACE: "rank function READ|WRITE bytes file"
{
	"$build/stftool" "$1" --dump 2>>out >dump
	awk -v ranks=1 -f "$here/lib/io.awk" dump | LC_ALL=C sort
}

mpi_compile "$MPICC" mpi/programs/mpi_files.c files
rm -f truth.* 'a file'
run 2 ./files 'a file' && transfers files.stf >have
LC_ALL=C sort truth.* >want
expect [ -s want ]
expect_same want have
expect "$build/stftool" files.stf --verify >>out 2>&1
verdict "each transfer of MPI-IO and of one-sided operations with its bytes, file or window"
grep -qx 'DEFIOFILE [0-9]* "a file" COMM [1-9][0-9]*' dump
ok "a file belongs to the communicator that opened it" $?
awk -f "$here/lib/io_ends.awk" dump | LC_ALL=C sort | uniq -c | sed 's/^ *//' >have
printf '%s\n' '2 MPI_File_iread_at MPI_Wait' '4 MPI_File_iread_at MPI_Waitall' '2 MPI_File_iwrite_at MPI_Test' >want
expect_same want have
verdict "a transfer with a request ends in the call that completes it"
run 2 ./files serialized 'a file' && transfers files.stf >have
LC_ALL=C sort truth.* >want
expect_same want have
verdict "also where another thread waits for the request, one at a time"
VT_STATISTICS=on VT_PROCESS='0:N off'
export VT_STATISTICS VT_PROCESS
run 2 ./files 'a file' && "$build/stftool" files.stf --print-statistics >statistics 2>>out
[ "$(awk -F: '$3 == "0xffffffff" && $4 == 1000 { n += $6 } $4 == 80 { w += $6 }
	END { print n + 0, w + 0 }' statistics)" = "2 2" ]
ok "statistics count them without a trace" $?
unset VT_STATISTICS VT_PROCESS
cat >want <<END
0 MPI_File_read READ 120 fortran file
0 MPI_File_write_at WRITE 400 fortran file
0 MPI_Put WRITE 100 window 1 of rank 1
1 MPI_File_read READ 120 fortran file
1 MPI_File_write_at WRITE 400 fortran file
1 MPI_Put WRITE 100 window 1 of rank 0
END
mpifort=$(echo "$MPICC" | sed "s/mpicc\([^/]*\)$/mpifort\1/")
for flags in "" -DF08; do
	if [ "${FC:-no}" = no ] || ! mpi_compile "$mpifort" mpi/fortran/mpi_files.F90 fortran $flags -lVT; then
		skip "in Fortran ${flags:-with the module mpi}" "the program does not compile: $(head -1 out)"
		continue
	fi
	rm -f 'fortran file'
	expect run 2 ./fortran
	expect transfers fortran.stf >have
	expect_same want have
	verdict "in Fortran ${flags:-with the module mpi}"
done
# counters of the process and of the node have classes and instances in one range of numbers
if [ -z "$(sed -n 's/^#define HAVE_OTF2 1/1/p' "$build/config.h")" ] || ! command -v otf2-print >/dev/null 2>&1; then
	skip "otf2-print reads the transfers without a warning" "this build has no OTF2, or there is no otf2-print here"
else
	unset VT_COUNTER
	run 2 ./files 'a file' && "$build/stftool" files.stf --convert other.otf2 --force >>out 2>&1 &&
		otf2-print other.otf2/traces.otf2 >print 2>warnings
	cat warnings >>out
	expect_empty warnings
	expect_lines "$(cat truth.* | wc -l)" '^IO_OPERATION_COMPLETE ' print
	verdict "otf2-print reads the transfers without a warning"
fi
done_testing
