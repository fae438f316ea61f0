/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of sources, and the loading of sources from shared objects. */
#include "config.h"
#include "sampler/private.h"

#include <dlfcn.h>

#define ADDRESS(name) &smp_##name,
const struct smp_source *const smp_sources[] = { SMP_SOURCES(ADDRESS) NULL };

#ifndef HAVE_PAPI
void smp_prepare(const struct smp_env *env)
{
	(void)env;
}
#endif

static const struct smp_source *checked(const char *file, const struct smp_source *s, struct tkm_err *err)
{
	if (!s) {
		tkm_fail(err, TKM_ERR_UNAVAIL,
			"PLUGIN %s does not serve version %d of the interface; rebuild it with this "
			"<tickmark/vtsource.h>",
			file, VTSOURCE_ABI);
	} else if (s->abi != VTSOURCE_ABI) {
		tkm_fail(err, TKM_ERR_UNAVAIL,
			"PLUGIN %s is for version %u of the interface, this program has %d; rebuild it with this "
			"<tickmark/vtsource.h>",
			file, s->abi, VTSOURCE_ABI);
	} else if (s->size < offsetof(struct smp_source, mark) || !s->name || !s->list || !s->open || !s->read ||
		!s->close) {
		tkm_fail(err, TKM_ERR_FORMAT, "PLUGIN %s: its table entry lacks a name or a function", file);
	} else {
		return s;
	}
	return NULL;
}

const struct smp_source *smp_plugin_load(const char *text, const char **options, struct tkm_err *err)
{
	const struct smp_source *(*entry)(uint32_t);
	size_t len = strcspn(text, " \t");
	char file[4096];
	void *handle;

	if (len == 0 || len >= sizeof(file)) {
		tkm_fail(err, TKM_ERR_ARG, "PLUGIN wants the name of a shared object, not \"%s\"", text);
		return NULL;
	}
	memcpy(file, text, len);
	file[len] = '\0';
	*options = text + len + strspn(text + len, " \t");
	handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!handle) {
		tkm_fail(err, TKM_ERR_IO, "PLUGIN: %s", dlerror());
		return NULL;
	}
	*(void **)&entry = dlsym(handle, "vtsource_plugin");
	if (!entry) {
		dlclose(handle);
		tkm_fail(err, TKM_ERR_FORMAT, "PLUGIN %s has no function vtsource_plugin: it is no counter source",
			file);
		return NULL;
	}
	return checked(file, entry(VTSOURCE_ABI), err);
}
