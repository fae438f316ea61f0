#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make check under German and Turkish locales: decimal commas, and an I whose small letter is no i.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need localedef
LOCPATH=$work/locales
mkdir "$LOCPATH"
for locale in de_DE tr_TR; do
	# it warns, with status 1, where the charmap lacks a character
	localedef -c -i $locale -f UTF-8 "$LOCPATH/$locale.UTF-8" >"$work/log" 2>&1
	[ -e "$LOCPATH/$locale.UTF-8/LC_NUMERIC" ] || { echo "SKIPPED: localedef has no $locale (Debian: locales): \
$(head -n 1 "$work/log")"; exit 77; }
done
configured locales
step "locales: make" make -j"$jobs" check TESTS=
export LOCPATH
for locale in de_DE tr_TR; do
	LC_ALL=$locale.UTF-8
	export LC_ALL
	step "locales: make check under $locale" make check
done
