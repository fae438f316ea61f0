/* SPDX-License-Identifier: BSD-3-Clause */
/* Declares texts, classes, processes and threads: each call of stf.h makes the records that it needs. */
#include "config.h"
#include "stf/write/writer.h"

static uint64_t hash(const char *text, uint64_t seed)
{
	uint64_t h = 0xcbf29ce484222325u ^ seed;

	for (; *text; text++) {
		h = (h ^ (uint8_t)*text) * 0x100000001b3u;
	}
	return h ? h : 1;
}

uint32_t stf_writer_string(struct stf_writer *w, const char *text)
{
	struct stf_stf_string r = { .string = text, .size_1_1 = (uint32_t)strlen(text) };
	/* two seeds, so that equal keys mean equal texts, except for one pair in 2^64 */
	uint64_t key = hash(text, 0) * 31 + hash(text, 0x5bd1e995);
	const uint64_t *old = stf_map_find(&w->texts, key ? key : 1);

	if (old) {
		return (uint32_t)*old;
	}
	if (w->top_string == UINT32_MAX) {
		stf_reject(&w->err, "stf_string", "no id is left", w->top_string);
		return 0;
	}
	r.id = w->top_string + 1;
	if (stf_write_stf_string(w, &r) < 0) {
		return 0;
	}
	if (stf_map_add(&w->texts, key ? key : 1, r.id) < 0) {
		stf_no_memory(&w->err);
		return 0;
	}
	return r.id;
}

/* `name` is the full name, "parent:self". */
uint32_t stf_writer_class(struct stf_writer *w, const char *name, uint32_t parent)
{
	struct stf_class_definition r = { .parent = parent };
	const char *self = strrchr(name, ':');

	r.name = stf_writer_string(w, name);
	r.nameself = stf_writer_string(w, self ? self + 1 : name);
	if (!r.name || !r.nameself) {
		return 0;
	}
	if (w->top_class == UINT32_MAX) {
		stf_reject(&w->err, "class_definition", "no id is left", w->top_class);
		return 0;
	}
	r.id = w->top_class + 1;
	return stf_write_class_definition(w, &r) < 0 ? 0 : r.id;
}

int stf_writer_processes(struct stf_writer *w, const uint32_t *threads, uint32_t n)
{
	struct stf_process_declaration r = { .size_1_1 = n, .thread_numbers = threads };

	if (n > 0x10000) {
		return stf_reject(&w->err, "process_declaration", "more processes than a willy_id can tell apart", n);
	}
	return stf_write_process_declaration(w, &r);
}

int stf_writer_willy(struct stf_writer *w, uint32_t willy, const char *hostname, const char *ip, uint32_t pid,
	uint64_t tid, double offset, double skew)
{
	struct stf_willy_definition r = { .willy = willy, .pid = pid, .tid = tid, .offset = offset, .skew = skew };

	r.hostname = stf_writer_string(w, hostname);
	r.ip = stf_writer_string(w, ip);
	return r.hostname && r.ip ? stf_write_willy_definition(w, &r) : -1;
}

int stf_writer_willy_name(struct stf_writer *w, uint32_t willy, const char *name)
{
	struct stf_willy_name r = { .willy = willy, .name = stf_writer_string(w, name) };

	return r.name ? stf_write_willy_name(w, &r) : -1;
}

int stf_writer_info(struct stf_writer *w, const char *cls, const char *text)
{
	struct stf_info r = { .size_1_1 = (uint32_t)strlen(text), .info = text };
	uint64_t key = hash(cls, 0) * 31 + hash(cls, 0x5bd1e995);
	const uint64_t *old = stf_map_find(&w->classes, key ? key : 1);

	r.info_class = old ? (uint32_t)*old : stf_writer_class(w, cls, 0);
	if (!r.info_class) {
		return -1;
	}
	if (!old && stf_map_add(&w->classes, key ? key : 1, r.info_class) < 0) {
		return stf_no_memory(&w->err);
	}
	return stf_write_info(w, &r);
}
