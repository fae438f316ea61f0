#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What `make installcheck` runs: the examples as installed, compiled with nothing but what is installed. CC, CXX, FC,
# PYTHON3,
# ZSTD_LIBS and BIN, LIB, INCLUDE, DOC, DATA (folders) come from make; a language without its compiler is named and left
# out.
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' 0
LD_LIBRARY_PATH=$LIB${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
LC_ALL=C.UTF-8
export LD_LIBRARY_PATH LC_ALL
bad=0
result() # result STATUS WHAT
{
	if [ "$1" -eq 0 ]; then
		echo "works as installed: $2"
	else
		echo "FAILED as installed: $2" >&2
		cat "$work/log" >&2
		bad=1
	fi
}

has() # has COMMAND: "no" and nothing are none
{
	[ -n "$1" ] && [ "$1" != no ] && command -v "${1%% *}" >/dev/null 2>&1
}

stf() # stf LANGUAGE COMPILER...: the two examples of libtickmark-stf
{
	name=$1
	shift
	for p in write read; do
		# shellcheck disable=SC2086
		"$@" -I"$INCLUDE/tickmark" "$DOC/stf/$p.c" -o "$work/$p" -L"$LIB" -ltickmark-stf $ZSTD_LIBS \
			>"$work/log" 2>&1 || {
			result 1 "$name examples of libtickmark-stf"
			return
		}
	done
	rm -f "$work"/t.*
	{ "$work/write" "$work/t.stf" && "$work/read" "$work/t.stf" |
		grep -Fx '1000 values, 2000 other records, last value 4096000 at 0.999500000 s' &&
		"$BIN/$STFTOOL" "$work/t.stf" --verify &&
		"$BIN/$STFTOOL" "$work/t.stf" --convert "$work/t.single.stf" &&
		"$work/read" <"$work/t.single.stf" | grep -F '1000 values'; } >"$work/log" 2>&1
	result $? "$name examples of libtickmark-stf"
}

vt() # vt LANGUAGE SOURCE COMPILER...: the example of the VT_ calls, whose trace has its counter and its function
{
	name=$1 source=$2
	shift 2
	rm -f "$work"/solver*
	{ "$@" -I"$INCLUDE" "$DOC/vt/$source" -o "$work/solver" -L"$LIB" -lVTcs &&
		(cd "$work" && ./solver | grep residual) &&
		"$BIN/$STFTOOL" "$work/solver.stf" --convert "$work/solver.csv" &&
		grep 'residual' "$work/solver.csv" | grep 0.0009765625 &&
		[ "$("$BIN/$STFTOOL" "$work/solver.stf" --dump | grep -c ' ENTER .*FUNCTION')" -eq 10 ] &&
		"$BIN/$STFTOOL" "$work/solver.stf" --dump | grep '^DEFFUNCTION.*"step"'; } >"$work/log" 2>&1
	result $? "$name example of the VT_ calls"
}

# archive LIBRARY SOURCE COMMAND: an example with the archive of this library, where --enable-static installed it;
# ARCHIVES=1: it did
archive()
{
	[ -n "${ARCHIVES:-}" ] || [ -e "$LIB/lib$1.a" ] || return
	private=$(sed -n 's/^Libs.private: //p' "$LIB/pkgconfig/$1.pc")
	# shellcheck disable=SC2086
	{ $CC $CPPFLAGS $CFLAGS -I"$INCLUDE" -I"$INCLUDE/tickmark" "$DOC/$2" "$LIB/lib$1.a" $private $ZSTD_LIBS \
		-o "$work/archive" && ! ldd "$work/archive" | grep "lib$1" &&
		(cd "$work" && sh -c "$3"); } >"$work/log" 2>&1
	result $? "example with lib$1.a"
}
archive tickmark-stf stf/write.c "./archive archive.stf && '$BIN/$STFTOOL' archive.stf --verify"
archive tickmark-clock clock/now.c './archive none.clk 2>said; test $? -eq 2 && grep none.clk said'
archive VTnull vt/solver.c './archive | grep residual && ! ls solver*.stf'
for a in "$LIB"/libVT*.a "$LIB"/tickmark/*.a; do
	if [ -e "$a" ] && [ "$a" != "$LIB/libVTnull.a" ]; then
		echo "a library of the collector cannot be an archive" >"$work/log"
		result 1 "$a"
	fi
done

# shellcheck disable=SC2086
stf C $CC $CPPFLAGS $CFLAGS
if [ -e "$LIB/libVTcs.so" ]; then
	# shellcheck disable=SC2086
	vt C solver.c $CC $CPPFLAGS $CFLAGS
fi
if has "$CXX"; then
	# shellcheck disable=SC2086
	stf C++ $CXX -x c++
	# shellcheck disable=SC2086
	[ ! -e "$LIB/libVTcs.so" ] || vt C++ solver.c $CXX -x c++
else
	echo "left out, no C++ compiler: the C++ examples"
fi
if ! has "$FC"; then
	echo "left out, no Fortran compiler: the Fortran example"
elif [ -e "$LIB/libVTcs.so" ]; then
	# shellcheck disable=SC2086
	vt Fortran solver.f90 $FC
fi
python=
for p in "$PYTHON3" /usr/bin/python3; do
	[ -n "$python" ] || ! "$p" -c 'import numpy' 2>/dev/null || python=$p
done
if [ -z "$python" ] || [ ! -e "$LIB/libtickmark-stf.so" ]; then
	echo "left out, no python3 with numpy or no shared library: the Python example"
else
	# As a user has it: no variable leads to the library. Only with DESTDIR it is not where the module looks.
	(
		unset LD_LIBRARY_PATH TICKMARK_STF_LIBRARY
		[ -z "${DESTDIR:-}" ] || export TICKMARK_STF_LIBRARY="$LIB/libtickmark-stf.so"
		PYTHONPATH=$DATA/python exec "$python" "$DOC/stf/counters.py" "$work/t.stf"
	) >"$work/log" 2>&1 &&
		grep -q '^net:bytes_sent \[bytes\] of process 0: 500 samples, last 4096000 at 0.999500000 s' "$work/log"
	result $? "Python example of libtickmark-stf"
fi
exit $bad
