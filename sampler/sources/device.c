/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads devices that come and go (device.h): scans for them, keeps their files open, and adds up their totals. */
#include "config.h"
#include "sampler/sources/device.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A scan costs about ten reads. A new device's own counts include what it moved before it was found. A device that
 * comes and goes between two scans is not seen. */
enum { RESCAN_MS = 1000, FILE_TEXT = 512 };

struct device {
	char name[SMP_DEVICE_NAME];
	int own;  /* part of the sums */
	int used; /* own, or asked for by name; other devices are kept so that they are known */
	int seen; /* by the scan that goes on */
	int present;
	int late;     /* came after the set was opened: its first value is checked */
	uint8_t lost; /* SMP_RESTARTED until the next read has said so */
	struct smp_file file[SMP_DEVICE_FILES];
	struct smp_total total[2];
};

struct wanted {
	char name[SMP_DEVICE_NAME]; /* "": the sum */
	int which;                  /* 0 sum, 1 in, 2 out */
	int known;
};

struct set {
	const struct smp_device_class *class;
	const struct smp_env *env;
	struct device *dev;
	size_t n_dev, cap;
	int all;      /* a sum is wanted */
	int opened;   /* the first scan is over */
	int readable; /* the last scan could read the class: then a sum is there, be it of no device */
	int64_t scanned_ms;
	int64_t gap_ms; /* between the last two scans */
	size_t n;
	struct wanted want[];
};

/* Looks for "disk:NAME" among the words of the facts. Returns 1 or 0; -1 when no fact is about this class. */
static int in_facts(const struct smp_device_class *class, const char *hw, const char *name)
{
	size_t len = class->fact ? strlen(class->fact) : 0, name_len = strlen(name);
	const char *p = hw;
	int any = 0;

	while (len && p && *p) {
		size_t word = strcspn(p, " \n");

		if (word > len && memcmp(p, class->fact, len) == 0) {
			any = 1;
			if (word - len == name_len && memcmp(p + len, name, name_len) == 0) {
				return 1;
			}
		}
		p += word;
		p += strspn(p, " \n");
	}
	return any ? 0 : -1;
}

/* The launcher's facts are as old as its start; devices that came later are judged here. */
static int is_own_device(
	const struct smp_device_class *class, const struct smp_env *env, int root, const char *name, int late)
{
	int fact = in_facts(class, env->hw, name);

	return fact > 0 || ((fact < 0 || late) && class->own(root, name));
}

static void close_files(struct device *d)
{
	int i;

	for (i = 0; i < SMP_DEVICE_FILES; i++) {
		smp_file_close(&d->file[i]);
	}
}

static int open_device_files(const struct smp_device_class *class, int root, struct device *d)
{
	char path[256];
	int i;

	for (i = 0; i < class->n_files; i++) {
		class->path(root, d->name, i, path, sizeof(path));
		if (d->file[i].fd < 0 && smp_file_open(&d->file[i], root, path) < 0) {
			close_files(d);
			return -1;
		}
	}
	return 0;
}

static struct device *find_device(const struct set *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n_dev; i++) {
		if (strcmp(s->dev[i].name, name) == 0) {
			return &s->dev[i];
		}
	}
	return NULL;
}

static int asked_for(const struct set *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (strcmp(s->want[i].name, name) == 0) {
			return 1;
		}
	}
	return 0;
}

struct scan {
	struct set *set;
	int root;
};

static struct device *add_device(struct set *s, int root, const char *name)
{
	struct device *d;

	if (TKM_GROW(s->dev, s->cap, s->n_dev + 1) < 0) {
		return NULL;
	}
	d = &s->dev[s->n_dev++];
	memset(d, 0, sizeof(*d));
	snprintf(d->name, sizeof(d->name), "%s", name);
	d->own = s->all && is_own_device(s->class, s->env, root, name, s->opened);
	d->used = d->own || asked_for(s, name);
	d->file[0].fd = d->file[1].fd = -1;
	return d;
}

static int scan_one(const char *name, void *ctx)
{
	struct scan *scan = ctx;
	struct set *s = scan->set;
	struct device *d;

	if (strlen(name) >= SMP_DEVICE_NAME) {
		return 0;
	}
	d = find_device(s, name);
	if (!d) {
		d = add_device(s, scan->root, name);
	}
	if (!d || !d->used) {
		return 0;
	}
	d->seen = 1;
	if (!d->present && open_device_files(s->class, scan->root, d) == 0) {
		d->present = 1;
		d->late = s->opened;
		d->total[0].raw = d->total[1].raw = 0;
	}
	return 0;
}

static void device_gone(struct device *d)
{
	d->present = 0;
	d->lost = SMP_RESTARTED;
	close_files(d);
}

/* Finds devices that came or went, and files that are not ours any more. Returns 0, or -1 if the class cannot be
 * read. */
