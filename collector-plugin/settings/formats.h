/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats that stftool makes of a finished trace, for LOGFILE-FORMAT and by the suffix of LOGFILE-NAME. The names and suffixes are
 * those of exchange/table.c, which the collector does not link; a test compares. */
#ifndef COLLECTOR_PLUGIN_SETTINGS_FORMATS_H
#define COLLECTOR_PLUGIN_SETTINGS_FORMATS_H

struct vt_format {
	const char *name, *suffix;
};

/* By name in any case, by the end of a file's name; NULL: none, or STF itself. */
const struct vt_format *vt_format_by_name(const char *name);
const struct vt_format *vt_format_by_suffix(const char *path);
/* All of them, with commas between. */
#define VT_FORMATS "ASCII, CSV, OTF2, JSONL, CHROME, SPEEDSCOPE, CTF, LTTNG, OTF, PAJE, PERFETTO, PARQUET"

#endif
