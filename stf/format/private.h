/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of stf/ share: errors, growing memory, layouts on disk, a map of ids. Names begin with stf_. */
#ifndef STF_FORMAT_PRIVATE_H
#define STF_FORMAT_PRIVATE_H

#include "base/bytes.h"
#include "include/stf.h"

#define STX_MAX_FIELDS 20           /* fields of one of our records; collop_profile has 17 */
#define STX_BUFFER (1u << 20)       /* bytes of a component that are held in memory until they are written */
#define STX_SMALL_BUFFER (1u << 17) /* the same, for each of many components, and for anchors */
/* number of data files that may stay open; any further file is opened for each access */
#define STX_MANY 32
#define STX_ANCHOR_STEP (1u << 16) /* bytes of data after which an anchor follows at the latest */
#define STX_MAX_FRAME (16u << 20)  /* bytes of a compressed frame's content */
#define STX_LAST_ID 0xe9

/* ---- err.c ---- */

/* Fills *e and returns -1. `file` may be NULL. */
int stf_fail(struct stf_err *e, enum stf_code code, const char *file, uint64_t offset, uint64_t record, const char *fmt,
	...) __attribute__((format(printf, 6, 7)));
/* Fills *e with STF_ERR_IO (EEXIST: STF_ERR_EXISTS, ENOMEM: STF_ERR_NOMEM) and "what: reason of errnum". */
int stf_fail_errno(struct stf_err *e, int errnum, const char *file, const char *what);
int stf_no_memory(struct stf_err *e);

/* Does the writer reject all further records? */
static inline int stf_is_fatal(const struct stf_err *e)
{
	return e->code > STF_ERR_STATE;
}

/* Rejects one record of a writer. Returns -1. */
int stf_reject(struct stf_err *e, const char *record, const char *why, uint64_t n);
/* Rejects a record that has too many elements, or (too_many 0) none although there must be some. */
int stf_refuse_count(struct stf_err *e, const char *record, uint64_t too_many);

/* A growing byte array. If it cannot grow, `failed` is set and the content stays. */
struct stf_buf {
	char *p;
	size_t n, cap;
	int failed;
};
/* Makes room for n more bytes at b->p + b->n. Returns 0 or -1. */
int stf_buf_reserve(struct stf_buf *b, size_t n);
void stf_buf_add(struct stf_buf *b, const void *p, size_t n);
void stf_buf_printf(struct stf_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Copies options that begin with a size_t, their size; 0 stands for the `first` bytes, those of version 0.1. If
 * the caller's struct is larger than ours, the rest must be zero. */
int stf_take_options(void *to, size_t have, const void *from, size_t first, const char *name, struct stf_err *err);

/* A map from a 64-bit key to a number, without removal; uses uthash. */
struct stf_pair;
struct stf_map {
	struct stf_pair *first;
};
#define STX_KEY(class_id, id) ((uint64_t)(class_id) << 32 | (uint32_t)(id))
/* 1: added, 0: was there (value unchanged), -1: no memory */
int stf_map_add(struct stf_map *m, uint64_t key, uint64_t value);
const uint64_t *stf_map_find(const struct stf_map *m, uint64_t key);
void stf_map_free(struct stf_map *m);

/* ---- layout.c ---- */

/* The bytes on disk of a basic type (willy_id: 4). */
unsigned stf_type_size(enum stf_type t);
const char *stf_type_name(enum stf_type t);
/* Returns -1 if name is not a basic type. */
int stf_type_by_name(const char *name, size_t n);
/* The first incarnation of a class, 0 if unknown. */
unsigned stf_class_by_name(const char *name);

/* Our own layout on disk, for reading bytes that we wrote. The structs have no arrays, so sizeof is the size of
 * the fixed part, and members before the first array are at their true offset. */
#define STX_W_U1 1
#define STX_W_U2 2
#define STX_W_U4 4
#define STX_W_U8 8
#define STX_W_I1 1
#define STX_W_I2 2
#define STX_W_I4 4
#define STX_W_I8 8
#define STX_W_F4 4
#define STX_W_F8 8
#define STX_W_C1 1
#define STX_W_O8 8
#define STF_BEGIN(id, cls, name, kind) \
	struct stf_wire_##name { \
		uint8_t type_;
#define STF_TIME(name) uint8_t name[4];
#define STF_FIELD(type, name, ref, dflt) uint8_t name[STX_W_##type];
#define STF_WILLY_FIELD(name) uint8_t name[4];
#define STF_SIZE(type, group, n) uint8_t size_##group##_##n[STX_W_##type];
#define STF_ARRAY(type, name, ref, dflt) uint8_t name[0];
#define STF_WILLY_ARRAY(name) uint8_t name[0];
#define STF_END(id, name) \
	} \
	;
#include "include/records.def"

/* The bytes of our record that begins at p, including its type byte; 0 if *p is not one of our ids. */
uint64_t stf_wire_size(const uint8_t *p, int big);

#endif
