#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs compiled with -finstrument-functions under vtrun: the trace has their call trees. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"

build_it() # build_it COMPILER OPTIONS: $dir/prog and the library that it loads
{
	# shellcheck disable=SC2086
	"$@" $san -g -finstrument-functions -o "$dir/prog" "$here/functions/programs/functions.c" -ldl -lpthread >"$dir/out" 2>&1 &&
		"$@" $san -g -finstrument-functions -shared -fPIC -o "$dir/libfunctions.so" "$here/functions/programs/functions_library.c" >>"$dir/out" 2>&1
}

run() # run ARGUMENTS: $dir/said and $dir/dump
{
	rm -f "$dir"/t.*
	timeout 100 "$vtrun" --logfile-name "$dir/t.stf" --verbose 0 -- "$dir/prog" "$@" >"$dir/out" 2>"$dir/err" &&
		sort -s -n -k1,1 "$dir/out" >"$dir/said" && [ -s "$dir/said" ] &&
		"$build/stftool" "$dir/t.stf" --dump >"$dir/dump" 2>&1
}

same() # what the program said is in the trace
{
	awk -f "$here/lib/regions.awk" "$dir/dump" | sort -s -n -k1,1 >"$dir/traced"
	diff "$dir/said" "$dir/traced" >"$dir/diff"
}

other=clang
# "clang," is no command, and this is why not
[ -z "$san" ] || other="clang, since the libraries are sanitized by ${CC:-cc}"
for cc in "${CC:-cc}" "$other"; do
	for opt in -O0 -O2 "-O2 -no-pie"; do
		if ! command -v "${cc%% *}" >/dev/null 2>&1; then
			skip "$cc $opt: the call tree is in the trace" "no $cc"
			continue
		fi
		# shellcheck disable=SC2086
		build_it $cc $opt && run 3 2000 1 "$dir/libfunctions.so" && same
		ok "$cc $opt: the call tree of threads, a library, longjmp and a signal handler is in the trace" $?
	done
done

# two libraries at one address in turn: the names are each its own
build_it ${CC:-cc} -O1 && cp "$dir/libfunctions.so" "$dir/libother.so" && run 1 100 1 "$dir/libfunctions.so" "$dir/libother.so" && same &&
	grep -q ' + libother:of_library$' "$dir/traced"
ok "two libraries that come and go in turn" $?

tree() # tree WORDS OF THE PROGRAM...: of functions_odd.c
{
	rm -f "$dir"/o.*
	timeout 100 "$vtrun" --logfile-name "$dir/o.stf" --verbose 0 --counter '** off' -- "$dir/odd" "$@" >"$dir/out" 2>"$dir/err" &&
		"$build/stftool" "$dir/o.stf" --dump >"$dir/dump" 2>>"$dir/err" && awk -f "$here/lib/tree.awk" "$dir/dump" | sed 's/Application://' >"$dir/tree" &&
		! grep -q 'states were open\|ends of states without' "$dir/dump"
}
for cc in "${CC:-cc}" "$other"; do
	if ! command -v "${cc%% *}" >/dev/null 2>&1; then
		skip "$cc: tail calls" "no $cc"
		skip "$cc: fork inside calls" "no $cc"
		continue
	fi
	# shellcheck disable=SC2086
	$cc $san -O2 -g -finstrument-functions -o "$dir/odd" "$here/functions/programs/functions_odd.c" >"$dir/out" 2>&1 && tree tail &&
		awk '{ n = $0; sub(/^\.*/, "", n); count[n]++ } n == "leaf" && $0 ~ /^\.\.leaf/ { direct++ }
			END { exit count["ping"] != 50 || count["pong"] != 50 || count["jump_ping"] != 50 || count["jump_pong"] != 50 || count["leaf"] != 40 || direct < 20 }' "$dir/tree"
	ok "$cc: tail calls; what follows them is where it was called" $?
	tree fork && printf 'main\n.leaf\n.divide\n..in_parent\n...leaf\n.leaf\n' | diff - "$dir/tree" >"$dir/diff" &&
		tree fork exit && printf 'main\n.leaf\n.divide\n..in_parent\n...leaf\n.leaf\n' | diff - "$dir/tree" >"$dir/diff"
	ok "$cc: a child of fork that goes on inside the calls, and one that ends there, leave the tree alone" $?
