#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches with one fuzz target: builds it with clang, AddressSanitizer, UBSan and libFuzzer, and lets it run.
#
#   search.sh TARGET BUILD SECONDS [libFuzzer options]
#
# TARGET is a folder of tests/fuzz/corpus, BUILD a configured build folder; what is found and learnt stays in
# BUILD/fuzz/TARGET. No single allocation may be larger than LIMIT_MB (default 16; 400 for frames, whose format allows
# 128 KiB of content for 3 bytes), and no input may take longer than 10 s. The last line says how many inputs were run.
# shellcheck disable=SC2086
set -eu
target=$1 build=$(cd "$2" && pwd) seconds=$3
shift 3
top_srcdir=$(cd "$(dirname "$0")/../.." && pwd)
export top_srcdir
src=$top_srcdir/tests/fuzz/fuzz_$target.c define=
[ -e "$src" ] || src=$top_srcdir/tests/fuzz/fuzz_part.c define=-DFUZZ_PART=$target
out=$build/fuzz
mkdir -p "$out/$target"
limit=16
[ "$target" != frames ] || limit=400
case $target in
vtf | words) folders="base stf tools" ;;
option) folders=base ;;
*) folders=stf ;;
esac
# the definition layer is the same for the other parts: to see where it goes each time costs a third of the time
less=
case $target in
index | declarations | data | anchors | frames)
	printf 'src:*/stf/deflayer.c\nsrc:*/stf/layout.c\nsrc:*/tests/fuzz/*\n' >"$out/good-parts"
	less=-fsanitize-coverage-ignorelist=$out/good-parts
	;;
esac
sources=$(cd "$top_srcdir" && find $folders -maxdepth 1 -name '*.c' ! -name '*_main.c' ! -name stftool.c ! -name merge.c | sed "s|^|$top_srcdir/|")
[ -n "${NO_BUILD:-}" ] || clang -g -O2 -w -std=gnu11 -D_GNU_SOURCE -DFUZZING $define -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=undefined $less -I"$build" -I"$top_srcdir" -o "$out/fuzz_$target" "$src" $sources -lm -lzstd -lxxhash \
	-ljansson -ldl -lpthread
cd "$out"
export ASAN_OPTIONS="malloc_context_size=4:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
# what is read behind a good definition layer needs no long inputs
longest=4096
[ -z "$less" ] || longest=1024
exec "./fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2000 -malloc_limit_mb="${LIMIT_MB:-$limit}" \
	-artifact_prefix="found-$target-" -print_final_stats=1 -max_len=$longest "$@" "$out/$target" \
	"$top_srcdir/tests/fuzz/corpus/$target"
