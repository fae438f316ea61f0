#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Names of functions, their parameters, files of folders and names of tests are within the limits of names.py; every
# unit test is in the list of tests/unit/Makefile.inc.am. `python3 tests/house/names.py --list .` prints what to mend.
# TAP.
# shellcheck source=../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
names=$src/tests/house/names.py
command -v "${PYTHON3:-python3}" >/dev/null 2>&1 || skip_all "no python3"

figures() # figures TREE: what names.py prints of it, without the list
{
	"${PYTHON3:-python3}" "$names" "$1" >"$dir/figures"
	[ $? -le 1 ]
}

# What is over the limit today may not get worse: RULE:FIGURE. Lower a figure with the tree; at the limit it goes.
today="modules:41"

within() # within RULE: the figure of the rule is within its limit, or no worse than it is today
{
	figure=$(sed -n "s/^$1 \([0-9.]*\) .*/\1/p" "$dir/figures")
	kept=$(echo "$today" | tr ' ' '\n' | sed -n "s/^$1://p")
	case $1 in
	tests | modules) better=">=" ;;
	*) better="<=" ;;
	esac
	if [ -z "$kept" ] || ! awk "BEGIN { exit !($figure $better $kept) }"; then
		expect_line "$1 .* ok" "$dir/figures"
	fi
	verdict "$1: $(sed -n "s/^$1 //p" "$dir/figures")"
}

if ! figures "$src"; then
	ok "the functions of all files are read" 1
	done_testing
fi
for rule in shared prefixes parameters files tests modules; do
	within $rule
done

# the list of the unit tests
(cd "$src" && find tests/unit -name 'test_*.c') | sed 's/\.c$//' | sort >"$dir/files"
grep -o '%D%/[^ ]*/test_[a-z0-9_]*\( \|$\)' "$src/tests/unit/Makefile.inc.am" |
	sed 's,%D%,tests/unit,; s/ $//' | sort >"$dir/listed"
diff "$dir/files" "$dir/listed" >"$dir/diff"
ok "every unit test is in the list of tests/unit/Makefile.inc.am" $?

# a tree that is within all limits, and each rule broken
tree=$dir/tree
put() # put FILE LINE...: makes or replaces a file of the tree
{
	mkdir -p "$tree/$(dirname "$1")"
	file=$tree/$1
	shift
	printf '%s\n' "$@" >"$file"
}

sound()
{
	rm -rf "$tree"
	put base/a.c 'static int read_a(int x)' '{' '	return x;' '}' \
		'static const struct ops a = { .open = open_one, .read = read_a };' 'int tkm_a(void)' '{' \
		'	return read_a(1);' '}' \
		'static int open_one(void)' '{' '	return 0;' '}'
	put base/b.c 'static int open_one(void)' '{' '	return 0;' '}' 'const struct ops b = { .open = open_one };' \
		'/* int open_one(void) { } */' 'int main(void)' '{' '	return 0;' '}'
	put lab/c.c 'int main(int a, int b, int c, int d, int e, int f, int g)' '{' '	return 0;' '}' \
		'int strange_name(void)' '{' '}'
	put tests/unit/base/test_a.c 'int main(void)' '{' '	return tkm_a();' '}'
}

broken() # broken NAME RULE: figures of the tree say that the rule is exceeded, and no other
{
	figures "$tree"
	[ "$(sed -n 's/ .* over$//p' "$dir/figures" | grep -v modules | tr '\n' ' ')" = "$2 " ]
	ok "$1" $?
}

sound
figures "$tree"
[ "$(sed -n 's/ .* over$//p' "$dir/figures")" = "" ] && grep -q '^functions 5$' "$dir/figures"
ok "a tree within the limits is quiet" $?

put base/d.c 'static void read_a(void)' '{' '}'
sed -i 's/, .read = read_a//' "$tree/base/a.c"
broken "caught: two functions of one name" shared

sound
for i in a b c d e f g h i j k l; do
	put "base/x$i.c" "int x${i}_read(void)" '{' '	return 0;' '}'
done
broken "caught: a thirteenth prefix" prefixes

sound
put base/wide.c 'static int seven(int a, int b, int c, int (*d)(int, int), int e,' \
	'	int f, int g)' '{' '	return 0;' '}' \
	'static OTF2_CallbackCode eight(int a, int b, int c, int d, int e, int f, int g, int h)' '{' '	return 0;' '}'
broken "caught: a function with seven parameters" parameters
expect_line 'parameters 14.29 .*' "$dir/figures"
verdict "and only that one"

sound
for i in $(seq 24); do
	put "base/h$i.h" '#define H'
done
broken "caught: a folder of 26 files" files

sound
mv "$tree/tests/unit/base/test_a.c" "$tree/tests/unit/base/test_other.c"
broken "caught: a test that has not the name of its module" tests

# what is a module, and what belongs to another one
sound
put base/a.h 'int tkm_a(void);' 'int tkm_half(void);'
put base/half.c 'int tkm_half(void)' '{' '	return 0;' '}'
put base/a_part.c 'int tkm_part(void)' '{' '	return 0;' '}'
put tools/x.c 'int stt_x(void)' '{' '	return 0;' '}'
put tests/cli/stftool/x.sh 'true'
figures "$tree"
expect_line '^modules 100.00 ' "$dir/figures"
verdict "a half belongs to its header or to its name, and a script tests what only a program reaches"
put base/other.c 'int tkm_other(void)' '{' '	return 0;' '}'
figures "$tree"
expect_line '^modules 66.67 .* over' "$dir/figures"
verdict "caught: a module without a test of its name"
done_testing
