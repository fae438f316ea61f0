/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads devices that come and go (device.h): looks for them, keeps their files open, and adds up what each has counted. */
#include "config.h"
#include "sampler/sources/device.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"

/* A scan costs about ten reads. A device that comes and goes between two scans is not seen. NEAR: as many numbers of
 * devices that were made may lie between two that are seen. */
enum { RESCAN_MS = 1000, EXAMINE_MS = 5000, FILE_TEXT = 16384, NEAR = 64 };

struct device_file {
	const char *name;
	struct smp_file file;
};

/* One number of one device. */
struct number {
	const struct smp_device_value *value; /* NULL: the device has none */
	size_t file;
	struct smp_count count;
	uint64_t shown, grown; /* of this reading: the number, and what was counted since the last one */
	uint8_t state;
};

struct class
{ /* the devices of one kind */
	const struct smp_device_kind *kind;
	int all;                 /* a sum is wanted */
	int readable;            /* the last scan could read the folder */
	uint64_t newest, coming; /* greatest birth until the last scan, and with those of this one */
	size_t n_needed;
	unsigned char needed[SMP_DEVICE_VALUES]; /* indices of values */
};

struct device {
	const struct class *class;
	char *name, *identity;
	int own;     /* part of the sums */
	int used;    /* own, or asked for by name; other devices are kept so that they are known */
	int seen;    /* by the scan that goes on */
	int present; /* its files are open */
	int late;    /* came after the set was opened: what it shows at first was not counted here */
	int born;    /* it is new: all that it shows was counted since it came */
	uint64_t birth;
	uint8_t lost; /* SMP_RESTARTED until the next read has said so */
	struct device_file *file;
	size_t n_files;
	struct number number[]; /* one for each that the class needs */
};

struct wanted {
	const struct smp_device_counter *counter; /* NULL: unknown */
	char *name;                               /* of the device; "": the sum */
	struct device *device;                    /* that has the name, or had it when it was there */
	struct class *class;
	size_t number[2], n_numbers;
	uint64_t sum;
};

struct set {
	const struct smp_env *env;
	struct device **dev;
	size_t n_dev, cap, n_classes, n;
	struct class *class;
	int opened, first; /* the first scan is over; this is the first reading */
	int changed;       /* devices came or went in the last scan */
	int64_t scanned_ms, examined_ms, gap_ms, read_ms;
	uint64_t names; /* of the devices that were there */
	struct tkm_printed path;
	char text[FILE_TEXT];
	struct wanted want[];
};

struct device_scan {
	struct set *set;
	struct class *class;
	int root;
};

/* ---- one device ---------------------------------------------------------------------------------- */

static void device_is_gone(struct device *d)
{
	size_t i;

	for (i = 0; i < d->n_files; i++) {
		smp_file_close(&d->file[i].file);
	}
	d->lost |= d->present ? SMP_RESTARTED : 0;
	d->present = 0;
}

/* The number in one of its small files. */
static uint64_t birth_of_device(struct set *s, const struct class *c, int root, const char *name)
{
	char text[32];
	const char *path = c->kind->birth ? smp_device_path(c->kind, root, name, c->kind->birth, &s->path) : NULL;
	const char *p = path ? tkm_root_line(root, path, text, sizeof(text)) : "";
	uint64_t v = 0;

	return smp_number(&p, &v) == 0 ? v : 0;
}

/* Opens a file, unless it is open. Returns its index or -1. */
static int open_device_file(struct set *s, int root, struct device *d, const char *name)
{
	struct device_file *f;
	const char *path;
	size_t i;

	for (i = 0; i < d->n_files && strcmp(d->file[i].name, name) != 0; i++) {
	}
	if (i < d->n_files && d->file[i].file.fd >= 0) {
		return (int)i;
	}
	path = smp_device_path(d->class->kind, root, d->name, name, &s->path);
	if (!path || (i == d->n_files && !(f = TKM_APPEND(d->file, d->n_files)))) {
		return -1;
	}
	f = &d->file[i];
	f->name = name;
	return smp_file_open(&f->file, root, path) < 0 ? -1 : (int)i;
}

