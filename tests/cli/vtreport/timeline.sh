#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The timeline of a page: what its script reads is what was put into the trace; in parts where the page is small; and
# it draws.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
command -v node >/dev/null || skip_all "no node"

read_page() # read_page PAGE: what the script reads, in seen
{
	node "$src/tests/cli/vtreport/timeline.js" "$src/report/html/timeline_data.js" "$1" >seen 2>err ||
		cat err >>seen
}

make_page() # make_page NAME [OPTION...]: of the ASCII form NAME.avt
{
	name=$1
	shift
	"$build/tests/cli/lib/text_stf" "$name.avt" "$name.stf" >out 2>err
	"$build/vtreport" "$name.stf" --force "$@" >out 2>err
}

sed 's/^DEFCOMM/DEFFILE 1 "a b.c"\nDEFSCL 1 FILE 1 1 LINE 1 42 SYMBOL 1 0 OBJECT 1 0\n&/; s/^2000 ENTER.*/& SCL 1/' \
	"$src/tests/cli/stftool/waits.avt" >waits.avt
make_page waits
read_page waits.html
expect_text 'waits.html' out
expect_empty err
expect_line '^run 0 0.012$' seen
expect_line '^call rank_1 MPI_Recv 0.002 0.007 in - open 0 a b.c:42$' seen
expect_line '^call rank_0 solve_it 0.001 0.006 in - open 0 -$' seen
expect_lines 11 '^call ' seen
verdict "calls with begin, end, caller and line"
expect_line '^message 0 1 0.006 0.001 bytes 4 tag 0 COMM_WORLD$' seen
expect_lines 3 '^message ' seen
expect_line '^operation MPI_Barrier 0.0061 spread 0.00289 takes 0.002895 last 1 root -1 bytes 0 COMM_WORLD 0,1$' seen
expect_line '^wait 1 0.002 0.004 late_sender for 0 solve_it decided$' seen
expect_line '^wait 0 0.0061 0.00289 wait_at_barrier for 1 .* decided$' seen
expect_line '^wait 1 0.007999 0.000001 late_sender .* undecided$' seen
expect_line '^bound 0 0.000001$' seen
verdict "messages, operations, waits, and the bounds of the clocks"
sed -n 's/^<tr data-row.*<th scope="row">//; s/<[^>]*>/ /g; /late sender/p' waits.html >verify
expect_line 'rank 1 *4 ms *2 us *0.002 s *late sender *MPI_Recv *rank 0 *solve it *0 *a b.c:42' verify
verdict "the table of the longest waits"

make_page waits --window 5ms:9ms --output w.html
read_page w.html
expect_line '^run 0.005 0.009$' seen
expect_line '^call rank_1 MPI_Recv 0.005 0.007 in - open [13] ' seen
expect_line '^message 0 1 0.006 0.001 ' seen
verdict "--window: only that time, in seconds since the begin of the run"

# 4 ranks of 60000 calls of 10 us, one of them with a wait of 50 ms in the middle
awk 'BEGIN {
	print "CLKPERIOD 1e-09\nNCPUS 1 1 1 1\nDEFCLASS 1 \"MPI\" SELF \"MPI\" PARENT 0"
	print "DEFCLASS 2 \"App\" SELF \"App\" PARENT 0\nDEFFUNCTION 1 \"MPI_Recv\" CLASS 1"
	print "DEFFUNCTION 2 \"MPI_Send\" CLASS 1\nDEFFUNCTION 3 \"main\" CLASS 2"
	print "DEFCOMM 1 \"W\" LEFT 0 FIRST 1 1 LAST 1 4 STRIDE 1 1"
	for (r = 1; r <= 4; r++) { print 0, "ENTER CPU", r, "FUNCTION 3" }
	for (i = 1; i <= 60000; i++) {
		late = i == 30000 ? 50000000 : 0
		t = i * 20000 + (i > 30000 ? 50000000 : 0)
		for (r = 1; r <= 4; r++) {
			if (r > 1) { continue }
			print t + late, "MESSAGE FROM 1 TO 2 TIME 10000 COMM 1 TAG 0 LEN 8 SFUNCTION 2 RFUNCTION 1"
		}
		print t, "ENTER CPU 2 FUNCTION 1\n" t + late, "ENTER CPU 1 FUNCTION 2"
		print t + late + 5000, "LEAVE CPU 1\n" t + late + 10000, "LEAVE CPU 2"
	}
	for (r = 1; r <= 4; r++) { print 1300000000, "LEAVE CPU", r }
}' | awk 'NR <= 8 { print; next } { print | "sort -n -s -k 1,1" }' >long.avt
make_page long --size 512KB
read_page long.html
wc -c <long.html >size
expect [ "$(cat size)" -le 524288 ]
expect_line '^overview ' seen
expect_line '^wait 1 0.6 0.05 late_sender for 0 ' seen
# 60000 receives of 10 us and the 50 ms, to a hundredth of each column
awk '$1 == "sum" && $2 == "MPI_Recv" { exit !($3 > 0.63 && $3 < 0.67) }' seen || not_met "the sum of MPI_Recv"
awk '$1 == "waited" { exit !($2 > 0.045 && $2 < 0.06) }' seen || not_met "the sum of waits"
verdict "a page of --size: the overview has the sums, and the longest wait its details"
make_page long --size 40MB
read_page long.html
expect_lines 120004 '^call ' seen
expect_no_line '^overview' seen
verdict "a page with room has every call"
"$build/vtreport" long.stf --size 1KB >out 2>err
expect [ $? -eq 2 ]
expect_line -- '--size: .1KB. is not a number of bytes' err
verdict "--size that is too small is refused"

printf '%s\n' 'CLKPERIOD 1e-09' 'NCPUS 1 1' 'DEFCLASS 1 "a</script><b>" SELF "x" PARENT 0' \
	'DEFFUNCTION 1 "</script><script>alert(1)</script>" CLASS 1' '0 ENTER CPU 1 FUNCTION 1' '5 LEAVE CPU 1' \
	'7 ENTER CPU 2 FUNCTION 1' >names.avt
make_page names
read_page names.html
expect_line '^call [a-z]*_0 </script><script>alert(1)</script> 0 5e-9' seen
expect_no_line '<script>alert' names.html
verdict "names are text"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
	timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=3000 --dump-dom \
		"file://$PWD/waits.html" >dom 2>err
	grep -o '<p[^>]*id="timeline-status"[^>]*>[^<]*' dom >verify
	expect_line 'to 0.012.* s (12 ms)' verify
	expect_line '<canvas[^>]*aria-hidden="true"' dom
	expect_line 'class="go">rank 1<' dom
	verdict "a browser draws it"
else
	skip "a browser draws it" "no Chromium"
fi
done_testing
