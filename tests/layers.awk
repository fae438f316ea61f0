# SPDX-License-Identifier: BSD-3-Clause
# awk -v top=DIR -f layers.awk TABLE FILE...: holds the includes of FILE... (paths below top, see
# tests/layers.sh) against TABLE. Prints one line per violation: "folder: file:line: what". -v whole=1: FILE... is all there is, so
# that a reservation that nothing uses is a violation, too.

function bad(text)
{
	print folder ": " name ":" FNR ": " text
}

# Turns a shell pattern into a regular expression that knows "*" only.
function pattern(glob)
{
	gsub(/[.+]/, "\\\\&", glob)
	gsub(/\*/, ".*", glob)
	return "^" glob "$"
}

function read_table(	i, n, part)
{
	sub(/#.*/, "")
	if (NF == 0) {
		return
	}
	if ($2 == "only") {
		what = $1
		gsub(/"/, "", what)
		for (i = 3; i <= NF; i++) {
			owners++
			header_of[owners] = pattern(what)
			owner[owners] = pattern($i)
			line_of[owners] = what " only " $i
		}
		return
	}
	if ($1 !~ /:$/) {
		print "tests: layers:" FNR ": neither FOLDER: nor HEADER only FILE: " $0
		return
	}
	part = substr($1, 1, length($1) - 1)
	for (i = 2; i <= NF; i++) {
		n = $i
		if (n ~ /\.[a-z]+$/) {
			print part ": layers:" FNR ": " n " is no folder"
		} else if (n != "*" && (!(n in known) || n == part)) {
			print part ": layers:" FNR ": " $i " is no layer below " part
		}
		may[part, $i] = 1
	}
	known[part] = 1
}

# The folder of the table that a path belongs to: the longest that is known; "" if there is none.
function folder_of(path,	dir)
{
	dir = path
	do {
		if (dir in known) {
			return dir
		}
	} while (sub("/[^/]*$", "", dir))
	return ""
}

# May files of `folder` include those of folder `of`? A folder that is named stands for all below it.
function allowed(of)
{
	while (!((folder, of) in may)) {
		if (!sub("/[^/]*$", "", of)) {
			return 0
		}
	}
	return 1
}

# Is a header reserved to files of which this one is none?
function reserved(header,	i, is)
{
	for (i = 1; i <= owners; i++) {
		if (header ~ header_of[i]) {
			if (name ~ owner[i]) {
				claimed[i] = 1
				return 0
			}
			is = 1
		}
	}
	return is
}

function check_own(header,	of, file, made)
{
	if (header == "config.h") {
		if (name !~ /\.c$/) {
			bad("config.h belongs into .c files")
		}
		return
	}
	# a public header is installed beside those it needs
	if (header !~ /\// && folder == "include") {
		header = "include/" header
	}
	if (header !~ /\//) {
		bad("\"" header "\" is not written from the top (\"folder/file.h\")")
		return
	}
	of = folder_of(header)
	if (of == "") {
		bad("\"" header "\" is in no folder of tests/layers")
	} else if ((folder, "*") in may) {
		# anything but reserved headers of the system
	} else if (reserved(header)) {
		bad("\"" header "\" is reserved to a few files")
	} else if (of != folder && !allowed(header)) {
		bad(folder " may not include \"" header "\"")
	}
	# make writes NAME_X.h from NAME.X
	file = made = top "/" header
	sub(/_[a-z]+\.h$/, "", made)
	made = made "." substr(header, length(made) - length(top) + 1, length(header) - length(made) + length(top) - 2)
	if (!exists(file) && !exists(made)) {
		bad("\"" header "\" does not exist")
	}
}

function exists(file,	there, line)
{
	there = (getline line < file) >= 0
	close(file)
	return there
}

function check_system(header,	of)
{
	of = header
	gsub(/[<>]|\/.*/, "", of)
	if (of in known) {
		bad("own header in angle brackets: " header)
	} else if (reserved(header)) {
		bad(header " is reserved to a few files")
	}
}

# A call that opens or looks up an absolute path, its arguments up to the first ";".
function check_call(text)
{
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
	if (text ~ /(^|[^A-Za-z0-9_])(f?open(at|64)?|freopen|opendir|access|l?stat|readlink) *\([^;]*"\/(proc|sys)[\/"]/) {
		bad("opens an absolute /proc or /sys path; base/rootfs.h reads below a root")
	}
}

FNR == 1 {
	files++
	name = substr(FILENAME, length(top) + 2)
	folder = folder_of(name)
	call = ""
	if (files > 1 && folder == "") {
		folder = name
		sub("/.*", "", folder)
		if (!(folder in said)) {
			said[folder] = 1
			bad("folder " folder " is missing in tests/layers")
		}
	}
}

files == 1 {
	read_table()
	next
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, quoted, "\"")
	check_own(quoted[2])
}

/^[ \t]*#[ \t]*include[ \t]*</ {
	header = $0
	sub(/^[^<]*/, "", header)
	sub(/>.*/, ">", header)
	check_system(header)
}

folder != "base" && folder !~ /^tests(\/|$)/ {
	call = call " " $0
	if (/[;{}]/) {
		check_call(call)
		call = ""
	}
}

END {
	for (i = 1; whole && i <= owners; i++) {
		if (!(i in claimed)) {
			print "tests: layers: nothing uses " line_of[i]
		}
	}
}
