#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of the MPI ABI: vtrun takes libVTabi.so for them and says so where there is none; and compiled with either
# header, run on either library, they are all recorded by this one file. ABI_ROUNDS: rounds of random communication.
# TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
VT_COUNTER='** off'
export VT_COUNTER
cc=${CC:-cc}

# the ABI leaves out the handles of Fortran; also without its header here, what libVTabi.so says instead is complete
grep -ohE 'PMPI_[A-Za-z]+_(f2c|c2f)\b' "$src"/collector-plugin/mpi/*.c "$src"/collector-plugin/mpi/*.h |
	LC_ALL=C sort -u >wanted
sed -n 's/^#define \(PMPI_[A-Za-z]*_[cf]2[cf]\).*/\1/p' "$src/collector-plugin/mpi/abi/mpi.h" | LC_ALL=C sort -u >had
LC_ALL=C comm -23 wanted had >lacking
expect [ -s wanted ]
expect_empty lacking
verdict "mpi/abi/mpi.h has each handle of Fortran that collector-plugin/mpi converts"

# a library of that name whose calls, those of libVTabi.so, do nothing, and a program that only names it
mkdir stub own
nm -D --undefined-only "$lib/libVTabi.so" 2>/dev/null |
	awk '$1 == "U" && $2 ~ /^P?MPI_/ { print "void " $2 "(void) {}" }' >stub.c
$cc -w -shared -nostdlib -Wl,-soname,libmpi_abi.so.1 -o stub/libmpi_abi.so.1 stub.c || exit 99
printf '%s\n' '#include <stdio.h>' 'int main(void) { int c; FILE *f = fopen("/proc/self/maps", "r");' \
	'while (f && (c = getc(f)) != EOF) { putchar(c); } return 0; }' >loads.c
# shellcheck disable=SC2086
$cc $san loads.c -o loads -Wl,--no-as-needed stub/libmpi_abi.so.1 || exit 99
cp "$lib/libVTcs.so" "$lib/libVT.so" own
cp "$lib/vtrun" own 2>/dev/null || cp "$build/vtrun" own
LD_LIBRARY_PATH=stub expect own/vtrun -- ./loads >out 2>&1
expect_line 'loads uses libmpi_abi.so.1, and this build has no .*/libVTabi.so: its processes are recorded one' out
expect_line '/own/libVTcs.so' out
verdict "a program of the ABI is refused by name where there is no libVTabi.so"

if [ ! -e "$lib/libVTabi.so" ]; then
	skip "vtrun takes libVTabi.so for it" "this build found no header of the MPI ABI"
	skip "programs of the ABI on its libraries" "this build found no header of the MPI ABI"
	done_testing
	exit
fi
LD_LIBRARY_PATH=stub expect "$vtrun" -- ./loads >out 2>&1
expect_line '/libVTabi.so' out
expect_not grep -qE '/libVT(cs)?\.so' out
verdict "vtrun takes libVTabi.so for it"

# its calls are in every library of the ABI that is here, under the names that it calls
places=/usr/lib/$($cc -print-multiarch 2>/dev/null)
mkdir headers
for header in "$places/openmpi/include/standard_abi/mpi.h" "$places/mpich/include/mpi_abi.h"; do
	name=$(echo "$header" | grep -oE 'openmpi|mpich' | head -n 1)
	[ ! -e "$header" ] || { mkdir "headers/$name" && ln -s "$header" "headers/$name/mpi.h"; }
done
for name in openmpi mpich; do
	library=$(find "$places" -maxdepth 1 -name "libmpi_abi_$name.so.*" ! -type l | head -n 1)
	launcher=$(command -v "mpirun.$name")
	if [ -z "$library" ] || [ -z "$launcher" ]; then
		skip "programs of the ABI on the library of $name" "it is not here"
		continue
	fi
	mkdir "on-$name" && ln -s "$library" "on-$name/libmpi_abi.so.1"
	nm -D --undefined-only "$lib/libVTabi.so" | awk '$1 == "U" && $2 ~ /^P?MPI_/ { print $2 }' |
		LC_ALL=C sort >wanted
	nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort >had
	LC_ALL=C comm -23 wanted had >lacking
	expect_empty lacking
	verdict "the library of $name has all calls that libVTabi.so makes"
	MPIRUN=$launcher
	# shellcheck source=../../lib/launcher.sh source-path=SCRIPTDIR
	. "$src/tests/lib/launcher.sh"
	LD_LIBRARY_PATH=$dir/on-$name
	export LD_LIBRARY_PATH
	for header in headers/*; do
		[ -d "$header" ] || continue
		rm -f truth.*
		# shellcheck disable=SC2086
		expect $cc $san -g -I"$header" "$here/mpi/programs/mpi_messages.c" "on-$name/libmpi_abi.so.1" \
			-o messages -pthread >out 2>&1
		expect run "${ABI_RANKS:-2}" ./messages "${ABI_ROUNDS:-40}" 1
		expect same_messages messages.stf $((${ABI_ROUNDS:-40} * 25))
		verdict "compiled with the header of ${header#*/}, on the library of $name: $(wc -l <want) messages"
	done
	unset LD_LIBRARY_PATH
done
done_testing
