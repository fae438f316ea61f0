/* SPDX-License-Identifier: BSD-3-Clause */
/* Corrects the stamps of a report that Nsight Systems has exported as a database of SQLite. Its stamps are ns since the session began;
 * both kinds of base are in the file. The copy keeps 0 where it is: its time of day becomes that of the master. */
#include "config.h"
#include "exchange/common/private.h"

#ifdef HAVE_SQLITE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sqlite3.h>

#include "base/newfile.h"

enum { ANSWER = 1024 };

struct nsight {
	struct xch_restamp *x;
	struct tkm_err *err;
	sqlite3 *db;
	int64_t raw0_ns; /* what the clock showed when the session began */
	int64_t zero_ns; /* that, corrected: since the start of the run */
	char host[ANSWER];
};

static int fail_nsight(struct nsight *n, const char *what)
{
	return tkm_fail(n->err, TKM_ERR_FORMAT, "%s: %s: %s", n->x->path, what, sqlite3_errmsg(n->db));
}

/* Runs a statement. Returns 1: its first row is in answer, "" for NULL; 0: it has none; or -1. */
static int ask_database(struct nsight *n, char answer[ANSWER], const char *format, ...)
{
	sqlite3_stmt *s = NULL;
	const char *text;
	va_list ap;
	char *sql;
	int rc;

	va_start(ap, format);
	sql = sqlite3_vmprintf(format, ap);
	va_end(ap);
	rc = sql ? sqlite3_prepare_v2(n->db, sql, -1, &s, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	rc = rc == SQLITE_OK ? sqlite3_step(s) : rc;
	if (rc == SQLITE_ROW && answer) {
		text = (const char *)sqlite3_column_text(s, 0);
		snprintf(answer, ANSWER, "%s", text ? text : "");
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
		fail_nsight(n, "the database cannot be used");
	}
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

/* The same; a table or column that is not there has no row. */
static int ask_column(struct nsight *n, char answer[ANSWER], const char *table, const char *column, const char *where)
{
	int rc = ask_database(n, NULL, "SELECT 1 FROM pragma_table_info(%Q) WHERE name = %Q", table, column);

	return rc <= 0 ? rc : ask_database(n, answer, "SELECT \"%w\" FROM \"%w\" %s LIMIT 1", column, table, where);
}

/* ---- the clock ---- */

static int correct_stamp(struct nsight *n, int64_t ns, int64_t *corrected)
{
	double bound;
	int64_t raw;

	if (__builtin_add_overflow(n->raw0_ns, ns, &raw) || (raw < 0 && !n->x->unbounded) ||
		n->x->at(n->x->user, (uint64_t)raw, corrected, &bound) < 0) {
		return -1;
	}
	n->x->worst_s = fmax(n->x->worst_s, bound);
	return 0;
}

/* The function of SQL that UPDATE calls. */
static void correct_value(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct nsight *n = sqlite3_user_data(context);
	char text[120];
	int64_t at;

	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL) {
		sqlite3_result_null(context);
	} else if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER) {
		snprintf(text, sizeof(text), "the stamp %.40s is no whole number of ns",
			(const char *)sqlite3_value_text(argv[0]));
		sqlite3_result_error(context, text, -1);
	} else if (correct_stamp(n, sqlite3_value_int64(argv[0]), &at) < 0) {
		snprintf(text, sizeof(text),
			"the stamp %lld is before the start of its clock, or too far away (another --timer?)",
			(long long)sqlite3_value_int64(argv[0]));
		sqlite3_result_error(context, text, -1);
	} else {
		n->x->stamps++;
		sqlite3_result_int64(context, at - n->zero_ns);
	}
}

/* Exports with other bases are refused. */
static int check_export(struct nsight *n)
{
	char answer[ANSWER];
	int rc = ask_database(n, NULL, "SELECT 1 FROM sqlite_master WHERE name = 'TICKMARK'");

	if (rc > 0) {
		return tkm_fail(n->err, TKM_ERR_FORMAT, "%s: the file is corrected already", n->x->path);
	}
	rc = rc < 0 ? -1
		    : ask_column(n, answer, "META_DATA_EXPORT", "value",
			      "WHERE (name LIKE '%TIME_SHIFT' AND value NOT IN ('', '0')) OR "
			      "(name LIKE '%TIME_NORMALIZE' AND lower(value) NOT IN ('', '0', 'false'))");
	return rc <= 0
		? rc
		: tkm_fail(n->err, TKM_ERR_FORMAT,
			  "%s was exported with shifted or normalized times, whose base is unknown: export it again "
			  "without --ts-shift and --ts-normalize",
			  n->x->path);
}