/* Finds the first of the alternatives that has a number. What has none is looked for again at each scan. */
static void choose_value(struct set *s, int root, struct device *d, size_t k)
{
	const struct smp_device_value *v = &d->class->kind->value[d->class->needed[k]],
				      *end = d->class->kind->value + d->class->kind->n_values;
	union smp_value found;
	int file;

	do {
		file = open_device_file(s, root, d, v->file);
		if (file >= 0 && smp_file_read(&d->file[file].file, s->text, sizeof(s->text)) > 0 &&
			smp_text_find(&v->at, s->text, &found) == 0) {
			d->number[k].value = v;
			d->number[k].file = (size_t)file;
		}
	} while (!d->number[k].value && ++v < end && v->instead);
}

/* Opens what is not open of a device's files. */
static void open_device_files(struct set *s, struct class *c, int root, struct device *d)
{
	uint64_t birth;
	size_t i, n_open = 0;

	for (i = 0; i < c->n_needed; i++) {
		if (!d->number[i].value) {
			choose_value(s, root, d, i);
		} else {
			open_device_file(s, root, d, d->number[i].value->file);
		}
	}
	for (i = 0; i < d->n_files; i++) {
		n_open += d->file[i].file.fd >= 0;
	}
	if (!n_open) {
		device_is_gone(d);
	} else if (!d->present) {
		birth = birth_of_device(s, c, root, d->name);
		d->born = s->opened &&
			(d->birth ? birth > d->birth
				  : birth > c->newest && (!c->kind->birth_near || birth - c->newest <= NEAR));
		d->lost |= s->opened ? SMP_RESTARTED : 0;
		d->birth = birth;
		d->present = 1;
	}
}

/* ---- looking for devices ------------------------------------------------------------------------- */

static int is_asked_for(const struct set *s, const struct class *c, const char *name)
{
	size_t i;

	for (i = 0; i < s->n && !(s->want[i].class == c && strcmp(s->want[i].name, name) == 0); i++) {
	}
	return i < s->n;
}

/* A device is the one that it says it is, under whatever name; where devices do not say it, the one of the name. */
static struct device *find_device(const struct set *s, const struct class *c, const char *name, const char *identity)
{
	struct device *of_name = NULL;
	size_t i;

	for (i = 0; i < s->n_dev; i++) {
		struct device *d = s->dev[i];

		if (d->class == c && identity[0] && d->identity && strcmp(d->identity, identity) == 0) {
			return d;
		}
		if (d->class == c && strcmp(d->name, name) == 0 && (!identity[0] || !d->identity)) {
			of_name = d;
		}
	}
	return of_name;
}

static struct device *add_device(struct set *s, const struct class *c, const char *name, const char *identity)
{
	struct device *d = calloc(1, sizeof(*d) + c->n_needed * sizeof(d->number[0]));

	if (d) {
		d->class = c;
		d->name = strdup(name);
		d->identity = identity[0] ? strdup(identity) : NULL;
		d->late = s->opened;
	}
	if (!d || !d->name || TKM_GROW(s->dev, s->cap, s->n_dev + 1) < 0) {
		if (d) {
			free(d->name);
			free(d->identity);
		}
		free(d);
		return NULL;
	}
	s->changed = 1;
	return s->dev[s->n_dev++] = d;
}

static void name_device(struct device *d, const char *name)
{
	char *new = strcmp(d->name, name) ? strdup(name) : NULL;

	if (new) {
		free(d->name);
		d->name = new;
	}
}

