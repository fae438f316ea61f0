/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of protocol buffers, field by field, and buffers in which messages are built. */
#ifndef EXCHANGE_PERFETTO_PROTO_H
#define EXCHANGE_PERFETTO_PROTO_H

#include <stddef.h>
#include <stdint.h>

enum { XCH_PROTO_VARINT, XCH_PROTO_64, XCH_PROTO_BYTES, XCH_PROTO_32 = 5 };

struct xch_proto_field {
	uint32_t number;
	int wire;
	uint64_t v;              /* of a varint */
	const unsigned char *at; /* its key */
	const unsigned char *p;  /* what is after the key, or after the length */
	size_t n;                /* bytes from p */
};

/* Takes the field at *p. Returns 1; 0: the message ends here; or -1: it does not end within the message,
 * or, with number 0, it is no field. */
int xch_proto_next(const unsigned char **p, const unsigned char *end, struct xch_proto_field *f);
/* Returns the bytes that the number takes, 1 to 10. p has room for 10. */
size_t xch_proto_varint(unsigned char *p, uint64_t v);

/* Initialise it with zeros. If memory runs out, `failed` becomes 1 and nothing is added from then on. */
struct xch_proto {
	unsigned char *b;
	size_t n, room;
	int failed;
};
void xch_proto_raw(struct xch_proto *m, const void *p, size_t n);
void xch_proto_int(struct xch_proto *m, uint32_t number, uint64_t v);
void xch_proto_bytes(struct xch_proto *m, uint32_t number, const void *p, size_t n);
void xch_proto_text(struct xch_proto *m, uint32_t number, const char *text);
/* Adds the field as it is in the file. */
void xch_proto_copy(struct xch_proto *m, const struct xch_proto_field *f);
void xch_proto_free(struct xch_proto *m);

/* The number at the end of a path of fields, which ends with 0. Returns 1, or 0: there is none. */
int xch_proto_find(const unsigned char *b, size_t n, const uint32_t *path, uint64_t *v);
/* Copies a field, the first of the path, with another number at its end. */
void xch_proto_replace(struct xch_proto *m, const struct xch_proto_field *f, const uint32_t *path, uint64_t v);

#endif
