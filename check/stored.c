/* SPDX-License-Identifier: BSD-3-Clause */
/* The state directory: where the last result of timertest is kept, and reading it. */
#include "config.h"
#include "check/stored.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/known.h"
#include "base/newfile.h"

char *chk_state_dir(char *buf, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	buf[0] = '\0';
	if (state && state[0] == '/') {
		snprintf(buf, size, "%s/tickmark", state);
	} else if (geteuid() == 0) {
		snprintf(buf, size, "/var/lib/tickmark");
	} else if (home && home[0] == '/') {
		snprintf(buf, size, "%s/.local/state/tickmark", home);
	}
	return buf;
}

static void clear_stored(struct chk_stored *s)
{
	memset(s, 0, sizeof(*s));
	s->started_s = s->suspended_s = s->realtime_minus_boottime_s = s->offset_max_s = s->offset_low_s =
		s->offset_high_s = s->uncorrected_s = s->drift_ppm = s->residual_s = NAN;
}

/* mkdir -p */
static int make_folders(const char *dir, struct tkm_err *err)
{
	char path[4096], *p;

	if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path)) {
		return tkm_fail(err, TKM_ERR_ARG, "the name of the state directory is too long: %.100s...", dir);
	}
	for (p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	if (mkdir(path, 0755) < 0 && errno != EEXIST) {
		return tkm_fail_errno(err, TKM_ERR_IO, errno, "cannot make the state directory %.300s", path);
	}
	return 0;
}

#ifdef HAVE_JANSSON

#include <jansson.h>

