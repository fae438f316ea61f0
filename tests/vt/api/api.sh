#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# VT.h and VT.inc as programs of every language see them, libVTnull, and all against the list of what the guide
# names (collector-plugin/api/api.list). TAP.
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"
list=$src/collector-plugin/api/api.list

kind() # kind KIND: the names of that kind in the list
{
	awk -v k="$1" '$1 == k { sub(/\(.*/, "", $3); print $3 }' "$list"
}

# ---- the header alone, in each language, and with it a program that calls everything ----

compile() # compile STANDARD COMPILER... : as a header, then linked and run
{
	std=$1
	shift
	case $std in
	c++*) lang=c++ all=$here/api/programs/api_cxx.cc ;;
	*) lang=c all=$here/api/programs/api_all.c ;;
	esac
	strict="$san -std=$std -pedantic -Wall -Wextra -Werror -I$include"
	echo '#include <VT.h>' >"$dir/alone.c"
	# shellcheck disable=SC2086
	"$@" $strict -x $lang -c "$dir/alone.c" -o "$dir/alone.o" >"$dir/out" 2>&1
	ok "VT.h compiles alone as $std with $1" $?
	# shellcheck disable=SC2086
	for f in "$all" "$here/api/programs/api_all.c"; do
		# shellcheck disable=SC2086
		expect "$@" $strict -x $lang "$f" -x none -L"$lib" -lVTnull -Wl,-rpath,"$lib" -o "$dir/prog" \
			>"$dir/out" 2>&1
		expect "$dir/prog" libVTnull, >>"$dir/out" 2>&1
		verdict "${f##*/} compiles as $std with $1, links with -lVTnull and runs"
	done
}

# CC may bring a wrapper (ccache) and flags.
for std in c99 c11; do
	# shellcheck disable=SC2086
	compile $std ${CC:-cc}
done
if [ "${CXX:-no}" != no ]; then
	for std in c++98 c++11 c++17; do
		# shellcheck disable=SC2086
		compile $std $CXX
	done
else
	skip "VT.h as C++" "no C++ compiler here (configure CXX=...)"
fi
if [ "${FC:-no}" != no ]; then
	for form in fixed.f:f95 free.f90:f2003 free.f90:f2018; do
		f=$here/api/programs/api_${form%:*}
		# shellcheck disable=SC2086
		expect $FC $san -std="${form#*:}" -pedantic -Wall -Werror -I"$include" "$f" -L"$lib" \
			-lVTnull -Wl,-rpath,"$lib" -o "$dir/prog" >"$dir/out" 2>&1
		expect "$dir/prog" >>"$dir/out" 2>&1
		verdict "${f##*/} compiles as ${form#*:}, links with -lVTnull and runs"
	done
	# shellcheck disable=SC2086
	expect $FC $san -fsecond-underscore -I"$include" "$here/api/programs/api_free.f90" -L"$lib" \
		-lVTnull -Wl,-rpath,"$lib" -o "$dir/prog" >"$dir/out" 2>&1
	expect "$dir/prog" >>"$dir/out" 2>&1
	expect $FC $san -fno-underscoring -I"$include" "$here/api/programs/api_free.f90" -L"$lib" \
		-lVTnull -Wl,-rpath,"$lib" -o "$dir/prog" >"$dir/out" 2>&1
	expect "$dir/prog" >>"$dir/out" 2>&1
	verdict "Fortran names without an underscore and with two link too"
else
	skip "VT.inc" "no Fortran compiler here (configure FC=...)"
fi

# ---- everything that the guide names is declared ----

{
	echo '#include <VT.h>'
	awk '$1 == "function" {
		name = $3; $1 = $2 = $3 = ""; sub(/^ */, "")
		par = index($0, "(")
		print "extern " substr($0, 1, par - 1) " (*p_" name ")" substr($0, par) ";"
		print substr($0, 1, par - 1) " (*p_" name ")" substr($0, par) " = " name ";"
	}
	$1 == "enum" { print "enum " $3 " e_" $3 ";" }
	$1 == "type" { print $3 " t_" $3 ";" }
	$1 == "macro" { print "#ifndef " $3 "\n#error " $3 "\n#endif" }
	$1 == "constant" { print "int c_" $3 "[" $3 " - " $3 " + 1];" }' "$list"
} >"$dir/declared.c"
# shellcheck disable=SC2086
${CC:-cc} -std=c99 -Wall -Werror -I"$include" -c "$dir/declared.c" -o "$dir/declared.o" >"$dir/out" 2>&1
ok "every function of the list is declared as it says, every type, enumerator and macro too" $?
expect [ "$(kind function | wc -l)" -eq 54 ]
expect [ "$(kind constant | wc -l)" -eq 86 ]
expect [ "$(kind fortran | wc -l)" -eq 42 ]
verdict "the list is whole"
if [ "${CXX:-no}" != no ]; then
	{
		echo '#include <VT.h>'
		kind class | sed 's/.*/& *p_&;/'
		kind macro++ | sed 's/.*/#ifndef &\n#error &\n#endif/'
	} >"$dir/classes.cc"
	# shellcheck disable=SC2086
	$CXX -Wall -Werror -I"$include" -c "$dir/classes.cc" -o "$dir/classes.o" >"$dir/out" 2>&1
	ok "every class of the list is there in C++" $?
fi

