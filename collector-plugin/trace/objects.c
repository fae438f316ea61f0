/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the executable or library that an address is in, and reads its symbols. */
#include "config.h"
#include "collector-plugin/trace/objects.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "collector-plugin/raw/writer.h"

enum { OBJECTS = 512 };
static struct vt_object *objects;
static uint32_t n_objects, n_ids;
struct vt_lock vt_objects_lock = VT_LOCK_INIT;

VT_SELDOM int vt_objects_start(void)
{
	void *p;

	if (!objects) {
		p = mmap(NULL, OBJECTS * sizeof(*objects), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		objects = p == MAP_FAILED ? NULL : p;
	}
	return objects ? 0 : -1;
}

VT_SELDOM void vt_objects_forked(void)
{
	vt_lock_forget(&vt_objects_lock);
}

/* Of the objects' table: the stack may be one for signal handlers, with few KB. */
struct search {
	uintptr_t address;
	struct vt_object *found;
};

static VT_SELDOM int object_has_address(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	uintptr_t low = UINTPTR_MAX, high = 0, at;
	const uint8_t *id = NULL;
	size_t n;
	int i, inside = 0;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD) {
			low = at < low ? at : low;
			high = at + p->p_memsz > high ? at + p->p_memsz : high;
			inside |= s->address >= at && s->address < at + p->p_memsz;
		} else if (p->p_type == PT_NOTE && !id) {
			id = vt_symbols_build_id((const void *)at, p->p_memsz, &n);
			s->found->build_id_size = id ? n : 0;
			memcpy(s->found->build_id, id ? id : s->found->build_id, s->found->build_id_size);
		}
	}
	if (!inside) {
		s->found->build_id_size = 0;
		return 0;
	}
	s->found->base = info->dlpi_addr;
	s->found->end = high;
	snprintf(s->found->path, sizeof(s->found->path), "%s", info->dlpi_name ? info->dlpi_name : "");
	return 1;
}

/* Names the class of an object's functions: "Application" for the program, for a library its name up to the first
 * dot. */
static VT_SELDOM void name_object(struct vt_object *o)
{
	const char *name = strrchr(o->path, '/');
	ssize_t n;
	int root;

	if (!o->path[0]) {
		root = tkm_root_open("/");
		n = root < 0 ? -1 : readlinkat(root, "proc/self/exe", o->path, sizeof(o->path) - 1);
		o->path[n > 0 ? n : 0] = '\0';
		if (root >= 0) {
			close(root);
		}
		strcpy(o->cls, "Application");
		o->program = 1;
		return;
	}
	name = name ? name + 1 : o->path;
	snprintf(o->cls, sizeof(o->cls), "%.*s", (int)(strcspn(name, ".:") % sizeof(o->cls)), name);
}

/* Finds or makes the object that this address is in; NULL: there is none, or no space for it. */
VT_SELDOM struct vt_object *vt_object_of(struct vt_collect *c, uintptr_t address)
{
	struct search s = { .address = address };
	struct vt_object *o;
	uint32_t i, spare = n_objects;

	for (i = 0; i < n_objects; i++) {
		if (address >= objects[i].base && address < objects[i].end) {
			return &objects[i];
		}
		spare = objects[i].end == 0 ? i : spare;
	}
	if (!objects || spare == OBJECTS) {
		return NULL;
	}
	s.found = o = &objects[spare];
	memset(o, 0, sizeof(*o));
	if (dl_iterate_phdr(object_has_address, &s) == 0) {
		return NULL;
	}
	n_objects += spare == n_objects;
	name_object(o);
	o->id = ++n_ids;
	vt_raw_object(c->raw, o->id, o->build_id, (uint32_t)o->build_id_size, o->path);
	return o;
}

VT_SELDOM const char *vt_object_name(struct vt_object *o, uint64_t offset, const char *known)
{
	const char *found;

	if (!o->looked) {
		o->looked = 1;
		o->symbols = vt_symbols_open(o->path, o->build_id, o->build_id_size);
	}
	found = o->symbols ? vt_symbols_find(o->symbols, offset) : NULL;
	return found ? found : known;
}

static VT_SELDOM int is_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct vt_object *o = arg;

	(void)size;
	return info->dlpi_addr == o->base && (!info->dlpi_name[0] || !strcmp(info->dlpi_name, o->path));
}

VT_SELDOM int vt_objects_forget(void (*gone)(const struct vt_object *o))
{
	uint32_t k;
	int n = 0;

	for (k = 0; k < n_objects; k++) {
		struct vt_object *o = &objects[k];

		if (o->end == 0 || o->program || dl_iterate_phdr(is_loaded, o)) {
			continue;
		}
		gone(o);
		vt_symbols_close(o->symbols);
		o->symbols = NULL;
		o->base = o->end = 0;
		n++;
	}
	return n;
}
