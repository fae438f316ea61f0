#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table of MPI calls compared with what MPI libraries export (nm -D) and with the list of MPI 4.0: each function has
# a wrapper or
# a line with the reason in not_wrapped.list. mpi-4.0.list is what MPICH 4.0 declares, which implements all of MPI 4.0.
# TAP.
# shellcheck source=../lib/mpi_lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/mpi_lib.sh"
table=$src/collector-plugin/mpi

names() # names FILE...: of rows, as MPI calls them
{
	sed -n 's/^[A-Z0-9_]*(\([A-Z][A-Za-z_0-9]*\), .*/MPI_\1/p' "$@"
}

names "$table"/calls*.def | LC_ALL=C sort >wrapped
sed -n '/^#/!s/	.*//p' "$here/mpi/not_wrapped.list" | LC_ALL=C sort >not_wrapped
LC_ALL=C sort -m wrapped not_wrapped >known

LC_ALL=C comm -12 wrapped not_wrapped >both
awk -F'\t' '!/^#/ && (NF != 2 || length($2) < 10)' "$here/mpi/not_wrapped.list" >unexplained
cat both unexplained >>out
expect [ "$(wc -l <wrapped)" -gt 500 ]
expect_empty both
expect_empty unexplained
expect [ -z "$(uniq -d wrapped)" ]
verdict "each function is in one list, and those without a wrapper have a reason"

LC_ALL=C comm -23 "$here/mpi/mpi-4.0.list" known >unknown 2>>out
cat unknown >>out
expect [ "$(wc -l <"$here/mpi/mpi-4.0.list")" -gt 500 ]
expect_empty unknown
verdict "all functions of MPI 4.0 are known"

exported() # exported LIBRARY PATTERN
{
	nm -D --defined-only "$1" 2>>out | awk '$2 ~ /^[TW]$/ { sub(/@.*/, "", $3); print $3 }' | grep -E "$2" |
		LC_ALL=C sort -u
}

# Libraries are sought where the one of this build is, as distributions have them beside each other.
folder=$(ldd "$lib/libVT.so" | sed -n 's|.*=> \(/.*\)/libmpi[^/]* .*|\1|p' | head -1)
exported "$lib/libVT.so" '^(MPI_|mpi_)' >ours
for name in libmpi.so.40 libmpich.so.12; do
	if [ ! -e "$folder/$name" ]; then
		skip "$name: all that it exports is known" "there is no $name in $folder"
		continue
	fi
	exported "$folder/$name" '^MPI_[A-Z]' >theirs
	LC_ALL=C comm -23 theirs known >unknown
	cat unknown >>out
	expect [ "$(wc -l <theirs)" -gt 300 ]
	expect_empty unknown
	verdict "$name: all that it exports is known"
done

# The library of this build: what is known as wrapped is exported by libVT too, in C and in Fortran.
own=$(ldd "$lib/libVT.so" | sed -n 's|.*=> \(/.*/libmpi[^/]*\) .*|\1|p' | head -1)
exported "$own" '^MPI_[A-Z]' | LC_ALL=C comm -12 - wrapped | LC_ALL=C comm -23 - ours >unknown
cat unknown >>out
[ ! -s unknown ]
ok "libVT exports all calls of $own that the table has" $?

# MPICH's Fortran calls come by the C calls; Open MPI's do not. Names for C pointers in the module mpi only get memory.
for name in libmpi_mpifh libmpi_usempif08; do
	file=$(find "$folder" -name "$name.so.*" ! -type l | head -1)
	if [ "${own##*/libmpi.so.40}" ] || [ -z "$file" ]; then
		skip "Fortran, $name: all names of these calls are libVT's too" \
			"this build has another MPI, or no Fortran"
		continue
	fi
	exported "$file" '^(mpi_[a-z0-9_]*|MPI_[A-Z0-9_]*)$' | grep -vE '_cptr_*$' >theirs
	tr '[:upper:]' '[:lower:]' <wrapped >lower
	awk 'FILENAME == "lower" { known[$0] = 1; next } { n = tolower($0); sub(/_f08ts_$|_f08_$|__$|_$/, "", n) }
		n in known' lower theirs |
		LC_ALL=C sort -u | LC_ALL=C comm -23 - ours >unknown
	sed 's/$/ is not exported/' unknown >>out
	expect [ "$(wc -l <theirs)" -gt 300 ]
	expect_empty unknown
	verdict "Fortran, $name: all names of these calls are libVT's too"
done
done_testing
