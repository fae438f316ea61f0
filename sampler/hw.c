/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs that may link hwloc: what the library inside another program cannot ask itself. */
#include "config.h"
#include "sampler/hw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_HWLOC
#include <hwloc.h>

/* Its plugins ask X servers, GPUs and the resolver, which takes longer than all else here and could hang. Devices are asked for,
 * not CPUs, whose caches are a dozen files of each: no_os takes their number from libc, without which nothing else is looked for. */
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
	hwloc_obj_t o = NULL;
	size_t n = 0;

	words[0] = '\0';
	devices_only(1);
	if (hwloc_topology_init(&t) < 0) {
		devices_only(0);
		return;
	}
	hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(t, HWLOC_OBJ_OS_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (hwloc_topology_load(t) == 0) {
		while ((o = hwloc_get_next_osdev(t, o))) {
			const char *kind = o->attr->osdev.type == HWLOC_OBJ_OSDEV_BLOCK ? "disk"
				: o->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK        ? "nic"
											: NULL;

			if (kind && o->name && n + strlen(o->name) + 8 < size) {
				n += (size_t)snprintf(words + n, size - n, "%s%s:%s", n ? " " : "", kind, o->name);
			}
		}
	}
	hwloc_topology_destroy(t);
	devices_only(0);
}
#else
void smp_hw_facts(char *words, size_t size)
{
	(void)size;
	words[0] = '\0';
}
#endif
