#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The trace of four ranks as Debian's programs read it that are too slow, or too seldom installed, for make check:
# otfinfo, otfprofile, otf2-estimator, ViTE. BUILD: a build to take the programs of (default: one is made). What is
# missing is named.
# shellcheck source=../lib/lib.sh source-path=SCRIPTDIR
. "$(dirname "$0")/../lib/lib.sh"
need python3
build=${BUILD:-}
if [ -z "$build" ]; then
	configured "readers of Debian"
	step "readers of Debian: make" make -j"$jobs" stftool tests/cli/lib/text_stf
	build=$work/build
fi
cd "$work" || exit 99
python3 -B "$top/tests/cli/exchange/four_ranks.py" >four.avt
step "a trace of four ranks" "$build/tests/cli/lib/text_stf" four.avt four.stf
for f in otf otf2 paje; do
	step "as $f" "$build/stftool" four.stf --convert "four.$f"
done
has() { command -v "$1" >/dev/null || { echo "SKIPPED: no $1"; return 1; }; }

info=$(command -v otfinfo-trace || command -v otfinfo)
if [ -n "$info" ]; then
	"$info" -l 4 four.otf >info 2>&1
	"$info" -l 3 four.otf >>info 2>&1
	step "otfinfo counts events and names what is defined" python3 -B "$top/tests/ci/readers/readers_debian.py" \
		otfinfo info
else
	echo "SKIPPED: no otfinfo"
fi
if has otfprofile; then
	step "otfprofile" otfprofile -i four.otf -o profile
	step "otfprofile: calls and times of functions, to the last bit" python3 \
		-B "$top/tests/ci/readers/readers_debian.py" otfprofile profile.tex
fi
if has otf2-estimator; then
	# the sizes of 27 events of rank 0's first thread (enter and leave 3 each, ...) are at most what is estimated
	step "otf2-estimator: a file of events is not larger than its estimate" sh -c '
		printf "set Region 4\nset Metric 4\nset Comm 2\nget Timestamp\nget Enter\nget Leave\nget Metric '\
'3\nget MpiSend\nget MpiCollectiveBegin\nget MpiCollectiveEnd\nexit\n" |
			otf2-estimator | awk -v size="$(wc -c <four.otf2/traces/0.evt)" "{ v[\$1] = \$NF }
			END {
				n = 18 + 2 + 33 * v[\"Timestamp\"] + 6 * v[\"Enter\"] + 6 * v[\"Leave\"] + 3 * '\
'v[\"Metric\"] + 6 * v[\"MpiSend\"] + \
					3 * v[\"MpiCollectiveBegin\"] + 3 * v[\"MpiCollectiveEnd\"]
				print size, \"bytes, estimated\", n
				exit !(v[\"Timestamp\"] > 0 && v[\"MpiCollectiveEnd\"] > 0 && size <= n)
			}"'
fi
if has vite; then
	export QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR="$work"
	for f in paje otf; do
		step "ViTE draws four.$f" \
			sh \
			-c \
			"vite -f four.$f -e four.$f.svg >vite.log 2>&1 && grep -Eq '(^| )0 errors' vite.log && grep \
-q 'nöde-2' four.$f.svg"
	done	# it crashes with any archive that has instances of metrics, which counters of nodes are
	sed '/ SAMP CPU 21474836/d' four.avt >threads.avt
	step "a trace of threads alone" "$build/tests/cli/lib/text_stf" threads.avt threads.stf
	step "as otf2, of threads alone" "$build/stftool" threads.stf --convert threads.otf2
	step "ViTE draws threads.otf2" \
		sh -c "vite -f threads.otf2/traces.otf2 -e threads.svg >vite.log 2>&1 &&
			grep -Eq '(^| )0 errors' vite.log"
	for name in 'node one' 'nöde-2' 'Process 0' 'Process 3' 'thread 0' 'wörker'; do
		step "ViTE names $name" grep -q ">$name" threads.svg
	done
fi

# a trace from outside
step "an archive of EZTrace" "$build/stftool" "$top/tests/golden/eztrace/eztrace_log.otf2" --convert ez.stf
for f in otf paje; do
	step "as $f" "$build/stftool" ez.stf --convert "ez.$f"
	if has vite; then
		step "ViTE draws ez.$f" \
			sh \
			-c \
			"vite -f ez.$f -e ez.$f.svg >vite.log 2>&1 && grep -Eq '(^| )0 errors' vite.log && [ -s \
ez.$f.svg ]"
	fi
done
calls=$("$build/stftool" ez.stf --dump | grep -c ' ENTER ')
if [ -n "$info" ]; then
	step "otfinfo counts its calls" sh -c "'$info' -l 4 ez.otf 2>&1 | grep -Eq '[|] enters +[|] $calls( |$)'"
fi
if has otfprofile; then
	step "otfprofile of it" otfprofile -i ez.otf -o ezprofile
	step "otfprofile names its functions, with their calls" grep -Eq 'MPI_Send[|] &.*[|]20[|]' ezprofile.tex
fi
