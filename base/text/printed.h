/* SPDX-License-Identifier: BSD-3-Clause */
/* A text that grows: for paths and names, which may be as long as the kernel makes them. */
#ifndef BASE_TEXT_PRINTED_H
#define BASE_TEXT_PRINTED_H

#include <stddef.h>

/* Initialise it with { 0 }; free(text) frees it. */
struct tkm_printed {
	char *text;
	size_t room;
};

/* Replaces the text. Returns it, or NULL if there is no memory; then the text is as before. The arguments may be the text itself. */
const char *tkm_printed(struct tkm_printed *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
