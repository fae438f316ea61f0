#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls for files as states of class SYSTEM (the guide's section 2.7), with their bytes: what the program knows of
# itself. TAP.
set -u
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/vt/lib/lib.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "calls of class SYSTEM are not recorded on this kind of machine" ;;
esac

run() # run PROGRAM, with $dir/conf
{
	rm -f "$dir"/t.*
	VT_CONFIG=$dir/conf VT_LOGFILE_NAME=$dir/t.stf timeout 100 "$vtrun" "$1" "$dir/a file" >"$dir/out" \
		2>"$dir/err" </dev/null &&
		"$build/stftool" "$dir/t.stf" --dump >"$dir/dump" && "$build/stftool" "$dir/t.stf" --verify >/dev/null
}

cat >"$dir/want" <<END
write WRITE 1000 FILE
pwrite WRITE 500 FILE
writev WRITE 30 FILE
read READ 1500 FILE
pread READ 100 FILE
read READ 0 FILE
read READ 0 descriptor
write WRITE 7 pipe
read READ 7 pipe
fprintf WRITE 10 FILE
vfprintf WRITE 4 FILE
fputs WRITE 6 FILE
fputc WRITE 1 FILE
putc WRITE 1 FILE
fwrite WRITE 100 FILE
fgets READ 10 FILE
fgetc READ 1 FILE
fread READ 10 FILE
read READ 0 pipe
read READ 0 pipe
write WRITE 0 ERR
puts WRITE 5 OUT
puts WRITE 4 OUT
END
echo 'ACTIVITY SYSTEM ON' >"$dir/conf"
for flags in "-O0 -Wl,-z,lazy -fno-pie -no-pie" "-O2 -D_FORTIFY_SOURCE=2 -Wl,-z,now -fno-plt"; do
	# shellcheck disable=SC2086
	${CC:-cc} $san $flags -g -o "$dir/prog" "$here/functions/programs/system.c" -lpthread 2>/dev/null || exit 99
	expect run "$dir/prog"
	awk -f "$here/lib/io.awk" "$dir/dump" |
		expect sed \
		"s|$dir/a file|FILE|; s|$dir/out|OUT|; s|$dir/err|ERR|; s/ pipe:.*/ pipe/; s/descriptor \
.*/descriptor/" >"$dir/have"
	expect_same "$dir/want" "$dir/have"
	verdict "each transfer with its function, bytes and file ($flags)"
	awk -f "$here/lib/tree.awk" "$dir/dump" >"$dir/tree"
	expect_lines 3 -x 'SYSTEM:close' "$dir/tree"
	expect_line -x 'SYSTEM:fsync' "$dir/tree"
	expect_no_line '^\.' "$dir/tree"
	verdict "calls without bytes are states, too, and a jump out of one leaves it ($flags)"
done
expect "$build/stftool" "$dir/t.stf" --convert "$dir/t.avt" --force >"$dir/diff" 2>&1
expect "$build/tests/cli/lib/text_stf" "$dir/t.avt" "$dir/u.stf" >>"$dir/diff" 2>&1
"$build/stftool" "$dir/u.stf" --dump | awk -f "$here/lib/io.awk" | expect sort >"$dir/have"
awk -f "$here/lib/io.awk" "$dir/dump" | sort | expect diff - "$dir/have" >>"$dir/diff"
verdict "to ASCII and back keeps them"

cat >"$dir/conf" <<END
STATE SYSTEM:read ON
STATE SYSTEM:f* ON
STATE SYSTEM:fs* OFF
END
expect run "$dir/prog"
expect [ "$(awk -f "$here/lib/tree.awk" "$dir/dump" | sed 's/^\.*//' | sort -u | tr '\n' ' ')" = \
	"SYSTEM:fclose SYSTEM:feof SYSTEM:fflush SYSTEM:fgetc SYSTEM:fgets SYSTEM:fopen SYSTEM:fprintf SYSTEM:fputc \
SYSTEM:fputs SYSTEM:fread SYSTEM:ftell SYSTEM:fwrite SYSTEM:read " ]
verdict "single functions by STATE SYSTEM:NAME ON"
: >"$dir/conf"
expect run "$dir/prog"
expect_no_line 'SYSTEM"\|IOBEGIN' "$dir/dump"
verdict "without a rule there are none"
printf 'ACTIVITY SYSTEM ON\nSTATISTICS on\nPROCESS 0:N OFF\n' >"$dir/conf"
run "$dir/prog"
"$build/stftool" "$dir/t.stf" --print-statistics >"$dir/statistics" 2>&1
# the guide: receiver 0xffffffff for file operations
[ "$(awk -F: '$3 == "0xffffffff" && $4 == 1000 { n += $6 } END { print n + 0 }' "$dir/statistics")" -eq 1 ]
ok "statistics have the bytes of file operations without a trace" $?

# without the library that has the calls
if [ -n "$san" ] || installed libVTsystem.so; then
	skip "class SYSTEM without libVTsystem.so" "the sanitizer is preloaded, or it is installed"
else
	rm -f "$dir"/t.*
	mkdir -p "$dir/alone/.libs"
	cp -L "$vtrun" "$build/vtsampler" "$dir/alone" && cp -L "$build/.libs/libVTcs.so" "$dir/alone/.libs"
	echo 'ACTIVITY SYSTEM ON' >"$dir/conf"
	VT_CONFIG=$dir/conf VT_LOGFILE_NAME=$dir/t.stf VT_VERBOSE=1 expect timeout 100 "$dir/alone/vtrun" "$dir/prog" \
		"$dir/a file" >"$dir/out" 2>"$dir/err" </dev/null
	expect_lines 1 'WARNING: there is no .*/libVTsystem.so: calls of class SYSTEM are not recorded' "$dir/err"
	expect "$build/stftool" "$dir/t.stf" --dump >"$dir/dump"
	expect_no_line 'SYSTEM"\|IOBEGIN' "$dir/dump"
	verdict "without libVTsystem.so: one message, and the program runs"
fi
done_testing
