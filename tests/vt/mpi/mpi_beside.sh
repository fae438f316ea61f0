#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a program does with MPI by dlopen(), after MPI_Finalize and in call-backs of it is not recorded, and one line
# says so. TAP.
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
mpi_compile "$MPICC" mpi/programs/beside.c linked -DLINKED
# shellcheck disable=SC2086
"$MPICC" $san -g -c "$here/mpi/programs/beside.c" -o beside.o && ${CC:-cc} $san beside.o -o loading -ldl || exit 99
library=$(ldd ./linked | sed -n 's/^[^a-z]*\(libmpi[a-z_]*\.so\.[0-9]*\) .*/\1/p' | head -n 1)

run() # run PROGRAM ARGUMENT
{
	clean
	timeout 60 "$MPIRUN" -np 2 "$vtrun" -- "./$1" "$2" >say 2>&1
	status=$?
	cat say >>out
	expect_status 0
}

run loading "$library"
expect [ "$(grep -c 'the MPI calls of .* are not recorded' say)" -eq 1 ]
verdict "MPI by dlopen"
printf 'int PMPI_Initialized(int *flag) { *flag = IS; return 0; }\n' >mpi.c
{
	echo '#include <dlfcn.h>'
	echo 'int main(int n, char **v) { while (*++v) if (!dlopen(*v, RTLD_NOW)) return 1; return 0; }'
} >opens.c
# shellcheck disable=SC2086
${CC:-cc} $san -shared -fPIC -DIS=1 -Wl,-soname,libmpi_abi.so.1 mpi.c -o libmpi_abi.so.1 &&
	${CC:-cc} $san -shared -fPIC -DIS=0 -Wl,-soname,libmpich.so.12 mpi.c -o libmpich.so.12 &&
	${CC:-cc} $san opens.c -o opens -ldl || exit 99
for libraries in ./libmpi_abi.so.1 './libmpich.so.12 ./libmpi_abi.so.1'; do
	# shellcheck disable=SC2086
	expect "$vtrun" -- ./opens $libraries >say 2>&1
	cat say >>out
	expect_line 'the MPI calls of .* are not recorded .* it reaches libmpi_abi.so.1 without' say
done
expect "$vtrun" -- ./opens ./libmpich.so.12 >say 2>&1
expect_no_line 'not recorded' say
verdict "so is that of the MPI ABI, also beside a library that is not initialised"
run linked inside
outside='1 call of MPI sessions, or otherwise outside .*call-backs of MPI_Finalize: not recorded'
expect [ "$(grep -c "$outside" say)" -eq 1 ]
verdict "a call-back of MPI_Finalize"
run linked after
expect [ "$(grep -c 'the trace ends in MPI_Finalize: the [1-9].* s after it are not recorded' say)" -eq 1 ]
verdict "work after MPI_Finalize"
run linked ""
expect_not grep 'not recorded' say
verdict "a program without these has no such line"
# at the end of each process, of each followed child, too
LD_DEBUG=libs "$vtrun" -- true >say 2>&1
expect_not grep 'find library=libmpi' say
verdict "a program without MPI looks for no library of MPI at its end"
done_testing