done
# the clock of the windows begins with the run; all at once, for each takes seconds
number=0
for window in 0:2s 2s:1000s 1000s:2000s 0:2s,2.2s:1000s; do
	number=$((number + 1))
	timeout 100 "$vtrun" --logfile-name "$dir/w$number.stf" --verbose 0 --counter '** off' --time-windows $window -- "$dir/odd" windows >"$dir/out" 2>&1 &
done
wait
number=0
windows() # windows FROM:TO WANTED
{
	number=$((number + 1))
	have=$("$build/stftool" "$dir/w$number.stf" --dump 2>&1 | awk -f "$here/lib/tree.awk" | sed 's/Application://' | tr '\n' ' ')
	[ "$have" = "$2" ]
	ok "TIME-WINDOWS $1: $have" $?
}
windows 0:2s 'main .lasting ..early ...leaf '
windows 2s:1000s 'late .leaf '
windows 1000s:2000s ''
windows 0:2s,2.2s:1000s 'main .lasting ..early ...leaf ..late ...leaf '

# names of static functions are gone with the symbol table; what the file or the dynamic linker knows stays
# shellcheck disable=SC2086
build_it ${CC:-cc} -O2 -rdynamic && strip "$dir/prog" && run 1 100 1 && grep -q 'DEFFUNCTION .* "alpha"' "$dir/dump" &&
	grep -q 'DEFFUNCTION .* "prog+0x[0-9a-f]*"' "$dir/dump" && [ "$(grep -c ENTER "$dir/dump")" -eq "$(grep -c + "$dir/said")" ]
ok "stripped: exported names, and addresses of the others" $?

# NMCMD: the guide's default, one that renames, and one that fails
cat >"$dir/my nm" <<END
#!/bin/sh
nm -P "\$@" | sed 's/^alpha /better alpha /'
END
chmod +x "$dir/my nm"
# shellcheck disable=SC2086
build_it ${CC:-cc} -O2 && run 1 100 1 && sed -n 's/^DEFFUNCTION [0-9]* \(.*\) CLASS [0-9]*/\1/p' "$dir/dump" | sort >"$dir/without"
for command in "nm -P" "'$dir/my nm'" false; do
	VT_NMCMD=$command
	export VT_NMCMD
	run 1 100 1 && sed -n 's/^DEFFUNCTION [0-9]* \(.*\) CLASS [0-9]*/\1/p' "$dir/dump" | sed 's/"better alpha"/"alpha"/' | sort | diff "$dir/without" - >"$dir/diff" &&
		case $command in *my*) grep -q '"better alpha"' "$dir/dump" ;; esac
	ok "NMCMD $command" $?
done
unset VT_NMCMD

# shellcheck disable=SC2086
build_it ${CC:-cc} -O2 && timeout 100 "$vtrun" --logfile-name "$dir/c.stf" --verbose 0 --counters-only -- "$dir/prog" 1 100 1 >"$dir/out" 2>&1 &&
	"$build/stftool" "$dir/c.stf" --dump >"$dir/dump" && ! grep -q ENTER "$dir/dump" && grep -q SAMP "$dir/dump"
ok "--counters-only records counters alone" $?

if [ -n "${CXX:-}" ]; then
	# shellcheck disable=SC2086
	$CXX $san -O2 -g -finstrument-functions -o "$dir/prog" "$here/functions/programs/functions_cxx.cc" -lpthread >"$dir/out" 2>&1 &&
		VT_DEMANGLE=on && export VT_DEMANGLE && run 50 && same
	ok "C++: exceptions in 8 threads, names demangled" $?
	unset VT_DEMANGLE
	run 5 && grep -q 'DEFFUNCTION .* "_ZN5space7throwerEi"' "$dir/dump"
	ok "names are mangled without DEMANGLE" $?
else
	skip "C++" "no C++ compiler"
fi

if [ -n "${FC:-}" ] && [ "$FC" != no ]; then
	$FC -O1 -finstrument-functions -J "$dir" -o "$dir/prog" "$here/functions/programs/functions.f90" >"$dir/out" 2>&1 &&
		timeout 100 "$vtrun" --logfile-name "$dir/f.stf" --verbose 0 -- "$dir/prog" >"$dir/out" 2>&1 &&
		"$build/stftool" "$dir/f.stf" --dump | awk -f "$here/lib/regions.awk" | grep -c '+ Application:__work_MOD_step' >"$dir/out" &&
		[ "$(cat "$dir/out")" -eq 3 ]
	ok "Fortran: a recursive procedure of a module" $?
else
	skip "Fortran" "no Fortran compiler"
fi
done_testing
