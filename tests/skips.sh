#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# skips.sh LOG...: names what the tests skipped, with the reasons; make check ends with it. With SKIPS_RAN=FILE a skip
# of a check that
# FILE names fails, so that a check that ran on a machine cannot vanish there without notice; then the checks that ran
# now are added.
# .ci/run and the scripts of tests/ci keep such a file for each machine. A reason that begins with "this time" depends
# on what else ran, and is only named.
set -u
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
tab=$(printf '\t')
for log; do
	[ -f "$log" ] || continue
	test=${log%.log}
	# the driver repeats the test's own lines
	sed -n -e "s/^ok [0-9]* *-* *\\(.*\\) # [Ss][Kk][Ii][Pp] *\\(.*\\)\$/\\1$tab\\2/p" \
		-e "s/^1\\.\\.0 # [Ss][Kk][Ii][Pp] *\\(.*\\)\$/all of it$tab\\1/p" "$log" |
		LC_ALL=C sort -u | sed "s|^|$test$tab|" >>"$tmp/skipped"
	sed -n -e '/# [Ss][Kk][Ii][Pp]/d' -e "s/^ok [0-9]* *-* *//p" "$log" | sed -e "s|^|$test$tab|" -e "1i\\
$test${tab}all of it" >>"$tmp/ran"
done
touch "$tmp/skipped" "$tmp/ran"
n=$(wc -l <"$tmp/skipped")
if [ "$n" -eq 0 ]; then
	echo "Nothing was skipped."
else
	echo "Skipped, $n:"
	sed -e 's/^/  /' -e "s/$tab/: /g" "$tmp/skipped"
fi
known=${SKIPS_RAN:-}
[ -n "$known" ] || exit 0
mkdir -p "$(dirname "$known")" && touch "$known" || exit 99
sed -e "/${tab}this time /d" -e "s/${tab}[^${tab}]*\$//" "$tmp/skipped" | LC_ALL=C sort -u |
	LC_ALL=C comm -12 "$known" - >"$tmp/new"
if [ -s "$tmp/new" ]; then
	echo "Ran before on this machine, and was skipped now, which is a failure ($known has what ran):"
	sed -e 's/^/  /' -e "s/$tab/: /" "$tmp/new"
	exit 1
fi
LC_ALL=C sort -u "$known" "$tmp/ran" >"$tmp/all" && cat "$tmp/all" >"$known"
