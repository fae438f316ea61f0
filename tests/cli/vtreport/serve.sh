#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# vtreport --serve: the page at an address of this machine, with details that the page does not hold, for those who
# know the address.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
command -v node >/dev/null || skip_all "no node"
command -v python3 >/dev/null || skip_all "no python3"

make_trace() # make_trace NAME ROUNDS: two ranks, a message in each round of 20 us; two calls of what has no definition
{
	awk -v rounds="$2" 'BEGIN {
		print "CLKPERIOD 1e-09\nNCPUS 1 1\nDEFCLASS 1 \"MPI\" SELF \"MPI\" PARENT 0"
		print "DEFFUNCTION 1 \"MPI_Recv\" CLASS 1\nDEFFUNCTION 2 \"MPI_Send\" CLASS 1"
		print "DEFCOMM 1 \"W\" LEFT 0 FIRST 1 1 LAST 1 2 STRIDE 1 1"
		for (i = 0; i < rounds; i++) {
			t = i * 20000
			print t, "ENTER CPU 2 FUNCTION 1"
			print t, "MESSAGE FROM 1 TO 2 TIME 10000 COMM 1 TAG 0 LEN 8 SFUNCTION 2 RFUNCTION 1"
			print t, "ENTER CPU 1 FUNCTION 2\n" t + 5000, "LEAVE CPU 1\n" t + 10000, "LEAVE CPU 2"
			if (i == 9000) {
				print t + 11000, "ENTER CPU 1 FUNCTION 8\n" t + 12000, "LEAVE CPU 1"
				print t + 12000, "ENTER CPU 1 FUNCTION 9\n" t + 12500, "LEAVE CPU 1"
			}
		}
	}' >"$1.avt"
	"$build/tests/cli/lib/text_stf" "$1.avt" "$1.stf" >out 2>err
}

server=
address=
serve() # serve TRACE [OPTION...]: starts a server; its address in $address
{
	rm -f address
	"$build/vtreport" "$@" --serve >address 2>err &
	server=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		[ -s address ] && break
		kill -0 "$server" 2>/dev/null || break
		sleep 0.3
	done
	address=$(head -n 1 address)
}
end_server()
{
	kill -TERM "$server" 2>/dev/null
	wait "$server"
}

make_trace long 100000
timeout 60 "$build/vtreport" long.stf --serve --output x >out 2>err
expect [ $? -eq 2 ]
expect_line 'writes no file' err
verdict "--serve with --output is refused"
serve long.stf --size 256KB
if grep -q 'built without libmicrohttpd' err; then
	expect_line 'libmicrohttpd-dev' err
	verdict "a build without the library says what it lacks"
	skip "the rest" "no libmicrohttpd"
	done_testing
fi
expect_line -E '^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$' address
port=$(printf ':%04X' "$(echo "$address" | sed 's/.*:\([0-9]*\).*/\1/')")
# state 0A: it listens; 127.0.0.1 is in the order of this machine's bytes
awk -v port="$port$" '$4 == "0A" && $2 ~ port { print $2 }' /proc/net/tcp /proc/net/tcp6 >listens
expect_lines 1 -xE "(0100007F|7F000001)$port" listens
expect_lines 1 : listens
verdict "an address of this machine only, with a token"
expect [ -z "$(find . -name '*.html')" ]
expect python3 "$src/tests/cli/vtreport/serve.py" "$address" >answers
cat >want <<'END'
page 200 no-store text/html; charset=utf-8
allowed by CORS nobody
localhost 200
another name 404
no token 404
wrong token 404
another file 404
POST 405
detail 400
detail?from=0 400
detail?from=x&to=5 400
detail?from=9&to=5 400
detail?from=-1&to=5 400
detail?from=0&to=END+1 400
detail?from=0&to=9999999999999999999999999999999999999999 400
detail of all 204
detail of a tenth 200
page while others are silent 200
END
expect_same want answers
verdict "who does not know the address, or asks for what is not there, gets nothing"
node "$src/tests/cli/vtreport/timeline.js" "$src/report/html/timeline_data.js" detail.html >seen 2>&1
# all rounds of the first 200 ms
expect_line '^detail 0 0.19999' seen
expect_lines 10000 '^call rank_0 MPI_Send ' seen
expect_lines 10000 '^message 0 1 ' seen
# functions without a name: the overview of the page had the first, and nothing of the second
expect_lines 1 '^call rank_0 (no_name) 0.180011 ' seen
expect_lines 1 '^call rank_0 - 0.180012 0.1800125 ' seen
expect_line "connect-src 'self'" page.html
expect [ "$(wc -c <page.html)" -le 262144 ]
verdict "any stretch of the run has its calls and messages"
# the system's Python, as a user who may not see the folders of this one
as_other='setpriv --reuid 65534 --clear-groups /usr/bin/python3'
if [ "$(id -u)" -eq 0 ] && $as_other -c '' 2>err; then
	# another user takes all connections that it can get, and takes each again that is closed
	$as_other - "$address" <"$src/tests/cli/vtreport/occupy.py" >taken &
	stranger=$!
	until [ -s taken ]; do
		kill -0 "$stranger" 2>/dev/null || break
		sleep 0.1
	done
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		python3 "$src/tests/cli/vtreport/ask.py" "$address"
		sleep 0.1
	done >answers
	kill "$stranger"
	wait "$stranger" 2>/dev/null
	cat taken answers >verify
	expect_line -x 'taken' taken
	expect_lines 10 '^200$' answers
	verdict "another user who takes connections again and again does not keep the owner out"
else
	skip "another user who takes connections" "only root can, with setpriv and python3 in /usr/bin"
fi
end_server
expect [ $? -eq 0 ]
verdict "SIGTERM ends it"

"$build/vtreport" long.stf --size 512KB >out 2>err
expect_no_line 'connect-src' long.html
verdict "the page that is a file asks nobody"

(trap '' XFSZ && ulimit -f 100 && exec timeout 60 "$build/vtreport" long.stf --serve --size 512KB) >out 2>err
expect [ $? -eq 1 ]
expect_line 'could not be written to a file in memory' err
expect_empty out
verdict "a page for which there is no room is an error"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ]; then
	skip "a browser gets what the page does not hold" "no Chromium"
	done_testing
fi
# too long for the page, short enough for one question
make_trace some 15000
serve some.stf --size 256KB
# the browser's time ends before an answer that comes late on a busy machine
for budget in 10000 30000 100000; do
	timeout 120 "$browser" --headless --no-sandbox --disable-gpu --virtual-time-budget=$budget \
		--dump-dom "$address" >dom 2>err
	grep -o '<p[^>]*id="timeline-status"[^>]*>[^<]*' dom >verify
	grep -q 'Reading single calls' verify || break
done
expect_line 'Of 15000 messages one in' verify
verdict "a browser gets what the page does not hold"
end_server
done_testing
