/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks hwloc about this machine's devices. For programs only: the library inside another program cannot do this.
 * hwloc is loaded when it is needed, because it and its libraries take longer to start than vtrun does. */
#include "config.h"
#include "sampler/hw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HWLOC
#include <dlfcn.h>
#include <hwloc.h>

static struct {
	__typeof__(&hwloc_topology_init) init;
	__typeof__(&hwloc_topology_set_all_types_filter) set_all_types_filter;
	__typeof__(&hwloc_topology_set_type_filter) set_type_filter;
	__typeof__(&hwloc_topology_load) load;
	__typeof__(&hwloc_topology_destroy) destroy;
	__typeof__(&hwloc_get_obj_by_depth) get_obj_by_depth;
} hw;

static int load_hwloc(void)
{
	/* the binary interface of hwloc 2 */
	void *lib = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		return -1;
	}
#define FIND(member, name) hw.member = (__typeof__(hw.member))dlsym(lib, name)
	FIND(init, "hwloc_topology_init");
	FIND(set_all_types_filter, "hwloc_topology_set_all_types_filter");
	FIND(set_type_filter, "hwloc_topology_set_type_filter");
	FIND(load, "hwloc_topology_load");
	FIND(destroy, "hwloc_topology_destroy");
	FIND(get_obj_by_depth, "hwloc_get_obj_by_depth");
#undef FIND
	return hw.init && hw.set_all_types_filter && hw.set_type_filter && hw.load && hw.destroy && hw.get_obj_by_depth
		? 0
		: -1;
}

/* Sets up hwloc without its plugins, which ask X servers, GPUs and the resolver; this takes longer than all else here
 * and could hang. Only devices are needed, not CPUs, whose caches have a dozen files each. no_os gets the number of
 * CPUs from libc, without which hwloc finds nothing else. */
static void devices_only(int on)
{
	static char *components, *path;

	if (on) {
		components = getenv("HWLOC_COMPONENTS");
		path = getenv("HWLOC_PLUGINS_PATH");
		components = components ? strdup(components) : NULL;
		path = path ? strdup(path) : NULL;
		setenv("HWLOC_COMPONENTS", "-linux:cpu,linux,no_os,stop", 1);
		setenv("HWLOC_PLUGINS_PATH", "", 1);
		return;
	}
	if (components) {
		setenv("HWLOC_COMPONENTS", components, 1);
	} else {
		unsetenv("HWLOC_COMPONENTS");
	}
	if (path) {
		setenv("HWLOC_PLUGINS_PATH", path, 1);
	} else {
		unsetenv("HWLOC_PLUGINS_PATH");
	}
	free(components);
	free(path);
}

void smp_hw_facts(char *words, size_t size)
{
	hwloc_topology_t t;
	hwloc_obj_t o;
	size_t n = 0;
	unsigned i;

	words[0] = '\0';
	if (load_hwloc() < 0) {
		return;
	}
	devices_only(1);
	if (hw.init(&t) < 0) {
		devices_only(0);
		return;
	}
	hw.set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
	hw.set_type_filter(t, HWLOC_OBJ_OS_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (hw.load(t) == 0) {
		for (i = 0; (o = hw.get_obj_by_depth(t, HWLOC_TYPE_DEPTH_OS_DEVICE, i)) != NULL; i++) {
			const char *kind = o->attr->osdev.type == HWLOC_OBJ_OSDEV_BLOCK ? "disk"
				: o->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK        ? "nic"
											: NULL;

			if (kind && o->name && n + strlen(o->name) + 8 < size) {
				n += (size_t)snprintf(words + n, size - n, "%s%s:%s", n ? " " : "", kind, o->name);
			}
		}
	}
	hw.destroy(t);
	devices_only(0);
}
#else
void smp_hw_facts(char *words, size_t size)
{
	(void)size;
	words[0] = '\0';
}
#endif
