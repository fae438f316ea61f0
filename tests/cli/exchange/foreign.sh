#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Files of other programs: clkapply, stftool and vtreport say what they are, by their first bytes, and what to do. TAP.
# shellcheck source=../../lib/tap.sh source-path=SCRIPTDIR disable=SC2154
. "${top_srcdir:-.}/tests/lib/tap.sh"
cd "$dir" || exit 99
"$build/tests/cli/lib/make_stf" one a.stf
cat >c.clk <<'END'
TICKMARK-CLK 1
program "t"
master 0
ranks 1
global-period 1e-09
realtime-at-0 0
end 1
clock-was-set 0
interpolation linear
max-drift 0.0005
max-wander 1e-06
rank 0
host "a"
timer "CPU"
nominal-hz 1e9
piece 0 0 1000000000 1000000000 0 0
end-rank
end-file
END

said() # said FILE READ CORRECT: the message of stftool and vtreport, and that of clkapply, without the file's name
{
	if [ -n "$2" ]; then
		"$build/stftool" "$1" --print-statistics >out 2>err
		status=$?
		expect_status 1
		expect_text "stftool: $1 is $2" err
		"$build/vtreport" "$1" >out 2>err
		expect_not [ $? -eq 0 ]
		expect_text "vtreport: $1 is $2" err
	fi
	if [ -n "$3" ]; then
		"$build/clkapply" c.clk "$1" --rank 0 >out 2>err
		status=$?
		expect_status 2
		expect_text "clkapply: $1 is $3" err
		expect_empty out
	fi
}

corrects='it is not read, but clkapply corrects it'
printf 'SQLite format 3\000\020' >base.db
said base.db "a database of SQLite: it is not read, but clkapply corrects a report that Nsight Systems has exported" \
	"a database of SQLite: if it is a report of Nsight Systems, its name must end in .sqlite"
printf 'anything' >r.nsys-rep
said r.nsys-rep "" "a report of Nsight Systems: export it first: nsys export --type sqlite"
printf ' {"schemaVersion": 1, "traceEvents": []}' >events.txt
said events.txt "" "a trace: name its corrected copy by --output"
cp events.txt events.json
said events.json "" "a trace: name its corrected copy by --output"
printf '\357\273\277[{"name": "a"}]' >list.txt
said list.txt "a file in JSON: of JSON only trace events are read" ""
echo '{"rocprofiler-sdk-tool": []}' >amd.txt
said amd.txt "a file of rocprofv3: $corrects" "a file of rocprofv3: its name must end in .json or .json.gz"
printf '\012\003\010\001\020\012\002\010\001' >packets
said packets "a trace of Perfetto: it is damaged, or this build has no zlib (configure --with-zlib)" \
	"a trace of Perfetto: its name must end in .pftrace or .perfetto-trace"
printf 'x' | gzip -c >packed
gz='the name of a compressed trace ends in .json.gz, .pftrace.gz or .perfetto-trace.gz'
said packed "a file that gzip has compressed: unpack it by gunzip" "a file that gzip has compressed: $gz"
printf 'PK\003\004' >o.zip
said o.zip "a zip: unpack it" "a zip: unpack it"
said c.clk "" "a correction file: name the trace behind it"
said a.stf "" "an STF trace: its stamps are corrected already"
verdict "files of others"
"$build/stftool" a.stf --convert o.parquet >out 2>err
said o.parquet "a table in Parquet: that format is written, not read" "a table in Parquet: tables are corrected as CSV"
"$build/stftool" a.stf --convert o.ctf >out 2>err
"$build/stftool" "$src/tests/golden/plain-little.stf" --convert plain.ctf >out 2>err
"$build/vtreport" plain.ctf >out 2>err
expect [ $? -eq 0 ]
expect_line "<title>Report of plain.ctf" plain.html
mkdir other && echo "trace { };" >other/metadata
"$build/stftool" other --print-statistics >out 2>err
expect_text "stftool: other has metadata that does not begin as that of CTF: say --input-format CTF if it is that" err
mkdir bare
said bare "a folder without a trace of CTF or OTF2: name a file, as in bare/NAME.stf" ""
for stream in o.ctf/*_*; do
	said "$stream" "a file of a CTF trace: name the folder that it is in" \
		"a file of a CTF trace: name the folder that it is in"
	break
done
if "$build/stftool" a.stf --convert o.otf2 >out 2>err; then
	for archive in o.otf2 o.otf2/traces.otf2; do
		"$build/vtreport" "$archive" --output archive.html --force >out 2>err
		expect [ $? -eq 0 ]
		expect_line "<title>Report of ${archive##*/}" archive.html
	done
	# messages name what the user named, not the trace that is made in between
	"$build/stftool" o.otf2 --convert o.avt --logfile-format ASCII >out 2>err
	expect [ $? -eq 0 ]
	expect_line '^stftool: o.otf2: written to o.avt$' err
	"$build/stftool" o.otf2 --convert again.otf2 >out 2>err
	expect [ $? -eq 0 ]
	expect_no_line trace.stf err
fi
verdict "what stftool has written itself"
# no format has the IP address of a thread: each says so
"$build/tests/cli/lib/text_stf" "$src/tests/cli/stftool/rich.avt" rich.stf 2>err
sed 's/IP "10.0.0.1"/IP ""/' "$src/tests/cli/stftool/rich.avt" >plain.avt
"$build/tests/cli/lib/text_stf" plain.avt plain.stf
for format in csv jsonl lttng ctf paje perfetto; do
	"$build/stftool" rich.stf --convert "rich.$format" >out 2>err
	expect [ $? -eq 0 ]
	expect_line "has no place for: .*IP addresses of threads (1)" err
	"$build/stftool" plain.stf --convert "plain.$format" >out 2>err
	expect_no_line 'IP addresses' err
done
verdict "IP addresses are lost, and that is said"
# an empty line at the beginning is no packet, and a text is no JSON
printf '\n# a note\ntime,rank\n5,0\n' >table.csv
"$build/clkapply" c.clk table.csv >out 2>err
expect [ $? -eq 0 ]
printf 'no trace at all\n' >text
"$build/stftool" text --print-statistics >out 2>err
expect_line 'the first line must be "STF 1.0 LITTLE"' err
verdict "texts are not taken for anything else"
done_testing
