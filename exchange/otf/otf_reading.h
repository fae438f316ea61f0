/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that the two files which read OTF share: exchange/otf/otf_read_defs.c reads definitions,
 * exchange/otf/otf_read.c reads events. */
#ifndef EXCHANGE_OTF_OTF_READING_H
#define EXCHANGE_OTF_OTF_READING_H

#include "exchange/common/build.h"
#include "exchange/otf/otf.h"
#include "exchange/common/private.h"

enum { XOT_MAX_KEYS = 65536 };

struct xch_otf_process_of {
	uint32_t willy, threads; /* threads: number of child processes seen so far */
	struct xch_otf_open *open;
	uint32_t n_open;
};
/* A collective operation that a process has begun and not ended. */
struct xch_otf_open {
	uint64_t matching;
	struct xch_build_member m;
};
struct xch_otf_counter {
	uint32_t id;
	int narrow; /* width of a value that does not have 8 bytes: 4, 2; 1: a float */
	int is_signed;
};
struct xch_otf_group {
	char *name;
	uint32_t *willies, n, communicator; /* communicator: id in STF; 0: not yet declared */
	/* the number of operations that each member has begun, where the trace does not number them */
	uint64_t *operations;
};
struct xch_otf_operation {
	uint8_t id, type;
	int ours;
};
/* Tables indexed by OTF's numbers. */
struct xch_otf_list {
	struct xch_map map;
	size_t n;
	char *v;
	size_t size;
};

struct xch_otf_reading {
	struct xch_input *in;
	struct tkm_err *err;
	struct xch_build *b;
	uint64_t ticks; /* per second */
	double resolution;
	uint32_t eventbits;
	struct xch_otf_list process, counter, group, operation, function, file, class_of;
	char *key[XOT_MAX_KEYS]; /* names of keys of other name spaces */
	uint32_t keys;           /* all such keys are below this number */
	uint16_t our[XOT_KEYS];  /* their numbers in this trace; 0: absent */
	uint32_t next_process, next_communicator, next_operation;
	OTF_Reader *reader; /* of the current pass */
	int in_events;
	uint32_t now; /* process of the current event */
	int failed;
};

/* The function to call for a kind of record; the list ends with NULL. */
struct xch_otf_handler {
	uint32_t record;
	OTF_FunctionPointer *call;
};
/* The library declares its call-backs with one argument only. */
#define CALL(f) ((OTF_FunctionPointer *)(void (*)(void))(f))
extern const struct xch_otf_handler xch_otf_definitions[]; /* the keys and the period come first */

/* Adds an entry filled with zeros; NULL and *err: no memory, or the definition has no name. */
void *xch_otf_list_add(struct xch_otf_reading *r, struct xch_otf_list *l, uint32_t id, const char *name);
void *xch_otf_list_find(const struct xch_otf_list *l, uint32_t id); /* NULL: not defined */
int xch_otf_bad(struct xch_otf_reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Converts a result to what a handler returns to the library. */
int xch_otf_told(struct xch_otf_reading *r, int rc);
int xch_otf_told_stf(struct xch_otf_reading *r, int rc);

/* The path of a file of a stream: definitions or events. */
void xch_otf_stream_path(const struct xch_otf_reading *r, uint32_t stream, const char *suffix, char *path, size_t size);

/* The values of our key-value pairs. Bytes are copied, with a zero byte after them; NULL: there are none. */
int xch_otf_has(const struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k);
uint32_t xch_otf_our_u32(const struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k, uint32_t otherwise);
uint64_t xch_otf_our_u64(const struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k, uint64_t otherwise);
double xch_otf_our_real(const struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k);
int xch_otf_text(struct xch_otf_reading *r, const char *text);
char *xch_otf_bytes(struct xch_otf_reading *r, OTF_KeyValueList *l, uint32_t key, uint32_t *n);
char *xch_otf_our_bytes(struct xch_otf_reading *r, OTF_KeyValueList *l, enum xch_otf_key k, uint32_t *n);

int xch_otf_willy_of(struct xch_otf_reading *r, uint32_t process, uint32_t *willy);
/* The communicator of a process group. A group of another program becomes a communicator at its first use. */
int xch_otf_communicator(struct xch_otf_reading *r, uint32_t id, uint32_t *out);

#endif
