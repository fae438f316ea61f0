#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The C programs that scripts compile have no warning, and none is hidden in a script. TAP.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
command -v "${CC:-cc}" >/dev/null 2>&1 || skip_all "no compiler"

warnings() # warnings FILE: what the compiler says of it
{
	compiler=${CC:-cc}
	gnu=-D_GNU_SOURCE
	! grep -q '^#define _GNU_SOURCE' "$1" || gnu=
	if grep -qE 'mpi\.h|shmem\.h|say\.h' "$1"; then
		[ "${MPICC:-no}" != no ] || return 0
		compiler=$MPICC
	fi
	if grep -q 'shmem\.h' "$1"; then
		compiler=$(echo "$MPICC" | sed 's/mpicc\([^/]*\)$/oshcc\1/')
		command -v "$compiler" >/dev/null 2>&1 || return 0
	fi
	openmp=
	! grep -q '^#pragma omp' "$1" || openmp=-fopenmp
	# shellcheck disable=SC2086
	$compiler -std=gnu11 $gnu $openmp -fsyntax-only -Wall -Wextra -Wno-unused-but-set-variable -I"$src/include" \
		-I"$src" -I"$build" "$1" 2>&1
}

hidden() # hidden TOP: scripts of a tree with a here-document that is a C program
{
	(cd "$1" && find tests -name '*.sh' ! -name programs.sh -exec grep -lE '^[^#]*cat >.*\.c"? *<<' {} +)
}

find "$src/tests" -path '*/programs/*' -name '*.c' | sort >"$dir/programs"
while read -r file; do
	warnings "$file"
done <"$dir/programs" >"$dir/out"
result "none of $(wc -l <"$dir/programs") programs has a warning" "$(cat "$dir/out")"
result "no C program is in a here-document" "$(hidden "$src")"

mkdir -p "$dir/tree/tests"
printf 'int main(void) { int unused; return 0; }\n' >"$dir/tree/a.c"
printf 'cat >"$dir/x.c" <<END\nint main(void) { return 0; }\nEND\n' >"$dir/tree/tests/a.sh"
warnings "$dir/tree/a.c" | expect_line 'unused variable' -
expect [ "$(hidden "$dir/tree")" = tests/a.sh ]
verdict "caught: a warning, and a program in a here-document"
done_testing
