/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats to which stftool can convert a finished trace: for LOGFILE-FORMAT, and by the suffix of LOGFILE-NAME. The
 * names and suffixes are those of each xch_NAME (exchange/common/private.h, XCH_FORMATS), which the collector does not link, and
 * ASCII, which stftool prints itself. A test compares the two tables. */
#ifndef COLLECTOR_PLUGIN_SETTINGS_FORMATS_H
#define COLLECTOR_PLUGIN_SETTINGS_FORMATS_H

struct vt_format {
	const char *name, *suffix;
};

/* Finds a format by its name, in upper or lower case, or by the suffix of a file name. NULL: there is none, or it is
 * STF itself. */
const struct vt_format *vt_format_by_name(const char *name);
const struct vt_format *vt_format_by_suffix(const char *path);

/* The table: names and suffixes. */
/* clang-format off */
#define VT_FORMAT_TABLE(X) \
	X("ASCII", ".avt") X("CSV", ".csv") X("OTF2", ".otf2") X("JSONL", ".jsonl") X("CHROME", ".chrome.json") X("CTF", ".ctf") \
	X("LTTNG", ".lttng") X("OTF", ".otf") X("PAJE", ".paje") X("PERFETTO", ".perfetto") X("PARQUET", ".parquet")
/* clang-format on */
/* The names of all formats, with ", " before each. */
#define VT_FORMAT_NAME(name, suffix) ", " name
#define VT_FORMATS VT_FORMAT_TABLE(VT_FORMAT_NAME)

#endif
