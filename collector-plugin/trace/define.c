/* SPDX-License-Identifier: BSD-3-Clause */
/* Defines classes, functions, source locations, files and scopes, and records their definitions. */
#include "config.h"
#include "collector-plugin/trace/define.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collector-plugin/raw/writer.h"
#include "collector-plugin/trace/rules.h"

static struct vt_names classes, functions, scopes, locations, files;
static _Atomic uint32_t n_locations, n_scopes; /* how many have been recorded */

/* ---- classes ---- */

/* Records class `number` of the table, as a member of its parent class. */
static void record_class(struct vt_collect *c, const char *clean, uint32_t number)
{
	const char *colon = strrchr(clean, ':');
	uint32_t parent = 0;

	if (colon) {
		char *outer = strndup(clean, (size_t)(colon - clean));

		parent = outer ? vt_class(c, outer) : 0;
		free(outer);
	}
	vt_raw_class(c->raw, VT_FIRST_ID + number, parent, colon ? colon + 1 : clean);
}

uint32_t vt_class(struct vt_collect *c, const char *clean)
{
	int fresh;
	uint32_t n;

	vt_names_define();
	n = vt_names_number(&classes, clean, &fresh);
	if (fresh) {
		record_class(c, clean, n);
	}
	vt_names_defined();
	return n ? VT_FIRST_ID + n : 0;
}

const char *vt_class_name(uint32_t id)
{
	return id > VT_FIRST_ID ? vt_names_text(&classes, id - VT_FIRST_ID) : NULL;
}

/* Finds the class of a name inside a class: *cls gets "outer:inner", which the caller frees. Returns the part after
 * the last colon. NULL: no memory. */
static const char *split_class(const char *class_name, const char *clean, char **cls)
{
	const char *colon = strrchr(clean, ':');
	size_t n = colon ? (size_t)(colon - clean) : 0, size = strlen(class_name) + n + 16;

	*cls = malloc(size);
	if (*cls && !n && !class_name[0]) {
		snprintf(*cls, size, "Application");
	} else if (*cls) {
		snprintf(*cls, size, "%s%s%.*s", class_name, n && class_name[0] ? ":" : "", (int)n, clean);
	}
	return !*cls ? NULL : colon ? colon + 1 : clean;
}

/* ---- functions ---- */

uint32_t vt_function(struct vt_collect *c, const char *class_name, const char *name)
{
	uint32_t cls = vt_class(c, class_name), n;
	char *full = malloc(strlen(class_name) + strlen(name) + 2);
	int fresh;

	if (!full) {
		return 0;
	}
	sprintf(full, "%s:%s", class_name, name);
	vt_names_define();
	n = vt_names_number(&functions, full, &fresh);
	if (fresh) {
		vt_raw_function(c->raw, VT_FIRST_ID + n, cls, name);
		vt_trace_defined(VT_FIRST_ID + n, class_name, name);
	}
	vt_names_defined();
	free(full);
	return n ? VT_FIRST_ID + n : 0;
}

uint32_t vt_function_in(struct vt_collect *c, const char *class_name, const char *clean)
{
	char *cls;
	const char *name = split_class(class_name, clean, &cls);
	uint32_t id = name ? vt_function(c, cls, name) : 0;

	free(cls);
	return id;
}

int vt_demangle_wanted(void)
{
	const char *text = vt_collect_option("DEMANGLE");

	return !text || !*text || !strcasecmp(text, "on") || !strcasecmp(text, "true");
}

uint32_t vt_function_at(
	struct vt_collect *c, const char *class_name, uint32_t object, uint64_t offset, const char *name)
{
	const struct vt_raw_place at = { offset, object, (uint32_t)vt_demangle_wanted() };
	uint32_t cls = vt_class(c, class_name), n;
	char key[60];
	int fresh;

	/* no name contains this byte */
	snprintf(key, sizeof(key), "\1%u %llx", object, (unsigned long long)offset);
	vt_names_define();
	n = vt_names_number(&functions, key, &fresh);
	if (fresh) {
		vt_raw_function_at(c->raw, VT_FIRST_ID + n, cls, &at, name);
		vt_trace_defined(VT_FIRST_ID + n, class_name, name);
	}
	vt_names_defined();
	return n ? VT_FIRST_ID + n : 0;
}

/* ---- numbers that the program chose ---- */

enum { NUMBERS = 1 << 16 };
static struct {
	_Atomic uint32_t function; /* 0: free */
	int number;
} numbered[NUMBERS];

