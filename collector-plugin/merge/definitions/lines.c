/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads libdw and finds the source lines and functions of addresses with it. */
#include "config.h"
#include "collector-plugin/merge/definitions/lines.h"

#ifdef HAVE_LIBDW
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of libdw that this file calls. */
#define LIBDW(X) \
	X(dwarf_haspc) \
	X(dwfl_addrmodule) \
	X(dwfl_begin) \
	X(dwfl_build_id_find_debuginfo) \
	X(dwfl_build_id_find_elf) \
	X(dwfl_end) \
	X(dwfl_getsrclines) \
	X(dwfl_line_comp_dir) \
	X(dwfl_lineinfo) \
	X(dwfl_module_addrname) \
	X(dwfl_module_build_id) \
	X(dwfl_module_getelf) \
	X(dwfl_module_getsrc) \
	X(dwfl_module_nextcu) \
	X(dwfl_onesrcline) \
	X(dwfl_report_elf) \
	X(dwfl_report_end)

static struct {
	void *handle;
	int tried;
#define MEMBER(name) __typeof__(&(name)) name;
	LIBDW(MEMBER)
#undef MEMBER
} dw;

/* No lock: while definitions are read, the merge runs in one thread. */
int vt_lines_there(const char **why)
{
	int missing = 0;

	if (!dw.tried) {
		dw.tried = 1;
		dw.handle = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(name) \
	dw.name = dw.handle ? (__typeof__(&(name)))dlsym(dw.handle, #name) : NULL; \
	missing |= !dw.name;
		LIBDW(FIND)
#undef FIND
		if (missing) {
			dw.handle = NULL;
		}
	}
	*why = "libdw.so.1 of elfutils cannot be loaded";
	return dw.handle != NULL;
}

struct vt_lines {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwfl_Callbacks calls;
};

struct vt_lines *vt_lines_open(const char *path, const uint8_t *build_id, size_t n)
{
	struct vt_lines *l = calloc(1, sizeof(*l));
	const unsigned char *id = NULL;
	GElf_Addr at, bias;
	int size;

	if (!l) {
		return NULL;
	}
	/* search by build id only: libdw's standard search would ask a server on the network */
	l->calls.find_debuginfo = dw.dwfl_build_id_find_debuginfo;
	l->calls.find_elf = dw.dwfl_build_id_find_elf;
	l->dwfl = dw.dwfl_begin(&l->calls);
	l->module = l->dwfl ? dw.dwfl_report_elf(l->dwfl, path, path, -1, 0, false) : NULL;
	if (l->module && dw.dwfl_report_end(l->dwfl, NULL, NULL) == 0 && dw.dwfl_module_getelf(l->module, &bias)) {
		size = dw.dwfl_module_build_id(l->module, &id, &at);
		if (n == 0 || (size == (int)n && !memcmp(id, build_id, n))) {
			return l;
		}
	}
	vt_lines_close(l);
	return NULL;
}

void vt_lines_close(struct vt_lines *l)
{
	if (l) {
		if (l->dwfl) {
			dw.dwfl_end(l->dwfl);
		}
		free(l);
	}
}

/* clang leaves out the table from addresses to compilation units that dwfl_module_getsrc() needs: looks at all units. */
static Dwfl_Line *find_line_in_units(const struct vt_lines *l, uint64_t offset)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias, at;
	Dwfl_Line *line, *found = NULL;
	size_t n, i;

	while (!found && (unit = dw.dwfl_module_nextcu(l->module, unit, &bias)) != NULL) {
		if (dw.dwarf_haspc(unit, offset - bias) <= 0 || dw.dwfl_getsrclines(unit, &n) != 0) {
			continue;
		}
		/* in the order of addresses */
		for (i = 0; i < n && (line = dw.dwfl_onesrcline(unit, i)) != NULL; i++) {
			if (!dw.dwfl_lineinfo(line, &at, NULL, NULL, NULL, NULL) || at > offset) {
				break;
			}
			found = line;
		}
	}
	return found;
}

int vt_lines_find(const struct vt_lines *l, uint64_t offset, char *file, size_t size)
{
	Dwfl_Line *line = dw.dwfl_module_getsrc(l->module, offset);
	const char *name, *dir;
	int number = 0;

	line = line ? line : find_line_in_units(l, offset);
	name = line ? dw.dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!name || number <= 0) {
		return 0;
	}
	dir = name[0] == '/' ? NULL : dw.dwfl_line_comp_dir(line);
	snprintf(file, size, "%s%s%s", dir ? dir : "", dir ? "/" : "", name);
	return number;
}

const char *vt_lines_function(const struct vt_lines *l, uint64_t offset)
{
	return dw.dwfl_module_addrname(l->module, offset);
}

#else
int vt_lines_there(const char **why)
{
	*why = "this version was built without libdw of elfutils";
	return 0;
}

struct vt_lines *vt_lines_open(const char *path, const uint8_t *build_id, size_t n)
{
	(void)path;
	(void)build_id;
	(void)n;
	return NULL;
}

void vt_lines_close(struct vt_lines *l)
{
	(void)l;
}

int vt_lines_find(const struct vt_lines *l, uint64_t offset, char *file, size_t size)
{
	(void)l;
	(void)offset;
	(void)file;
	(void)size;
	return 0;
}

const char *vt_lines_function(const struct vt_lines *l, uint64_t offset)
{
	(void)l;
	(void)offset;
	return NULL;
}
#endif