static int scan_device(const char *name, void *ctx)
{
	struct device_scan *scan = ctx;
	struct set *s = scan->set;
	struct class *c = scan->class;
	char identity[64] = "";
	const char *path;
	struct device *d = find_device(s, c, name, "");
	int is_new;

	if (c->kind->identity && (!d || d->used) &&
		(path = smp_device_path(c->kind, scan->root, name, c->kind->identity, &s->path)) != NULL) {
		tkm_root_line(scan->root, path, identity, sizeof(identity));
		d = find_device(s, c, name, identity);
	}
	is_new = !d;
	d = d ? d : add_device(s, c, name, identity);
	if (!d) {
		return 0;
	}
	name_device(d, name);
	d->seen = 1;
	if (c->all && (d->own || s->changed)) {
		d->own = !c->kind->own || c->kind->own(scan->root, name);
	}
	d->used |= d->own || is_asked_for(s, c, name);
	if (d->used) {
		open_device_files(s, c, scan->root, d);
	} else if (is_new) {
		d->birth = birth_of_device(s, c, scan->root, name);
	}
	c->coming = d->birth > c->coming ? d->birth : c->coming;
	return 0;
}

/* A counter stays with its device while that is there, under whatever name. */
static void find_wanted_devices(struct set *s)
{
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		struct wanted *w = &s->want[i];

		for (k = 0; w->counter && w->name[0] && !(w->device && w->device->present) && k < s->n_dev; k++) {
			if (s->dev[k]->class == w->class && s->dev[k]->present && !strcmp(s->dev[k]->name, w->name)) {
				w->device = s->dev[k];
			}
		}
	}
}

static void scan_class(struct set *s, struct class *c, int root)
{
	struct device_scan scan = { s, c, root };
	size_t i, f;

	for (i = 0; i < s->n_dev; i++) {
		struct device *d = s->dev[i];

		if (d->class != c) {
			continue;
		}
		d->seen = 0;
		for (f = 0; f < d->n_files; f++) {
			smp_file_there(&d->file[f].file);
		}
	}
	c->readable = smp_device_names(c->kind, root, scan_device, &scan) == 0;
	c->newest = c->coming;
	for (i = 0; c->readable && i < s->n_dev; i++) {
		struct device *d = s->dev[i];

		if (d->class == c && d->present && !d->seen) {
			s->changed = 1;
			device_is_gone(d);
		}
	}
}

static uint64_t names_of_classes(const struct set *s)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < s->n_classes; i++) {
		sum = sum * 31 + smp_device_mark(s->class[i].kind, s->env);
	}
	return sum;
}

/* Finds devices that came or went, and files that are not ours any more. Returns 0, or -1 with errno if no folder can be
 * read. */