static double stored_number(const json_t *j, const char *name)
{
	const json_t *v = json_object_get(j, name);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static void stored_text(const json_t *j, const char *name, char *buf, size_t size)
{
	const char *s = json_string_value(json_object_get(j, name));

	snprintf(buf, size, "%s", s ? s : "");
}

static void read_host(struct chk_stored *s, const json_t *env)
{
	const json_t *marker = json_object_get(env, "vm_marker");

	s->here = 1;
	stored_text(env, "boot_id", s->boot_id, sizeof(s->boot_id));
	stored_text(env, "kernel", s->kernel, sizeof(s->kernel));
	stored_text(json_object_get(env, "clocksource"), "current", s->clocksource, sizeof(s->clocksource));
	s->suspended_s = stored_number(env, "suspended_s");
	s->realtime_minus_boottime_s = stored_number(env, "realtime_minus_boottime_s");
	s->has_marker = json_is_string(marker);
	s->marker = s->has_marker ? strtoull(json_string_value(marker), NULL, 16) : 0;
}

static double larger_or_known(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

/* host_of: the hosts of the ranks so far. */
static void read_rank(struct chk_stored *s, const json_t *j, size_t i, const char *host, const char **host_of)
{
	const json_t *env = json_object_get(j, "env"), *sync = json_object_get(j, "sync"),
		     *before = json_object_get(sync, "before_correction");
	const char *name = json_string_value(json_object_get(env, "host"));
	double away = fabs(stored_number(before, "offset_s"));
	size_t k = 0;

	host_of[i] = name ? name : "";
	while (strcmp(host_of[k], host_of[i])) {
		k++;
	}
	s->hosts += k == i;
	if (!s->here && !strcmp(host_of[i], host)) {
		read_host(s, env);
	}
	s->residual_s = larger_or_known(s->residual_s, stored_number(sync, "bound_s"));
	s->drift_ppm = larger_or_known(s->drift_ppm, fabs(stored_number(sync, "drift_ppm")));
	if (i && away >= 0 && !(away <= s->uncorrected_s)) {
		s->uncorrected_s = away;
		snprintf(s->worst_host, sizeof(s->worst_host), "%s", host_of[i]);
	}
}

static void read_first(struct chk_stored *s, const json_t *first, const char *host)
{
	size_t i;
	json_t *f;

	json_array_foreach(first, i, f)
	{
		const char *h = json_string_value(json_object_get(f, "host")),
			   *boot = json_string_value(json_object_get(f, "boot_id"));

		if (h && boot && !strcmp(h, host) && tkm_known_equal(boot, s->boot_id)) {
			stored_text(f, "clocksource", s->first_clocksource, sizeof(s->first_clocksource));
		}
	}
}

static int tells_time(const char *timer)
{
	return !strcmp(timer, "gettimeofday") || !strcasecmp(timer, "clock_realtime") ||
		!strcmp(timer, "CLOCK_REALTIME");
}

static void read_result(struct chk_stored *s, const json_t *j, const char *host)
{
	const json_t *ranks = json_object_get(j, "ranks"), *most = json_object_get(j, "maximum"),
		     *verdict = json_object_get(j, "verdict");
	const char **host_of;
	size_t i;

	s->ranks = (int)json_array_size(ranks);
	host_of = calloc((size_t)s->ranks + 1, sizeof(*host_of));
	if (!host_of) {
		snprintf(s->why, sizeof(s->why), "out of memory for %d ranks", s->ranks);
		return;
	}
	s->started_s = stored_number(j, "started_unix_s");
	stored_text(verdict, "status", s->verdict, sizeof(s->verdict));
	stored_text(verdict, "reason", s->reason, sizeof(s->reason));
	stored_text(json_object_get(json_array_get(ranks, 0), "timer"), "name", s->timer, sizeof(s->timer));
	for (i = 0; i < (size_t)s->ranks; i++) {
		read_rank(s, json_array_get(ranks, i), i, host, host_of);
	}
	free(host_of);
	s->tells_time = tells_time(s->timer);
	s->offset_max_s = stored_number(most, "offset_s");
	s->offset_low_s = stored_number(most, "low_s");
	s->offset_high_s = stored_number(most, "high_s");
	read_first(s, json_object_get(j, "first"), host);
	s->have = 1;
}

void chk_stored_read(struct chk_stored *s, const char *dir, const char *host)
{
	char own[4000];
	json_error_t e;
	json_t *j;

	clear_stored(s);
	dir = dir ? dir : chk_state_dir(own, sizeof(own));
	snprintf(s->path, sizeof(s->path), "%s/timertest.json", dir);
	if (!dir[0]) {
		snprintf(s->why, sizeof(s->why), "no state directory: neither XDG_STATE_HOME nor HOME is set");
		return;
	}
	if (access(s->path, R_OK) < 0) {
		snprintf(s->why, sizeof(s->why),
			"no result of timertest in %.150s (%.60s); mpirun timertest on this node makes one", dir,
			strerror(errno));
		return;
	}
	j = json_load_file(s->path, 0, &e);
	if (!j) {
		snprintf(s->why, sizeof(s->why), "%.150s:%d is damaged: %.120s", s->path, e.line, e.text);
	} else if (!json_string_value(json_object_get(j, "schema")) ||
		strcmp(json_string_value(json_object_get(j, "schema")), "timertest/1") != 0) {
		snprintf(s->why, sizeof(s->why), "%.150s is not of schema timertest/1", s->path);
	} else {
		read_result(s, j, host);
	}
	json_decref(j);
}

/* Adds the host's clock source to the list unless the list has one for this boot already. */
static void keep_first(json_t *first, const json_t *old, const json_t *env)
{
	const char *host = json_string_value(json_object_get(env, "host")),
		   *boot = json_string_value(json_object_get(env, "boot_id"));
	size_t i;
	json_t *f;

	if (!host || !boot) {
		return;
	}
	json_array_foreach(first, i, f)
	{
		if (!strcmp(json_string_value(json_object_get(f, "host")), host)) {
			return;
		}
	}
	json_array_foreach(old, i, f)
	{
		const char *h = json_string_value(json_object_get(f, "host")),
			   *b = json_string_value(json_object_get(f, "boot_id"));

		if (h && b && !strcmp(h, host) && tkm_known_equal(b, boot)) {
			json_array_append(first, f);
			return;
		}
	}
	json_array_append_new(first,
		json_pack("{s:s,s:s,s:O}", "host", host, "boot_id", boot, "clocksource",
			json_object_get(json_object_get(env, "clocksource"), "current")));
}

int chk_stored_write(const char *dir, const char *json, struct tkm_err *err)
{
	char own[4000], path[4096];
	json_t *j, *old, *first = json_array(), *r;
	struct tkm_newfile n;
	int rc;
	size_t i;

	dir = dir ? dir : chk_state_dir(own, sizeof(own));
	snprintf(path, sizeof(path), "%s/timertest.json", dir);
	j = json_loads(json, 0, NULL);
	if (!dir[0] || !j) {
		json_decref(first);
		json_decref(j);
		return tkm_fail(err, TKM_ERR_ARG,
			dir[0] ? "the result is no JSON"
			       : "no state directory: neither XDG_STATE_HOME nor "
				 "HOME is set");
	}
	old = json_load_file(path, 0, NULL);
	json_array_foreach(json_object_get(j, "ranks"), i, r)
	{
		keep_first(first, json_object_get(old, "first"), json_object_get(r, "env"));
	}
	json_object_set_new(j, "first", first);
	rc = make_folders(dir, err) < 0 || tkm_newfile_begin(&n, path, 1, err) < 0 ? -1 : 0;
	if (rc == 0) {
		json_dumpf(j, n.f, JSON_INDENT(1)); /* the commit reports errors of this write */
		putc('\n', n.f);
		rc = tkm_newfile_commit(&n, err);
	}
	json_decref(old);
	json_decref(j);
	return rc;
}

#else

void chk_stored_read(struct chk_stored *s, const char *dir, const char *host)
{
	(void)dir;
	(void)host;
	clear_stored(s);
	snprintf(s->why, sizeof(s->why), "this build has no jansson, so stored results cannot be read");
}

int chk_stored_write(const char *dir, const char *json, struct tkm_err *err)
{
	(void)dir;
	(void)json;
	(void)make_folders;
	return tkm_fail(err, TKM_ERR_UNAVAIL, "this build has no jansson, so results are not stored");
}

#endif
