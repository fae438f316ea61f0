/* SPDX-License-Identifier: BSD-3-Clause */
/* The metadata of CTF 1.8: its file, and its words. */
#ifndef EXCHANGE_CTF_CTF_TEXT_H
#define EXCHANGE_CTF_CTF_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Reads a file of at most 16 MiB, and appends a zero byte. The caller frees the result. NULL: *err. */
char *xch_ctf_load(const char *folder, const char *name, size_t *n, struct tkm_err *err);
/* Extracts the metadata text. The file has packets, as LTTng writes it, or is plain text. Returns 0 or -1. */
int xch_ctf_unpack(const char *folder, char *text, size_t *size, struct tkm_err *err);

/* A part of the metadata text. */
struct xch_ctf_text {
	const char *p, *end;
};

/* Returns the end of the comment or string literal that begins at p; p itself if none begins there. */
const char *xch_ctf_skip(const char *p);
int xch_ctf_is_word(char c);
/* Reads the next token (word, number, string or sign). Returns its length, 0 at the end. *t points to the token;
 * s->p is after it. */
size_t xch_ctf_token(struct xch_ctf_text *s, const char **t);
int xch_ctf_word_is(const char *t, size_t n, const char *word);
/* Is the next token this one? If so, skips it. */
int xch_ctf_next_is(struct xch_ctf_text *s, const char *word);
/* Sets *inner to the text between the next brace and the matching one, and skips both. */
int xch_ctf_block(struct xch_ctf_text *s, struct xch_ctf_text *inner);
/* Finds `word` (and then `second`) outside of braces, and moves s after it. */
int xch_ctf_find(struct xch_ctf_text *s, const char *word, const char *second);
/* Finds the value of `name = VALUE;` in a block. Returns its length, 0: there is none. */
size_t xch_ctf_value(struct xch_ctf_text s, const char *name, const char **v);
uint64_t xch_ctf_number(struct xch_ctf_text s, const char *name, uint64_t otherwise);
/* Sets *big if the block has a byte order. */
void xch_ctf_order(struct xch_ctf_text s, int *big);
/* What a text of the metadata means, with a zero byte: at most as long as it is there. */
void xch_ctf_unescape(char *to, const char *p, const char *end);

#endif