static int rescan(struct set *s)
{
	struct scan scan = { s, smp_root(s->env) };
	int64_t now = smp_now_ms();
	size_t i;
	int rc, f;

	if (scan.root < 0) {
		return -1;
	}
	for (i = 0; i < s->n_dev; i++) {
		struct device *d = &s->dev[i];

		d->seen = 0;
		for (f = 0; d->present && f < s->class->n_files; f++) {
			if (!smp_file_ours(&d->file[f])) {
				d->file[f].fd = -1;
			}
		}
		if (d->present && open_device_files(s->class, scan.root, d) < 0) {
			device_gone(d);
		}
	}
	rc = s->class->names(scan.root, scan_one, &scan);
	close(scan.root);
	for (i = 0; rc == 0 && i < s->n_dev; i++) {
		if (s->dev[i].present && !s->dev[i].seen) {
			device_gone(&s->dev[i]);
		}
	}
	s->readable = rc == 0;
	s->gap_ms = now - s->scanned_ms;
	s->scanned_ms = now;
	return rc;
}

/* A device that came between two scans has moved all that it shows since then, unless that is more than it can have
 * moved. */
static void judge_late(const struct set *s, struct device *d, const uint64_t raw[2])
{
	uint64_t most = s->class->fastest / 1000 * (uint64_t)(s->gap_ms > 0 ? s->gap_ms : 1) / s->class->scale;
	int i;

	for (i = 0; i < 2; i++) {
		if (s->class->fastest && raw[i] > most) {
			d->total[i].raw = raw[i];
		}
	}
	d->late = 0;
	d->lost = SMP_RESTARTED;
}

static int read_device(const struct set *s, struct device *d)
{
	char text[FILE_TEXT];
	uint64_t raw[2] = { 0, 0 };
	int i;

	for (i = 0; i < s->class->n_files; i++) {
		if (smp_file_read(&d->file[i], text, sizeof(text)) <= 0 || s->class->parse(i, text, raw) < 0) {
			return -1;
		}
	}
	if (d->late) {
		judge_late(s, d, raw);
	}
	for (i = 0; i < 2; i++) {
		d->lost |= smp_total_add(&d->total[i], raw[i]) & SMP_RESTARTED;
	}
	return 0;
}

static uint64_t device_total(const struct set *s, const struct device *d, int which)
{
	return s->class->scale * ((which != 2 ? d->total[0].sum : 0) + (which != 1 ? d->total[1].sum : 0));
}

/* Returns the state. */
static uint8_t value_of_counter(const struct set *s, const struct wanted *w, union smp_value *value)
{
	uint8_t state = w->name[0] || !s->readable ? 0 : SMP_VALID;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < s->n_dev; i++) {
		const struct device *d = &s->dev[i];

		if (w->name[0] ? strcmp(w->name, d->name) == 0 : d->own) {
			state |= d->lost | (w->name[0] && !d->present ? 0 : SMP_VALID);
			sum += device_total(s, d, w->which);
		}
	}
	if (!(state & SMP_VALID)) {
		return 0;
	}
	value->u = sum;
	return state;
}

int smp_device_read(void *set, union smp_value *value, uint8_t *state)
{
	struct set *s = set;
	int valid = 0, again = 0;
	size_t i;

	/* a snapshot has no clock of its own: its files may change between any two reads */
	if (!smp_live(s->env) || smp_now_ms() - s->scanned_ms >= RESCAN_MS) {
		rescan(s);
	}
	for (i = 0; i < s->n_dev; i++) {
		struct device *d = &s->dev[i];

		if (!d->present || read_device(s, d) == 0) {
			continue;
		}
		if (!again) {
			again = 1;
			rescan(s);
		}
		if (d->present && read_device(s, d) < 0) {
			device_gone(d);
		}
	}
	for (i = 0; i < s->n; i++) {
		state[i] = s->want[i].known ? value_of_counter(s, &s->want[i], &value[i]) : 0;
		valid += (state[i] & SMP_VALID) != 0;
	}
	for (i = 0; i < s->n_dev; i++) {
		s->dev[i].lost = 0;
	}
	return valid;
}

void smp_device_close(void *set)
{
	struct set *s = set;
	size_t i;

	for (i = 0; i < s->n_dev; i++) {
		close_files(&s->dev[i]);
	}
	free(s->dev);
	free(s);
}

static int parse_device_name(const struct smp_device_class *class, const char *name, struct wanted *w)
{
	size_t len = strlen(class->prefix);
	int i;

	memset(w, 0, sizeof(*w));
	for (i = 0; strncmp(name, class->prefix, len) == 0 && i < 3; i++) {
		size_t n = strlen(class->suffix[i]);
		const char *end = name + len + n;

		if (strncmp(name + len, class->suffix[i], n) == 0 && (*end == '\0' || *end == ':')) {
			w->which = i;
			w->known = 1;
			if (*end) {
				snprintf(w->name, sizeof(w->name), "%s", end + 1);
			}
			return 0;
		}
	}
	return -1;
}

