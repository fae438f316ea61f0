/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace with every record that a caller can write, for tests that read it again. */
#ifndef TESTS_LIB_STF_EVERY_H
#define TESTS_LIB_STF_EVERY_H

#include "include/stf.h"
#include "tests/lib/stf_dir.h"

static struct stf_err err;

#define MANY 3
/* Field values that are all different, so that a mix-up shows. */
static inline int write_one(struct stf_writer *w, unsigned id, uint64_t time)
{
	const struct stf_layout *l = stf_layout(id);
	struct stf_value v[20] = { { 0 } };
	uint64_t mem[20][MANY];
	struct stf_record r = { .layout = l, .values = v };
	unsigned i, k;

	for (i = 0; i < l->n_fields; i++) {
		const struct stf_field *f = &l->fields[i];

		if (f->is_array) {
			for (k = 0; k < MANY; k++) {
				mem[i][k] = 0x0101010101010101u *
					(f->type == STF_C1             ? 'a' + i
							: f->ref_class ? 0
								       : i + 1);
			}
			v[i].array = mem[i];
			v[i].count = MANY;
		} else {
			v[i].u = f->is_size ? MANY : f->is_time ? time : f->ref_class ? 0 : id + i;
		}
		if (f->type == STF_F8 && !f->is_array) {
			double d = id + i * 0.25;

			memcpy(&v[i].u, &d, sizeof(d));
		}
		if (strcmp(f->name, "id") == 0) {
			v[i].u = 200;
		} else if (f->type == STF_WILLYID && !f->is_array) {
			v[i].u = id % 4;
		}
	}
	return stf_write_record(w, &r);
}

static inline int write_every(const char *path, int big, uint32_t per_file)
{
	struct stf_writer_options o = { .resolution = 0x1p-30,
		.eventbits = 3,
		.big_endian = big,
		.comment = "every",
		.procs_per_file = per_file,
		.identity = { 1, 2 } };
	struct stf_writer *w = stf_writer_create(path, &o, &err);
	static const uint32_t threads[] = { 1, 1, 2, 1 };
	unsigned id;
	int rc = 0;

	if (!w) {
		return -1;
	}
	rc |= stf_writer_processes(w, threads, 4);
	rc |= stf_writer_willy(w, STF_WILLY(2, 1), "node7", "10.1.2.3", 1234, 5678, -0.5, 2.5e-10);
	rc |= stf_writer_willy_name(w, STF_WILLY(2, 1), "rank 2 \xc3\xa4");
	rc |= stf_writer_info(w, "program", "test");
	rc |= stf_writer_info(w, "clock", "simulated");
	for (id = 1; id < STF_ID_END; id++) {
		enum stf_kind k = stf_layout(id)->kind;

		if (k <= STF_KIND_DECL || k == STF_KIND_STATS) {
			rc |= write_one(w, id, 1000 + 10 * id);
		}
	}
	if (rc) {
		err = *stf_writer_error(w);
		stf_writer_abort(w);
		return -1;
	}
	return stf_writer_finish(w, 1, 0, &err);
}

#endif
