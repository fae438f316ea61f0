# SPDX-License-Identifier: BSD-3-Clause
# awk -v out=DIR -f vt-pages.awk VT.h fortran.c VT.3 options.def: makes a manual page for each VT_ call, of the comment above its
# declaration, and the page of VT_CONFIG, of the table of options. With -v out=- it only prints the names of the pages.

function plain(text)
{
	gsub(/\\/, "\\e", text)
	gsub(/[ \t]+/, " ", text)
	sub(/^ /, "", text)
	sub(/ $/, "", text)
	return text ~ /^[.']/ ? "\\&" text : text
}

# A comment of C as the lines of a page; what begins with VT_ERR_ begins a paragraph of RETURN VALUES.
function comment_text(text)
{
	gsub(/^[ \t]*\/\*|\*\/[ \t]*$/, "", text)
	gsub(/\n[ \t]*\*/, " ", text)
	return plain(text)
}

function page(name, section)
{
	if (out == "-") {
		print name "." section
		return "/dev/null"
	}
	return out "/" name "." section
}

FNR == 1 {
	files++
}

# VT.h: the last comment, then the declaration that it is above
files == 1 && /^\/\*/ {
	comment = ""
	inside = 1
}

files == 1 && inside {
	comment = comment "\n" $0
	if (/\*\//) {
		inside = 0
		sub(/^\n/, "", comment)
	}
	next
}

files == 1 && /^[A-Za-z].*VT_[a-z_]+\(/ && !/^typedef/ {
	declaration = $0
}

files == 1 && declaration != "" {
	if ($0 != declaration) {
		declaration = declaration " " $0
	}
	if (/;/) {
		name = declaration
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		calls[++n] = name
		c[name] = plain(declaration)
		about[name] = comment_text(comment)
		declaration = ""
	}
}

# fortran.c: CALL(vtenter, VTENTER, (const int *statehandle, ...), VT_enter(...)), or FORTRAN() with a body that calls it
files == 2 && /^(FORTRAN|CALL|CALL_WITH_TEXT)\(/ {
	call = " "
}

files == 2 && call != "" {
	call = call " " $0
}

files == 2 && call ~ /VT_[a-z_]+\(/ {
	name = call
	sub(/.*VT_/, "VT_", name)
	sub(/\(.*/, "", name)
	split(call, part, ",")
	upper = part[2]
	gsub(/ /, "", upper)
	parameters = call
	sub(/[^(]*\([^(]*\(/, "", parameters)
	sub(/\).*/, "", parameters)
	k = split(parameters, p, ",")
	list = ""
	for (i = 1; i <= k; i++) {
		gsub(/.*[ *]/, "", p[i])
		if (p[i] !~ /(^|_)len[0-9]*$/ && p[i] != "void") {
			list = list (list == "" ? "" : ", ") toupper(p[i])
		}
	}
	fortran[name] = (call ~ /, double, /) ? "X = " upper "(" list ")" : "CALL " upper "(" list ")"
	call = ""
}

# VT.3: what each call does in a few words
files == 3 && /^\.Ss The calls/ {
	listed = 1
}

files == 3 && /^\.Ss What is recorded/ {
	listed = 0
}

files == 3 && listed && /^\.It Fn / {
	k = split($0, word, " ")
	getline
	for (i = 3; i <= k; i++) {
		if (word[i] ~ /^VT_/) {
			short[word[i]] = plain($0)
		}
	}
}

# options.def: OPTION("NAME", TYPE, member, least, most, "VALUE", "text")
files == 4 && /^OPTION\(/ {
	option = ""
}

files == 4 && (/^OPTION\(/ || option != "") {
	option = option $0
	if (/\)$/) {
		k = split(option, quoted, "\"")
		text = ""
		for (i = 6; i <= k; i += 2) {
			text = text quoted[i]
		}
		item[++options] = plain(quoted[2])
		value[options] = plain(quoted[4])
		meaning[options] = plain(text)
		option = ""
	}
}

END {
	for (i = 1; i <= n; i++) {
		name = calls[i]
		file = page(name, 3)
		text = about[name]
		gsub(/\. /, ".\n", text)
		print ".\\\" Made of include/VT.h by vt-pages.awk.\n.Dd November 28, 2026\n.Dt " name " 3\n.Os Tickmark\n.Sh NAME\n.Nm " name \
			"\n.Nd " (name in short ? short[name] : "a call of the Tickmark collector") >file
		print ".Sh SYNOPSIS\n.In VT.h\n.Bd -literal\n" c[name] "\n.Ed" >file
		if (name in fortran) {
			print "In Fortran, after INCLUDE 'VT.inc':\n.Bd -literal\n" fortran[name] "\n.Ed" >file
		}
		print ".Sh DESCRIPTION\n" text >file
		if (c[name] ~ /^VT_ErrorCode/) {
			print ".Sh RETURN VALUES\nVT_OK (0), or a negative number:\nVT_ERR_NOTINITIALIZED before VT_initialize and after VT_finalize,\n" \
				"and what the description names.\n.Xr VT 3\nlists all." >file
		}
		print ".Sh SEE ALSO\n.Xr vtrun 1 ,\n.Xr VT 3 ,\n.Xr VT_CONFIG 3" >file
		close(file)
	}
	file = page("VT_CONFIG", 3)
	print ".\\\" Made of settings/options.def by vt-pages.awk.\n.Dd November 28, 2026\n.Dt VT_CONFIG 3\n.Os Tickmark\n.Sh NAME\n.Nm VT_CONFIG" \
		"\n.Nd options of the Tickmark collector, in a file, in variables, on the command line" >file
	print ".Sh SYNOPSIS\n.Ev VT_CONFIG Ns = Ns Ar file\n.Pp\n.Ev VT_ Ns Ar OPTION Ns = Ns Ar value" >file
	print ".Sh DESCRIPTION\nThe environment variable\n.Ev VT_CONFIG\nnames the configuration file, which has one option a line:" \
		"\nits name, then its value.\nA line that begins with # is a comment.\nA variable\n.Ev VT_NAME\nsets option NAME, with _ for each -,\n" \
		"and takes precedence over the file; what\n.Xr vtrun 1\nis given on the command line takes precedence over both." >file
	print ".Ev VT_CONFIG_RANK\nis the rank of an MPI job that reads the file for all." >file
	print ".Pp\nThe options, as\n.Cm vtrun --help\nhas them:\n.Bl -tag -width Ds" >file
	for (i = 1; i <= options; i++) {
		print ".It Li " item[i] " Ar " value[i] "\n" meaning[i] >file
	}
	print ".El\n.Pp\n.Xr VT 3\ndescribes further options, such as those of filters and of MPI jobs." >file
	print ".Sh SEE ALSO\n.Xr vtrun 1 ,\n.Xr VT 3" >file
	close(file)
}
