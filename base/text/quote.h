/* SPDX-License-Identifier: BSD-3-Clause */
/* Text quoted for the languages that our output ends up in. */
#ifndef BASE_TEXT_QUOTE_H
#define BASE_TEXT_QUOTE_H

#include <stddef.h>
#include <stdio.h>

/* Writes text inside single quotes for gnuplot, which takes it literally there; inside double quotes it
 * would run what is between backquotes. Control characters become spaces, UTF-8 passes. */
void tkm_quote_gnuplot(FILE *f, const char *text);

/* Text as one word of a shell: as it is, or inside single quotes where it has anything but letters, digits and
 * _./:=@%+,- in it. A control character becomes ? outside the quotes (* for U+0080 to U+009F); in the name of an
 * existing file the shell expands it to the original character. Cut where buf is too small. Returns buf. */
char *tkm_shell_word(char *buf, size_t size, const char *text);

/* Writes a JSON string. Bytes that are no UTF-8 become U+FFFD. */
void tkm_quote_json(FILE *f, const char *text);

#endif
