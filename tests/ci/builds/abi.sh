#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# abi.sh [SCRIPT]...: the tests of tests/vt whose programs are in C, with programs of the MPI ABI, on each of its
# libraries that is here, all with one libVTabi.so. The compiler that they are given takes the header of the ABI, its
# library, and libVTabi for libVT; one for C++ or Fortran there is not. No argument: all. ABI_BUILD: a build of this
# tree (default: a new one). ABI_ROUNDS: see mpi_abi.sh; 4000 are 10^5 messages of each of its combinations. Ends with
# a table.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
places=/usr/lib/$(gcc -print-multiarch)
header=$places/openmpi/include/standard_abi
[ -e "$header/mpi.h" ] || { echo "SKIPPED: Open MPI's header of the MPI ABI is not here"; exit 77; }
# those that compile with MPICC; not what is of libVTfs, libVTim or libVTmc, which are not made for the ABI
all="mpi/mpi_abi $(cd "$top/tests/vt" && grep -lE '\$\{?MPICC' -- */*.sh | xargs grep -LE 'VT(fs|im|mc)|oshcc' |
	sed 's|\.sh$||')"
ABI_ROUNDS=${ABI_ROUNDS:-4000}
export ABI_ROUNDS
build=${ABI_BUILD:-}
if [ -z "$build" ]; then
	configured "MPI ABI"
	build=$work/build
	step "make" make -s -j"$jobs"
	step "the programs of the tests" make -s -j"$jobs" check TESTS=
fi
scripts=$*
[ -n "$scripts" ] || scripts=$all
[ -e "$build/.libs/libVTabi.so" ] || { echo "FAILED: there is no libVTabi.so in $build"; exit 1; }

compiler() # compiler NAME: $work/NAME/mpicc for the library of that MPI
{
	library=$(find "$places" -maxdepth 1 -name "libmpi_abi_$1.so.*" ! -type l | head -n 1)
	launcher=$(command -v "mpirun.$1")
	[ -n "$library" ] && [ -n "$launcher" ] || return 1
	mkdir "$work/$1" && ln -s "$library" "$work/$1/libmpi_abi.so.1" || exit 99
	cat >"$work/$1/mpicc" <<END
#!/bin/sh
for word; do
	shift
	[ "\$word" != -lVT ] || word=-lVTabi
	set -- "\$@" "\$word"
done
exec gcc -I$header "\$@" $work/$1/libmpi_abi.so.1
END
	chmod +x "$work/$1/mpicc"
}

bad=0
cd "$top" || exit 99
for name in openmpi mpich; do
	compiler $name || { echo "SKIPPED a part: the library or launcher of $name is not here"; continue; }
	for script in $scripts; do
		top_srcdir=$top top_builddir=$build CC=gcc FC=no PYTHON3=python3 MPIRUN=$launcher \
			MPICC=$work/$name/mpicc LD_LIBRARY_PATH=$work/$name \
			timeout "${ABI_LIMIT:-900}" sh "tests/vt/$script.sh" >"$work/out" 2>&1
		rc=$?
		awk -v name="$name" -v script="$script" -v rc=$rc '
		/^ok .*# SKIP|^1\.\.0 # SKIP/ { skip++; next }
		/^ok / { pass++ }
		/^not ok / { fail++; print }
		END {
			printf "| %s | %s | %d | %d | %d |%s\n", name, script, pass, fail, skip,
				rc == 124 ? " cut |" : ""
			exit fail || (rc != 0 && rc != 77) || !(pass + skip)
		}' "$work/out" >"$work/row" || bad=1
		grep '^not ok' "$work/row"
		grep '^|' "$work/row" | tee -a "$work/table"
	done
done
[ -e "$work/table" ] || { echo "SKIPPED: no library of the MPI ABI with its launcher is here"; exit 77; }
printf '\n| library of | script of tests/vt | passed | failed | skipped |\n| --- | --- | --- | --- | --- |\n'
cat "$work/table"
exit $bad