# The constants of VT.inc are those of VT.h.
{
	echo '#include <VT.h>
#include <stdio.h>
int main(void)
{'
	{ kind constant; kind macro; } | sed 's/.*/printf("& = %d\\n", (int)&);/'
	echo 'return 0; }'
} >"$dir/values.c"
# shellcheck disable=SC2086
${CC:-cc} -I"$include" "$dir/values.c" -o "$dir/values" >"$dir/out" 2>&1 &&
	"$dir/values" | LC_ALL=C sort >"$dir/c.values"
sed -n 's/^ *PARAMETER (\(.*\))$/\1/p' "$include/VT.inc" | LC_ALL=C sort >"$dir/f.values"
diff "$dir/c.values" "$dir/f.values" >"$dir/out" 2>&1
ok "VT.inc has the constants of VT.h, with their values" $?

# ---- exported symbols ----

awk '$1 == "function" { print $3 }
	$1 == "fortran" { sub(/\(.*/, "", $3); l = tolower($3); print l "\n" l "_\n" l "__\n" $3 }' "$list" >"$dir/api"
exported() # exported LIBRARY FILE...: exactly the symbols in the files
{
	so=$1
	shift
	nm -D --defined-only "$lib/$so" 2>&1 | awk '{ sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort >"$dir/have"
	cat "$@" | LC_ALL=C sort >"$dir/want"
	diff "$dir/want" "$dir/have" >"$dir/out" 2>&1
	ok "$so exports what the tables say, no more and no less" $?
}
exported libVTnull.so "$dir/api"
exported libVTcs.so "$dir/api" "$src/collector-plugin/preload/preload.sym"
# Linked with a sanitizer it also names libraries of which it uses nothing.
needs() # needs LIBRARY: all that it needs, but what sanitizers brought
{
	readelf -d "$lib/$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' >"$dir/needed"
	if grep -q 'san\.so' "$dir/needed"; then
		unused='san\.so|^libm\.so'
		nm -D --undefined-only "$lib/$1" | grep -q ' ZSTD_' || unused="$unused|^libzstd"
		grep -vE "$unused" "$dir/needed" >"$dir/used"
		mv "$dir/used" "$dir/needed"
	fi
	LC_ALL=C sort "$dir/needed" | tr '\n' ' '
}
not_libc='^(libc|libm|libdl|libpthread|librt|ld-linux[-_a-z0-9]*)\.so\.[0-9]$'
needs libVTcs.so | tr ' ' '\n' | grep -vE "$not_libc" | grep . >"$dir/out"
[ ! -s "$dir/out" ]
ok "libVTcs.so needs libc only" $?
if [ -e "$lib/libVT.so" ]; then
	# calls of MPI 4 and later are there if this MPI has them; their Fortran names if it is Open MPI, whose Fortran
	# calls are not its C calls
	own=$(ldd "$lib/libVT.so" | sed -n 's|.*=> \(/.*/libmpi[^/]*\) .*|\1|p' | head -1)
	nm -D --defined-only "$own" | awk '{ sub(/@.*/, "", $3); print $3 }' >"$dir/own"
	awk -F'[(, ]+' -v fortran="$(grep -c '^ompi_mpi_init$' "$dir/own")" '
	FILENAME ~ /own$/ { has[$1] = 1 }
	/^[A-Z0-9_]+\(/ {
		later = FILENAME !~ /calls\.def$/
		if (!later || ("MPI_" $2) in has) { print "MPI_" $2 }
		if (!later || (fortran && ("MPI_" $2) in has)) {
			print "MPI_" $4 "\nmpi_" $3 "\nmpi_" $3 "_\nmpi_" $3 "__\nmpi_" $3 "_f08_"
			print $1 == "BY_HAND" ? "PMPI_" $2 : "mpi_" $3 "_f08ts_"
		}
	}' "$dir/own" "$src"/collector-plugin/mpi/calls*.def >"$dir/mpi"
	exported libVT.so "$dir/api" "$src/collector-plugin/preload/preload.sym" "$dir/mpi"
	needs libVT.so | tr ' ' '\n' | grep -vE "$not_libc" | grep . >"$dir/out"
	expect_line -E '^libmpi(ch)?\.so' "$dir/out"
	expect [ "$(wc -l <"$dir/out")" -eq 1 ]
	verdict "libVT.so needs libc and MPI only"
else
	skip "libVT.so" "no MPI in this build"
fi
[ "$(needs libVTnull.so)" = 'libc.so.6 ' ]
ok "libVTnull.so needs libc only" $?

# ---- calls that record nothing, because nothing was started ----

printf \
	'#include <VT.h>\n#include <sys/wait.h>\n#include <unistd.h>\nint main(void)\n{\n\tint h, x = VT_funcdef("f", '\
'VT_NOCLASS, &h) + VT_begin(1) + VT_end(1) + VT_countdef("c", VT_NOCLASS, VT_COUNT_INTEGER, VT_GROUP_THREAD, 0, 0, '\
'&h);\n\tif (fork() == 0)\n\t\tVT_funcdef("g", VT_NOCLASS, &h);\n\telse\n\t\twait(0);\n\treturn x == 0;\n}\n' \
>"$dir/nothing.c"
# shellcheck disable=SC2086
${CC:-cc} $san -I"$include" "$dir/nothing.c" -o "$dir/nothing" -L"$lib" -lVTcs -Wl,-rpath,"$lib" >"$dir/out" 2>&1 && (
	cd "$dir" && ./nothing >out 2>&1 && [ "$(grep -c '^Tickmark WARNING: VT_ calls are not recorded: '\
'.*VT_initialize' out)" -eq 1 ] && [ "$(wc -l <out)" -eq 1 ] &&
		VT_VERBOSE=0 ./nothing >out 2>&1 && [ ! -s out ]
)
ok "VT_ calls without VT_initialize or vtrun: one line says that they are not recorded" $?
(cd "$dir" && { "$vtrun" -- ./nothing >out 2>&1 || :; } && ! grep 'not recorded' out && [ -e nothing.stf ])
ok "the same program under vtrun, where its child is not recorded: no such line" $?

done_testing
