/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the counters of devices (device.h). */
#include "config.h"
#include "sampler/sources/device.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rootfs.h"

enum { FILE_TEXT = 16384 };

struct device_lister {
	const struct smp_device_counter *counter;
	const char *hint;
	smp_each each;
	void *ctx;
	int root, n_own, n_readable, rc;
	struct tkm_printed path, name, what;
	char text[FILE_TEXT];
};

/* device: NULL for the sum. */
static int list_device_counter(struct device_lister *l, const char *device, const char *missing)
{
	const struct smp_device_counter *k = l->counter;
	const struct smp_device_kind *kind = k->device;
	const char *rest = strstr(k->what, "%s");
	struct smp_counter c = {
		.unit = k->unit,
		.missing = missing,
		.scope = SMP_NODE,
		.type = SMP_U64,
		.kind = k->kind,
		.factor = k->factor,
		.shown_unit = k->shown_unit,
	};

	c.name = tkm_printed(&l->name, "%s%s%s", k->name, device ? ":" : "", device ? device : "");
	if (c.name && !smp_is_hinted(l->hint, c.name)) {
		return 0;
	}
	if (rest) {
		c.what = tkm_printed(&l->what, "%.*s%s%s%s%s", (int)(rest - k->what), k->what,
			device ? kind->noun : kind->nouns, device ? " " : "", device ? device : "",
			device || l->n_own ? "" : SMP_NONE_HERE);
	} else {
		c.what = tkm_printed(&l->what, "%s%s%s", k->what, device ? "; " : "", device ? device : "");
	}
	return c.name && c.what ? l->each(&c, l->ctx) : 0;
}

/* Has the device a number for value `of`, or for one of its alternatives? Returns 1, 0 if a file is there that has none, or
 * -1 if no file is there. */
static int has_number(struct device_lister *l, const char *device, size_t of)
{
	const struct smp_device_kind *kind = l->counter->device;
	union smp_value v;
	const char *path;
	int rc = -1;

	do {
		path = smp_device_path(kind, l->root, device, kind->value[of].file, &l->path);
		if (!path || !smp_exists(l->root, path)) {
			continue;
		}
		rc = 0;
		if (tkm_root_read(l->root, path, l->text, sizeof(l->text)) > 0 &&
			smp_text_find(&kind->value[of].at, l->text, &v) == 0) {
			return 1;
		}
	} while (++of < kind->n_values && kind->value[of].instead);
	return rc;
}

static int list_device(const char *device, void *ctx)
{
	struct device_lister *l = ctx;
	const struct smp_device_counter *k = l->counter;
	int own = !k->device->own || k->device->own(l->root, device), has = 1, i,
	    wanted = strchr(l->hint, ':') != NULL || strstr(l->hint, "**");
	char why[SMP_TEXT] = "";

	if (!own && !wanted) {
		return 0;
	}
	for (i = 0; i < 2 && k->of[i] && has > 0; i++) {
		has = has_number(l, device, k->of[i]);
	}
	if (has < 0) {
		return 0;
	}
	l->n_own += own;
	l->n_readable += own && has > 0;
	if (!has) {
		smp_why(why, "%.180s of %s has no such number, or may not be read", k->device->value[k->of[0]].file,
			device);
	} else if (k->device->elsewhere) {
		k->device->elsewhere(l->root, device, why);
	}
	if (wanted) {
		l->rc = list_device_counter(l, device, why[0] ? why : NULL);
	}
	return l->rc;
}

/* Lists a device that is asked for by name and does not exist. */
static int list_absent_device(struct device_lister *l)
{
	const struct smp_device_kind *kind = l->counter->device;
	const char *device = strchr(l->hint, ':'), *path;
	char why[SMP_TEXT];

	if (l->root < 0 || !device || !tkm_glob_is_name(l->hint)) {
		return 0;
	}
	device++;
	path = smp_device_path(kind, l->root, device, kind->value[l->counter->of[0]].file, &l->path);
	if (!path || smp_exists(l->root, path)) {
		return 0;
	}
	smp_why(why, "there is no %s %.60s here now: no %.140s", kind->noun, device, path);
	return list_device_counter(l, device, why);
}

static int list_counter_of_devices(struct device_lister *l)
{
	const struct smp_device_kind *kind = l->counter->device;
	int readable, saved, rc;
	char why[SMP_TEXT] = "";

	l->n_own = l->n_readable = l->rc = 0;
	errno = l->root < 0 ? errno : 0;
	readable = l->root >= 0 && smp_device_names(kind, l->root, list_device, l) >= 0;
	saved = errno;
	if (l->rc) {
		return l->rc;
	}
	/* such sums also include devices that come later */
	if (readable && kind->always) {
		l->n_readable = 1;
	}
	if (!l->n_readable && l->n_own) {
		smp_why(why, "%s/*/%s has no such number, or may not be read",
			l->root < 0 ? kind->folder[0] : smp_device_folder(kind, l->root),
			kind->value[l->counter->of[0]].file);
	} else if (!l->n_readable) {
		smp_why(why, "%s", smp_why_closed(saved, kind->none));
	}
	rc = list_device_counter(l, NULL, why[0] ? why : NULL);
	return rc ? rc : list_absent_device(l);
}

int smp_device_list(
	const struct smp_device_source *source, const struct smp_env *env, const char *hint, smp_each each, void *ctx)
{
	struct device_lister *l;
	size_t i = 0;
	int rc = 0;

	while (i < source->n && !tkm_glob_may_match(hint, source->counter[i].name)) {
		i++;
	}
	if (i == source->n) {
		return 0;
	}
	l = calloc(1, sizeof(*l));
	if (!l) {
		return -1;
	}
	l->hint = hint;
	l->each = each;
	l->ctx = ctx;
	l->root = smp_root(env);
	for (; rc == 0 && i < source->n; i++) {
		l->counter = &source->counter[i];
		if (tkm_glob_may_match(hint, l->counter->name)) {
			rc = list_counter_of_devices(l);
		}
	}
	if (l->root >= 0) {
		close(l->root);
	}
	free(l->path.text);
	free(l->name.text);
	free(l->what.text);
	free(l);
	return rc;
}
