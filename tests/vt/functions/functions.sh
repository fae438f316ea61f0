#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs compiled with -finstrument-functions under vtrun: the trace has their call trees. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"

build_it() # build_it COMPILER OPTIONS: $dir/prog and the library that it loads
{
	# shellcheck disable=SC2086
	"$@" $san -g -finstrument-functions -o "$dir/prog" "$here/functions/programs/functions.c" \
		-ldl -lpthread >"$dir/out" 2>&1 &&
		"$@" $san -g -finstrument-functions -shared -fPIC -o "$dir/libfunctions.so" \
		"$here/functions/programs/functions_library.c" >>"$dir/out" 2>&1
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
		expect build_it $cc $opt
		expect run 3 2000 1 "$dir/libfunctions.so"
		expect same
		verdict "$cc $opt: the call tree of threads, a library, longjmp and a signal handler is in the trace"
	done
done

# two libraries at one address in turn: the names are each its own
expect build_it ${CC:-cc} -O1
expect cp "$dir/libfunctions.so" "$dir/libother.so"
expect run 1 100 1 "$dir/libfunctions.so" "$dir/libother.so"
expect same
expect_line ' + libother:of_library$' "$dir/traced"
verdict "two libraries that come and go in turn"

tree() # tree WORDS OF THE PROGRAM...: of functions_odd.c
{
	rm -f "$dir"/o.*
	timeout 100 "$vtrun" --logfile-name "$dir/o.stf" --verbose 0 --counter '** off' -- "$dir/odd" "$@" >"$dir/out" \
		2>"$dir/err" &&
		"$build/stftool" "$dir/o.stf" --dump >"$dir/dump" 2>>"$dir/err" &&
		awk -f "$here/lib/tree.awk" "$dir/dump" | sed 's/Application://' >"$dir/tree" &&
		! grep -q 'states were open\|ends of states without' "$dir/dump"
}
for cc in "${CC:-cc}" "$other"; do
	if ! command -v "${cc%% *}" >/dev/null 2>&1; then
		skip "$cc: tail calls" "no $cc"
		skip "$cc: fork inside calls" "no $cc"
		continue
	fi
	# shellcheck disable=SC2086
	expect $cc $san -O2 -g -finstrument-functions -o "$dir/odd" "$here/functions/programs/functions_odd.c" \
		>"$dir/out" 2>&1
	expect tree tail
	expect awk '{ n = $0; sub(/^\.*/, "", n); count[n]++ } n == "leaf" && $0 ~ /^\.\.leaf/ { direct++ }
			END { exit count["ping"] != 50 || count["pong"] != 50 || count["jump_ping"] != 50 ||
			count["jump_pong"] != 50 || count["leaf"] != 40 || direct < 20 }' "$dir/tree"
	verdict "$cc: tail calls; what follows them is where it was called"
	expect tree fork
	printf 'main\n.leaf\n.divide\n..in_parent\n...leaf\n.leaf\n' | expect diff - "$dir/tree" >"$dir/diff"
	expect tree fork exit
	printf 'main\n.leaf\n.divide\n..in_parent\n...leaf\n.leaf\n' | expect diff - "$dir/tree" >"$dir/diff"
	verdict "$cc: a child of fork that goes on inside the calls, and one that ends there, leave the tree alone"
done
# the clock of the windows begins with the run; all at once, for each takes seconds
number=0
for window in 0:2s 2s:1000s 1000s:2000s 0:2s,2.2s:1000s; do
	number=$((number + 1))
	timeout 100 "$vtrun" --logfile-name "$dir/w$number.stf" --verbose 0 --counter '** off' --time-windows $window \
		-- "$dir/odd" windows >"$dir/out" 2>&1 &
done
wait
number=0
windows() # windows FROM:TO WANTED
{
	number=$((number + 1))
	have=$("$build/stftool" "$dir/w$number.stf" --dump 2>&1 | awk -f "$here/lib/tree.awk" |
		sed 's/Application://' | tr '\n' ' ')
	[ "$have" = "$2" ]
	ok "TIME-WINDOWS $1: $have" $?
}
windows 0:2s 'main .lasting ..early ...leaf '
windows 2s:1000s 'late .leaf '
windows 1000s:2000s ''
windows 0:2s,2.2s:1000s 'main .lasting ..early ...leaf ..late ...leaf '

# names of static functions are gone with the symbol table; what the file or the dynamic linker knows stays
# shellcheck disable=SC2086
expect build_it ${CC:-cc} -O2 -rdynamic
expect strip "$dir/prog"
expect run 1 100 1
expect_line 'DEFFUNCTION .* "alpha"' "$dir/dump"
expect_line 'DEFFUNCTION .* "prog+0x[0-9a-f]*"' "$dir/dump"
expect_lines "$(grep -c + "$dir/said")" ENTER "$dir/dump"
verdict "stripped: exported names, and addresses of the others"

# NMCMD: the guide's default, one that renames, and one that fails
cat >"$dir/my nm" <<END
#!/bin/sh
nm -P "\$@" | sed 's/^alpha /better alpha /'
END
chmod +x "$dir/my nm"
# shellcheck disable=SC2086
build_it ${CC:-cc} -O2 && run 1 100 1 && sed -n 's/^DEFFUNCTION [0-9]* \(.*\) CLASS [0-9]*/\1/p' "$dir/dump" |
	sort >"$dir/without"
for command in "nm -P" "'$dir/my nm'" false; do
	VT_NMCMD=$command
	export VT_NMCMD
	run 1 100 1 && sed -n 's/^DEFFUNCTION [0-9]* \(.*\) CLASS [0-9]*/\1/p' "$dir/dump" |
		sed 's/"better alpha"/"alpha"/' | sort | diff "$dir/without" - >"$dir/diff" &&
		case $command in *my*) grep -q '"better alpha"' "$dir/dump" ;; esac
	ok "NMCMD $command" $?