void *smp_device_open(const struct smp_device_class *class, const struct smp_env *env, const char *const *names,
	size_t n, char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct set *s = calloc(1, sizeof(*s) + n * sizeof(s->want[0]));
	size_t i;

	if (!s) {
		smp_why(why, "no memory");
		return NULL;
	}
	s->class = class;
	s->env = env;
	s->n = n;
	for (i = 0; i < n; i++) {
		if (parse_device_name(class, names[i], &s->want[i]) < 0) {
			smp_why(why_each[i], "no such counter");
		}
		s->all |= s->want[i].known && !s->want[i].name[0];
	}
	if (rescan(s) < 0) {
		smp_why(why, "%s", smp_why_closed(errno, class->none));
		smp_device_close(s);
		return NULL;
	}
	s->opened = 1;
	return s;
}

static int add_device_name(const char *name, void *ctx)
{
	uint64_t h = 14695981039346656037u, *sum = ctx;

	for (; *name; name++) {
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	}
	*sum += h; /* in whatever order */
	return 0;
}

uint64_t smp_device_mark(const struct smp_device_class *class, const struct smp_env *env)
{
	int root = smp_root(env);
	uint64_t sum = 0;

	if (root >= 0) {
		class->names(root, add_device_name, &sum);
		close(root);
	}
	return sum;
}

/* ---- listing ------------------------------------------------------------------------------------- */

struct lister {
	const struct smp_device_class *class;
	const struct smp_env *env;
	smp_each each;
	void *ctx;
	int root, n_own, readable, rc;
};

static int list_three(const struct lister *l, const char *name, const char *missing)
{
	char full[SMP_DEVICE_NAME + 64], what[160];
	int i, rc = 0;

	for (i = 0; rc == 0 && i < 3; i++) {
		struct smp_counter c = {
			.name = full,
			.unit = "bytes",
			.what = what,
			.missing = missing,
			.scope = SMP_NODE,
			.type = SMP_U64,
			.kind = SMP_TOTAL,
			.factor = 1.0 / 1024,
			.shown_unit = "KB/s",
		};

		snprintf(full, sizeof(full), "%s%s%s%s", l->class->prefix, l->class->suffix[i], name ? ":" : "",
			name ? name : "");
		snprintf(what, sizeof(what), "%s %s%s%s%s", l->class->what[i], name ? l->class->noun : l->class->nouns,
			name ? " " : "", name ? name : "", name || l->n_own ? "" : SMP_NONE_HERE);
		rc = l->each(&c, l->ctx);
	}
	return rc;
}

static int count_own(const char *name, void *ctx)
{
	struct lister *l = ctx;

	l->n_own += strlen(name) < SMP_DEVICE_NAME && is_own_device(l->class, l->env, l->root, name, 0);
	return 0;
}

static int list_device_counters(const char *name, void *ctx)
{
	struct lister *l = ctx;

	char missing[SMP_TEXT];
	int not_here;

	if (strlen(name) >= SMP_DEVICE_NAME) {
		return 0;
	}
	not_here = l->class->elsewhere && l->class->elsewhere(l->root, name, missing, sizeof(missing));
	l->rc = list_three(l, name, not_here ? missing : NULL);
	return l->rc;
}

/* Lists a device that is asked for by name and does not exist. */
static int list_absent(const struct lister *l, const char *name)
{
	char missing[400], path[256];
	struct wanted w;

	if (l->root < 0 || parse_device_name(l->class, name, &w) < 0 || !w.name[0]) {
		return 0;
	}
	l->class->path(l->root, w.name, 0, path, sizeof(path));
	if (smp_exists(l->root, path)) {
		return 0;
	}
	snprintf(missing, sizeof(missing), "there is no %s %s here now: no %s", l->class->noun, w.name, path);
	return list_three(l, w.name, missing);
}

int smp_device_list(const struct smp_device_class *class, const struct smp_env *env, const char *hint, smp_each each,
	void *ctx, char why[SMP_TEXT])
{
	struct lister l = { class, env, each, ctx, -1, 0, 0, 0 };
	int rc;

	(void)why;
	if (!tkm_glob_may_match(hint, class->prefix)) {
		return 0;
	}
	l.root = smp_root(env);
	l.readable = l.root >= 0 && class->names(l.root, count_own, &l) == 0;
	/* the sums also include devices that come later */
	rc = list_three(&l, NULL, l.readable ? NULL : smp_why_closed(errno, class->none));
	if (rc == 0 && l.root >= 0 && (strchr(hint, ':') || strstr(hint, "**"))) {
		class->names(l.root, list_device_counters, &l);
		rc = l.rc;
	}
	if (rc == 0 && tkm_glob_is_name(hint)) {
		rc = list_absent(&l, hint);
	}
	if (l.root >= 0) {
		close(l.root);
	}
	return rc;
}
