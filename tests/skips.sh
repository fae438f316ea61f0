#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# skips.sh LOG...: names what the tests skipped, with the reasons; make check ends with it. With SKIPS_KNOWN=FILE a skip that is not in
# FILE fails, so that a check that worked on a machine cannot vanish there without notice; without FILE it is made. .ci/run and the
# scripts of tests/ci keep such a file for each machine. A reason that begins with "this time" depends on what else ran, and is only named.
set -u
list=$(mktemp) || exit 99
trap 'rm -f "$list"' EXIT
for log; do
	[ -f "$log" ] || continue
	test=${log%.log}
	# the driver repeats the test's own lines
	sed -n -e 's/^ok [0-9]* *-* *\(.*\) # [Ss][Kk][Ii][Pp]\(.*\)$/\1:\2/p' -e 's/^1\.\.0 # [Ss][Kk][Ii][Pp]\(.*\)$/all of it:\1/p' "$log" |
		LC_ALL=C sort -u | while IFS= read -r line; do
		printf '%s: %s\n' "$test" "$line"
	done
done >"$list"
n=$(wc -l <"$list")
if [ "$n" -eq 0 ]; then
	echo "Nothing was skipped."
else
	echo "Skipped, $n:"
	sed 's/^/  /' "$list"
fi
known=${SKIPS_KNOWN:-}
[ -n "$known" ] || exit 0
# by test and name: a reason may hold a number
names() { sed -E -e '/: this time /d' -e 's/^([^:]*: [^:]*):.*/\1/' "$1" | LC_ALL=C sort -u; }
if [ ! -f "$known" ]; then
	mkdir -p "$(dirname "$known")" && names "$list" >"$known" || exit 99
	echo "These are known from now on: $known"
	exit 0
fi
names "$list" | LC_ALL=C comm -13 "$known" - >"$list.new"
if [ -s "$list.new" ]; then
	echo "New on this machine, and therefore a failure ($known has those that are known):"
	sed 's/^/  /' "$list.new"
	rm -f "$list.new"
	exit 1
fi
rm -f "$list.new"
