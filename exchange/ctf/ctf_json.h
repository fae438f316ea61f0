/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON values in memory, of the metadata of CTF 2. */
#ifndef EXCHANGE_CTF_CTF_JSON_H
#define EXCHANGE_CTF_CTF_JSON_H

#include <stddef.h>
#include <stdint.h>

enum xch_json_kind {
	XCH_JSON_NULL,
	XCH_JSON_BOOL,
	XCH_JSON_NUMBER,
	XCH_JSON_REAL,
	XCH_JSON_TEXT,
	XCH_JSON_ARRAY,
	XCH_JSON_OBJECT
};

struct xch_json {
	enum xch_json_kind kind;
	uint64_t number;        /* of a whole number: its bits, also of a negative one; of a truth value 0 or 1 */
	const char *text, *key; /* key: of a member of an object */
	struct xch_json *first, *next; /* of an array or an object: its values */
	struct xch_json *made_before;  /* for xch_json_free() */
	const char *at;                /* where it is in the text */
};

/* Reads the value at *p; the texts in it are changed to what they mean. *p is moved behind it, or to what is wrong. All values are added to
 * *all. Returns NULL with *why. */
struct xch_json *xch_json_read(char **p, char *end, struct xch_json **all, const char **why);
void xch_json_free(struct xch_json *all);

/* The member of an object; NULL: it has none, or j is no object, or NULL. */
const struct xch_json *xch_json_member(const struct xch_json *j, const char *key);
/* The text, or the whole number, of a member; what is given if there is none. */
const char *xch_json_text(const struct xch_json *j, const char *key, const char *otherwise);
uint64_t xch_json_number(const struct xch_json *j, const char *key, uint64_t otherwise);

#endif
