/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the table of formats in the form of doc/exchange.md; a test compares the two. */
#include "config.h"

#include <stdio.h>

#include "exchange/common/format.h"

int main(void)
{
	const struct xch_format *f;
	const char *comma;
	size_t i;
	int k;

	for (i = 0; (f = xch_table(i)); i++) {
		if (f->missing) {
			printf("missing %s\n", f->name);
			continue;
		}
		printf("| %s | `%s` | %s | ", f->name, f->suffix,
			f->event && f->read ? "write, read"
				: f->event  ? "write"
					    : "read");
		for (comma = "", k = 0; k < XCH_KINDS; k++) {
			if (f->holds >> k & 1) {
				printf("%s%s", comma, xch_kind_name((enum xch_kind)k));
				comma = ", ";
			}
		}
		printf(" |\n");
	}
	return 0;
}
