/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes pieces of JSON for several formats. */
#include "config.h"
#include "exchange/common/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"

char *xch_utf8(const char *text)
{
	char *out = malloc(3 * strlen(text) + 1);
	size_t k = 0, n;
	uint32_t code;

	for (; out && *text; text += n ? n : 1) {
		n = tkm_utf8(text, &code);
		memcpy(out + k, n ? text : "\xef\xbf\xbd", n ? n : 3);
		k += n ? n : 3;
	}
	if (out) {
		out[k] = 0;
	}
	return out;
}

void xch_json_value(FILE *f, const struct xch_counter *c, uint64_t bits)
{
	char buf[48];
	int n = xch_value(c, bits, buf), number = buf[n - 1] >= '0' && buf[n - 1] <= '9';

	fprintf(f, number ? "%s" : "\"%s\"", buf);
}

void xch_json_bytes(FILE *f, const char *key, uint64_t bytes)
{
	fprintf(f, ",\"%s\":%" PRIu64, key, bytes);
	if (bytes == STF_BYTES_AT_LEAST) {
		fprintf(f, ",\"%s_at_least\":true", key);
	}
}

void xch_json_seconds(FILE *f, const struct xch_trace *t, uint64_t time)
{
	char buf[48];

	xch_seconds(t, time, buf);
	fputs_unlocked(buf, f);
}