/* Opens the rank's clock, and learns where the session's 0 is on it. */
static int begin_clock_of_report(struct nsight *n)
{
	static const char *const session = "TARGET_INFO_SESSION_START_TIME";
	char answer[ANSWER] = "";
	int realtime, rc = ask_column(n, n->host, "TARGET_INFO_SYSTEM_ENV", "value", "WHERE name = 'Hostname'");

	if (rc < 0) {
		return -1;
	}
	n->x->timer = "";
	n->x->host = n->host[0] ? n->host : NULL;
	n->x->unordered = 1;
	if (n->x->begin(n->x->user, XCH_NONE, 1e9, n->err) < 0) {
		return -1;
	}
	if (n->x->unbounded) {
		n->x->worst_s = INFINITY; /* nothing is corrected */
		return 0;
	}
	realtime = !strcmp(n->x->used_timer, "clock_realtime");
	rc = ask_column(n, answer, session, realtime ? "utcEpochNs" : "systemClockNs", "");
	if (rc == 0 && !realtime) {
		rc = ask_column(n, answer, "ANALYSIS_DETAILS", "startTime", "");
	}
	if (rc <= 0 || !answer[0]) {
		return rc < 0 ? -1
			      : tkm_fail(n->err, TKM_ERR_FORMAT, "%s has no %s.%s, the base of its times", n->x->path,
					session, realtime ? "utcEpochNs" : "systemClockNs");
	}
	n->raw0_ns = strtoll(answer, NULL, 10);
	return correct_stamp(n, 0, &n->zero_ns) < 0
		? tkm_fail(
			  n->err, TKM_ERR_FORMAT, "%s: the session began before its clock, or too far away", n->x->path)
		: 0;
}

/* ---- the tables ---- */

/* Corrects the times of one table. Returns 0 or -1. */
static int correct_table(struct nsight *n, const char *table)
{
	char set[ANSWER];

	memset(set, 0, sizeof(set));
	if (ask_database(n, set,
		    "SELECT group_concat('\"' || name || '\" = tickmark(\"' || name || '\")') FROM pragma_table_info(%Q) "
		    "WHERE type LIKE 'INT%%' AND (name IN ('start', 'end', 'timestamp') OR name GLOB 'qmd*Done')",
		    table) < 0) {
		return -1;
	}
	return set[0] ? ask_database(n, NULL, "UPDATE \"%w\" SET %s", table, set) : 0;
}

static int correct_tables(struct nsight *n)
{
	sqlite3_stmt *s = NULL;
	int rc, done = 0;

	rc = sqlite3_prepare_v2(n->db,
		"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@' AND name NOT LIKE 'ENUM@_%' ESCAPE '@' "
		"AND name NOT LIKE 'TARGET@_INFO@_%' ESCAPE '@' AND name NOT LIKE 'META@_DATA@_%' ESCAPE '@' AND sql LIKE 'CREATE TABLE%'",
		-1, &s, NULL);
	while (rc == SQLITE_OK && done == 0 && sqlite3_step(s) == SQLITE_ROW) {
		done = correct_table(n, (const char *)sqlite3_column_text(s, 0));
	}
	if (sqlite3_finalize(s) != SQLITE_OK || rc != SQLITE_OK) {
		return done < 0 ? -1 : fail_nsight(n, "its tables cannot be read");
	}
	return done;
}

/* The session itself: its length, and the master's time of day at its 0. */
static int correct_session(struct nsight *n)
{
	int rc = ask_database(n, NULL,
		"SELECT 1 WHERE (SELECT count(*) FROM pragma_table_info('ANALYSIS_DETAILS') "
		"WHERE name IN ('duration', 'startTime', 'stopTime')) = 3");

	if (n->x->unbounded) {
		return 0;
	}
	if (rc > 0) {
		rc = ask_database(n, NULL,
			"UPDATE ANALYSIS_DETAILS SET duration = tickmark(duration), stopTime = startTime + tickmark(duration)");
	}
	rc = rc < 0
		? -1
		: ask_database(n, NULL,
			  "SELECT 1 FROM pragma_table_info('TARGET_INFO_SESSION_START_TIME') WHERE name = 'utcEpochNs'");
	return rc <= 0 ? rc
		       : ask_database(n, NULL, "UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = %lld",
				 (long long)(n->x->realtime0_ns + n->zero_ns));
}