done
unset VT_NMCMD

# shellcheck disable=SC2086
expect build_it ${CC:-cc} -O2
expect timeout 100 "$vtrun" --logfile-name "$dir/c.stf" --verbose 0 --counters-only -- "$dir/prog" 1 100 1 >"$dir/out" \
	2>&1
expect "$build/stftool" "$dir/c.stf" --dump >"$dir/dump"
expect_no_line ENTER "$dir/dump"
expect_line SAMP "$dir/dump"
verdict "--counters-only records counters alone"

if [ -n "${CXX:-}" ]; then
	# shellcheck disable=SC2086
	expect $CXX $san -O2 -g -finstrument-functions -o "$dir/prog" "$here/functions/programs/functions_cxx.cc" \
		-lpthread >"$dir/out" 2>&1
	expect run 50
	expect same
	verdict "C++: exceptions in 8 threads, names demangled"
	for pattern in '_ZN5space7throwerEi' 'space::thrower*'; do
		VT_SYMBOL="$pattern off"
		export VT_SYMBOL
		expect run 5
		id=$(sed -n 's/^DEFFUNCTION \([0-9]*\) "space::thrower(int)" .*/\1/p' "$dir/dump")
		expect_line 'ENTER' "$dir/dump"
		expect_no_line "ENTER .* FUNCTION ${id:-?}\$" "$dir/dump"
	done
	unset VT_SYMBOL
	verdict "patterns match mangled and demangled names"
	VT_DEMANGLE=off
	export VT_DEMANGLE
	expect run 5
	expect_line 'DEFFUNCTION .* "_ZN5space7throwerEi"' "$dir/dump"
	verdict "names are mangled with DEMANGLE off"
	unset VT_DEMANGLE
else
	skip "C++" "no C++ compiler"
fi

if [ -n "${FC:-}" ] && [ "$FC" != no ]; then
	expect $FC -O1 -finstrument-functions -J "$dir" -o "$dir/prog" "$here/functions/programs/functions.f90" \
		>"$dir/out" 2>&1
	expect timeout 100 "$vtrun" --logfile-name "$dir/f.stf" --verbose 0 -- "$dir/prog" >"$dir/out" 2>&1
	"$build/stftool" "$dir/f.stf" --dump | awk -f "$here/lib/regions.awk" |
		expect grep -c '+ Application:__work_MOD_step' >"$dir/out"
	expect [ "$(cat "$dir/out")" -eq 3 ]
	verdict "Fortran: a recursive procedure of a module"
else
	skip "Fortran" "no Fortran compiler"
fi
done_testing