static int scan_devices(struct set *s)
{
	int root = smp_root(s->env), readable = 0, saved = errno;
	int64_t now = smp_now_ms();
	size_t i;

	if (root < 0) {
		return -1;
	}
	/* before the devices: one that comes meanwhile is another name the next time */
	s->names = names_of_classes(s);
	for (i = 0; i < s->n_classes; i++) {
		errno = 0;
		scan_class(s, &s->class[i], root);
		saved = errno;
		readable |= s->class[i].readable || !s->class[i].kind->always;
	}
	close(root);
	errno = saved;
	s->changed = 0;
	find_wanted_devices(s);
	s->gap_ms = now - s->scanned_ms;
	s->scanned_ms = s->examined_ms = now;
	return readable ? 0 : -1;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static void take_number(const struct set *s, struct device *d, struct number *n, uint64_t raw)
{
	uint64_t before = n->count.sum, scale = n->value->scale ? n->value->scale : 1, gap_ms = (uint64_t)s->gap_ms,
		 most = d->class->kind->born_most / scale;
	int is_new = d->born && (!most || raw <= most + most / 1000 * gap_ms);

	n->state = SMP_VALID;
	if (!n->count.begun || d->born) {
		/* what is there when recording begins starts as the kernel has it */
		smp_count_begin(&n->count, raw, is_new || (!d->late && s->first) ? raw : 0, s->read_ms);
	} else {
		n->state = smp_count_add(&n->count, &n->value->at.can, raw, s->read_ms);
	}
	n->shown = raw * scale;
	n->grown = (n->count.sum - before) * scale;
}

/* Takes the numbers in a file that are still to be taken. Returns 0, or -1 if there is one that could not be read. A file
 * that cannot be read at all is closed. */
static int read_device_file(struct set *s, struct device *d, size_t file)
{
	ssize_t len = -2;
	union smp_value v;
	int rc = 0;
	size_t k;

	for (k = 0; k < d->class->n_needed; k++) {
		struct number *n = &d->number[k];

		if (!n->value || n->file != file || n->state) {
			continue;
		}
		len = len == -2 ? smp_file_read(&d->file[file].file, s->text, sizeof(s->text)) : len;
		if (len > 0 && smp_text_find(&n->value->at, s->text, &v) == 0) {
			take_number(s, d, n, v.u);
		} else {
			rc = -1;
		}
	}
	if (len == -1) {
		smp_file_close(&d->file[file].file);
	}
	return rc;
}

/* Returns 0, or -1 if a number could not be read. */
static int read_device(struct set *s, struct device *d)
{
	int rc = 0;
	size_t f;

	for (f = 0; d->present && f < d->n_files; f++) {
		rc |= read_device_file(s, d, f);
	}
	return rc;
}

static void begin_reading(struct set *s)
{
	size_t i, k;

	s->first = !s->read_ms;
	s->read_ms = smp_reading_ms(s->env, s->read_ms);
	for (i = 0; i < s->n_dev; i++) {
		for (k = 0; k < s->dev[i]->class->n_needed; k++) {
			s->dev[i]->number[k].state = 0;
			s->dev[i]->number[k].grown = 0;
		}
	}
}

/* Adds what a device has counted to a counter, or what it shows if that is a level. Returns the state. */
static uint8_t add_to_counter(const struct wanted *w, const struct device *d, uint64_t *sum)
{
	uint8_t state = SMP_VALID;
	size_t i, missing = 0;

	for (i = 0; i < w->n_numbers; i++) {
		const struct number *n = &d->number[w->number[i]];

		missing += !n->state;
		/* a level may fall */
		state |= w->counter->kind == SMP_TOTAL ? n->state : n->state & SMP_VALID;
		state |= n->count.begun ? d->lost : 0;
		*sum += w->counter->kind == SMP_TOTAL ? n->grown : n->state ? n->shown : 0;
	}
	return missing ? state & ~(unsigned)SMP_VALID : state;
}

/* Has a device that is there no number now that it had? Then a sum of levels is one of a part. */
static int lacks_number(const struct wanted *w, const struct device *d)
{
	size_t i;

	for (i = 0; i < w->n_numbers; i++) {
		const struct number *n = &d->number[w->number[i]];

		if (d->present && n->count.begun && !n->state) {
			return 1;
		}
	}
	return 0;
}

/* Returns the state. */
static uint8_t value_of_counter(const struct set *s, struct wanted *w, union smp_value *value)
{
	uint64_t sum = w->counter->kind == SMP_TOTAL ? w->sum : 0;
	int n_there = 0, lacks = 0;
	uint8_t state = 0;
	size_t i;

	for (i = 0; i < s->n_dev; i++) {
		const struct device *d = s->dev[i];

		if (w->name[0] ? d == w->device : d->class == w->class && d->own) {
			n_there += d->present;
			lacks |= w->counter->kind == SMP_LEVEL && lacks_number(w, d);
			state |= add_to_counter(w, d, &sum);
		}
	}
	w->sum = sum;
	value->u = sum;
	if (lacks) {
		state &= ~(unsigned)SMP_VALID;
	}
	if (!w->name[0] && !n_there && w->class->kind->always && w->class->readable) {
		state |= SMP_VALID;
	}
	return state & SMP_VALID ? state : 0;
}

/* Whether devices came or went is looked at often; all that is known of each is dear to read. One that is exchanged for another one of
 * its name cannot be read any more. */
static int is_scan_due(struct set *s)
{
	uint64_t names = names_of_classes(s);
	/* in a program, files may also be closed by it */
	int due = names != s->names || !smp_is_own_process() || s->read_ms - s->examined_ms >= EXAMINE_MS;

	s->scanned_ms = due ? s->scanned_ms : s->read_ms;
	return due;
}

int smp_device_read(void *set, union smp_value *value, uint8_t *state)
{
	struct set *s = set;
	int valid = 0, again = 0;
	size_t i;

	begin_reading(s);
	/* a snapshot has no clock of its own: its files may change between any two reads */
	if (!smp_live(s->env) || (s->read_ms - s->scanned_ms >= RESCAN_MS && is_scan_due(s))) {
		scan_devices(s);
	}
	for (i = 0; i < s->n_dev; i++) {
		if (read_device(s, s->dev[i]) < 0 && !again) {
			again = 1;
			scan_devices(s);
			read_device(s, s->dev[i]);
		}
	}
	for (i = 0; i < s->n; i++) {
		state[i] = s->want[i].counter ? value_of_counter(s, &s->want[i], &value[i]) : 0;
		valid += (state[i] & SMP_VALID) != 0;
	}
	for (i = 0; i < s->n_dev; i++) {
		s->dev[i]->lost = 0;
		s->dev[i]->born = 0;
	}
	return valid;
}

/* ---- opening ------------------------------------------------------------------------------------- */

void smp_device_close(void *set)
{
	struct set *s = set;
	size_t i;

	for (i = 0; i < s->n_dev; i++) {
		device_is_gone(s->dev[i]);
		free(s->dev[i]->file);
		free(s->dev[i]->name);
		free(s->dev[i]->identity);
		free(s->dev[i]);
	}
	for (i = 0; i < s->n; i++) {
		free(s->want[i].name);
	}
	free(s->dev);
	free(s->class);
	free(s->path.text);
	free(s);
}

static struct class *class_of_kind(struct set *s, const struct smp_device_kind *kind)
{
	size_t i;

	for (i = 0; i < s->n_classes && s->class[i].kind != kind; i++) {
	}
	if (i == s->n_classes) {
		s->class[s->n_classes++].kind = kind;
	}
	return &s->class[i];
}

static size_t needed_number(struct class *c, unsigned char value)
{
	size_t i;

	for (i = 0; i < c->n_needed && c->needed[i] != value; i++) {
	}
	if (i == c->n_needed) {
		c->needed[c->n_needed++] = value;
	}
	return i;
}

static void want_device_counter(
	struct set *s, struct wanted *w, const struct smp_device_source *source, const char *name, char why[SMP_TEXT])
{
	const char *device;
	int i;

	w->counter = smp_device_counter(source, name, &device);
	w->name = w->counter ? strdup(device) : NULL;
	if (!w->name) {
		smp_why(why, w->counter ? "no memory" : "no such counter");
		w->counter = NULL;
		return;
	}
	w->class = class_of_kind(s, w->counter->device);
	w->class->all |= !device[0];
	for (i = 0; i < 2 && w->counter->of[i]; i++) {
		w->number[w->n_numbers++] = needed_number(w->class, w->counter->of[i]);
	}
}

void *smp_device_open(const struct smp_device_source *source, const struct smp_env *env, const char *const *names,
	size_t n, char (*why_each)[SMP_TEXT], char why[SMP_TEXT])
{
	struct set *s = calloc(1, sizeof(*s) + n * sizeof(s->want[0]));
	size_t i;

	if (!s || !(s->class = calloc(n + 1, sizeof(*s->class)))) {
		smp_why(why, "no memory");
		free(s);
		return NULL;
	}
	s->env = env;
	s->n = n;
	for (i = 0; i < n; i++) {
		want_device_counter(s, &s->want[i], source, names[i], why_each[i]);
	}
	s->changed = 1;
	if (scan_devices(s) < 0) {
		smp_why(why, "%s", smp_why_closed(errno, s->n_classes ? s->class[0].kind->none : "no root folder"));
		smp_device_close(s);
		return NULL;
	}
	s->opened = 1;
	return s;
}