static int describe_report(struct nsight *n)
{
	char bound[32] = "NULL";

	if (isfinite(n->x->worst_s)) {
		snprintf(bound, sizeof(bound), "%.0f", ceil(n->x->worst_s * 1e9));
	}
	if (ask_database(n, NULL,
		    "CREATE TABLE TICKMARK (bound_ns INTEGER, timer TEXT, rank INTEGER, unbounded INTEGER)") < 0) {
		return -1;
	}
	return ask_database(n, NULL, "INSERT INTO TICKMARK VALUES (%s, %Q, %lld, %d)", bound, n->x->used_timer,
		n->x->rank, n->x->unbounded);
}

static int correct_database(struct nsight *n)
{
	if (ask_database(n, NULL, "PRAGMA journal_mode = OFF") < 0 ||
		ask_database(n, NULL, "PRAGMA cache_size = -8000") < 0 ||
		ask_database(n, NULL, "PRAGMA synchronous = OFF") < 0 ||
		ask_database(n, NULL, "PRAGMA temp_store = FILE") < 0 || check_export(n) < 0 ||
		begin_clock_of_report(n) < 0 || ask_database(n, NULL, "BEGIN") < 0) {
		return -1;
	}
	if (!n->x->unbounded && (correct_tables(n) < 0 || correct_session(n) < 0)) {
		return -1;
	}
	return describe_report(n) < 0 ? -1 : ask_database(n, NULL, "COMMIT");
}

/* ---- the file ---- */

/* What another program has not written into the database yet would be lost. */
static int check_is_closed(struct nsight *n)
{
	static const char *const endings[] = { "-wal", "-journal" };
	char name[4400], *path = realpath(n->x->path, NULL); /* SQLite has them beside the file that a link names */
	struct stat st;
	size_t i;
	int open = 0;

	for (i = 0; i < sizeof(endings) / sizeof(endings[0]) && !open; i++) {
		snprintf(name, sizeof(name), "%.4300s%s", path ? path : n->x->path, endings[i]);
		open = stat(name, &st) == 0 && st.st_size > 0;
	}
	free(path);
	return open ? tkm_fail(n->err, TKM_ERR_FORMAT,
			      "%s: %s has changes that are not in it yet: close the program that has it open, or open "
			      "it once with sqlite3",
			      n->x->path, name)
		    : 0;
}

static int copy_bytes(struct nsight *n, FILE *to)
{
	FILE *from = fopen(n->x->path, "re");
	char block[1 << 16];
	size_t k;
	int rc = 0;

	if (!from) {
		return tkm_fail_errno(n->err, TKM_ERR_IO, errno, "cannot open %s", n->x->path);
	}
	while (rc == 0 && (k = fread(block, 1, sizeof(block), from)) > 0) {
		rc = fwrite(block, 1, k, to) == k ? 0 : -1;
	}
	rc = rc < 0 || ferror(from) || fflush(to) != 0
		? tkm_fail_errno(n->err, TKM_ERR_IO, errno, "cannot copy %s", n->x->path)
		: 0;
	fclose(from);
	return rc;
}

static int restamp_nsight(struct xch_restamp *x, struct tkm_err *err)
{
	struct nsight n = { .x = x, .err = err };
	struct tkm_newfile to;
	int rc;

	if (check_is_closed(&n) < 0 || tkm_newfile_begin(&to, x->to, x->force, err) < 0) {
		return -1;
	}
	rc = to.device ? tkm_fail(err, TKM_ERR_ARG, "%s is a device, which cannot be a database", x->to)
		       : copy_bytes(&n, to.f);
	if (rc == 0) {
		rc = sqlite3_open_v2(to.name.temporary, &n.db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
				sqlite3_create_function(n.db, "tickmark", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, &n,
					correct_value, NULL, NULL) == SQLITE_OK &&
				sqlite3_db_config(n.db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK &&
				sqlite3_db_config(n.db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) == SQLITE_OK
			? correct_database(&n)
			: fail_nsight(&n, "cannot be opened");
		rc = sqlite3_close(n.db) == SQLITE_OK ? rc : -1;
	}
	if (rc < 0) {
		tkm_newfile_abort(&to);
		return -1;
	}
	return tkm_newfile_commit(&to, err);
}

#else

static int restamp_nsight(struct xch_restamp *x, struct tkm_err *err)
{
	return tkm_fail(err, TKM_ERR_UNAVAIL,
		"%s: this build cannot correct it: it needs sqlite3 (configure --with-sqlite)", x->path);
}

#endif

const struct xch_format xch_nsight = {
	.name = "NSIGHT",
	.suffix = ".sqlite",
	.what = "database that Nsight Systems has exported",
	.unclocked = 1,
	.restamp = restamp_nsight,
};
