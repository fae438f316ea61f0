/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the devices of a kind, and their files (device_kind.h). */
#include "config.h"
#include "sampler/sources/device_kind.h"

#include <unistd.h>

#include "base/fnv.h"

const char *smp_device_folder(const struct smp_device_kind *kind, int root)
{
	return kind->folder[1] && !smp_exists(root, kind->folder[0]) ? kind->folder[1] : kind->folder[0];
}

struct visit {
	const struct smp_device_kind *kind;
	int (*each)(const char *name, void *ctx);
	void *ctx;
};

static int visit_if_of_kind(const char *name, void *ctx)
{
	const struct visit *v = ctx;

	return strncmp(name, v->kind->begins, strlen(v->kind->begins)) ? 0 : v->each(name, v->ctx);
}

int smp_device_names(const struct smp_device_kind *kind, int root, int (*each)(const char *name, void *ctx), void *ctx)
{
	struct visit v = { kind, each, ctx };

	return kind->names ? kind->names(root, each, ctx)
			   : smp_dir_each(root, smp_device_folder(kind, root), visit_if_of_kind, &v);
}

const char *smp_device_path(
	const struct smp_device_kind *kind, int root, const char *name, const char *file, struct tkm_printed *path)
{
	return kind->path ? kind->path(root, name, file, path)
			  : tkm_printed(path, "%s/%s/%s", smp_device_folder(kind, root), name, file);
}

const struct smp_device_counter *smp_device_counter(
	const struct smp_device_source *s, const char *name, const char **device)
{
	size_t i, n = strcspn(name, ":");

	for (i = 0; i < s->n; i++) {
		if (strlen(s->counter[i].name) == n && !strncasecmp(name, s->counter[i].name, n)) {
			*device = name[n] ? name + n + 1 : "";
			return &s->counter[i];
		}
	}
	return NULL;
}

static int add_device_name(const char *name, void *ctx)
{
	*(uint64_t *)ctx += tkm_fnv(TKM_FNV_START, name, strlen(name)); /* in whatever order */
	return 0;
}

uint64_t smp_device_mark(const struct smp_device_kind *kind, const struct smp_env *env)
{
	int root = smp_root(env);
	uint64_t sum = 0;

	if (root >= 0) {
		smp_device_names(kind, root, add_device_name, &sum);
		close(root);
	}
	return sum;
}