static uint32_t slot_of_number(int number)
{
	uint32_t i = (uint32_t)number * 2654435761u >> 16, k;

	for (k = 0; k < NUMBERS; k++, i = (i + 1) % NUMBERS) {
		if (atomic_load_explicit(&numbered[i].function, memory_order_acquire) == 0 ||
			numbered[i].number == number) {
			return i;
		}
	}
	return NUMBERS;
}

int vt_function_number(int number, uint32_t function)
{
	uint32_t i, before;

	vt_names_define();
	i = slot_of_number(number);
	before = i < NUMBERS ? atomic_load(&numbered[i].function) : 0;
	if (i < NUMBERS && before == 0) {
		numbered[i].number = number;
		atomic_store_explicit(&numbered[i].function, function, memory_order_release);
	}
	vt_names_defined();
	return i == NUMBERS ? -2 : before && before != function ? -1 : 0;
}

uint32_t vt_function_numbered(int number)
{
	uint32_t i = slot_of_number(number);

	return i < NUMBERS ? atomic_load_explicit(&numbered[i].function, memory_order_acquire) : 0;
}

/* ---- source locations ---- */

uint32_t vt_location(struct vt_collect *c, const char *file, int line)
{
	char *key = malloc(strlen(file) + 16);
	uint32_t n;
	int fresh;

	if (!key) {
		return 0;
	}
	sprintf(key, "%x %s", (unsigned)line, file);
	vt_names_define();
	n = vt_names_number(&locations, key, &fresh);
	if (fresh) {
		vt_raw_scl(c->raw, VT_FIRST_ID + n, (uint32_t)line, file);
		atomic_store(&n_locations, n);
	}
	vt_names_defined();
	free(key);
	return n ? VT_FIRST_ID + n : 0;
}

uint32_t vt_location_stack(struct vt_collect *c, const struct vt_raw_place *place, uint32_t n)
{
	char key[VT_RAW_STACK * 28 + 2];
	size_t at = 1;
	uint32_t i, number;
	int fresh;

	key[0] = '\1'; /* no key of a location in a file begins with this byte */
	for (i = 0; i < n; i++) {
		at += (size_t)snprintf(
			key + at, sizeof(key) - at, "%x %llx ", place[i].object, (unsigned long long)place[i].offset);
	}
	vt_names_define();
	number = vt_names_number(&locations, key, &fresh);
	if (fresh) {
		vt_raw_stack(c->raw, VT_FIRST_ID + number, place, n);
		atomic_store(&n_locations, number);
	}
	vt_names_defined();
	return number ? VT_FIRST_ID + number : 0;
}

int vt_location_known(uint32_t id)
{
	return id > VT_FIRST_ID && id - VT_FIRST_ID <= atomic_load_explicit(&n_locations, memory_order_relaxed);
}

/* ---- files ---- */

uint32_t vt_file(struct vt_collect *c, const char *name, uint32_t communicator)
{
	enum { MOST = 0x4000 };
	char *key = malloc(strlen(name) + 32);
	uint32_t n;
	int fresh;

	if (!key) {
		return 0;
	}
	vt_names_define();
	if (vt_names_count(&files) >= MOST) {
		name = "other files";
		communicator = 0;
	}
	sprintf(key, "%u %s", (unsigned)communicator, name);
	n = vt_names_number(&files, key, &fresh);
	if (fresh) {
		vt_raw_file_name(c->raw, n, communicator, name);
	}
	vt_names_defined();
	free(key);
	return n;
}

/* ---- scopes ---- */

uint32_t vt_scope_in(struct vt_collect *c, const char *class_name, const char *clean, uint32_t scl1, uint32_t scl2)
{
	char *cls, *key;
	const char *name = split_class(class_name, clean, &cls);
	uint32_t n = 0;
	int fresh;

	key = name ? malloc(strlen(cls) + strlen(name) + 2) : NULL;
	if (key) {
		sprintf(key, "%s:%s", cls, name);
		vt_names_define();
		n = vt_names_number(&scopes, key, &fresh);
		if (fresh) {
			vt_raw_scope(c->raw, VT_FIRST_ID + n, vt_class(c, cls), scl1, scl2, name);
			atomic_store(&n_scopes, n);
		}
		vt_names_defined();
	}
	free(key);
	free(cls);
	return n ? VT_FIRST_ID + n : 0;
}

int vt_scope_known(uint32_t id)
{
	return id > VT_FIRST_ID && id - VT_FIRST_ID <= atomic_load_explicit(&n_scopes, memory_order_relaxed);
}
