/* SPDX-License-Identifier: BSD-3-Clause */
/* The faults of a trace that were already printed. A repeated fault is only counted. */
#include "config.h"
#include "tools/check/causes.h"

#include <inttypes.h>
#include <stdlib.h>

struct cause {
	uint64_t times;
	char *text;
};

static uint64_t key_of_cause(const char *suffix, const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;
	int inside = 0;

	for (; *suffix; suffix++) {
		h = (h ^ (uint8_t)*suffix) * 0x100000001b3u;
	}
	for (; *text; text++) {
		inside += (*text == '(') - (*text == ')');
		if (inside || *text < '0' || *text > '9') {
			h = (h ^ (uint8_t)*text) * 0x100000001b3u;
		}
	}
	return h;
}

int stt_cause_is_known(struct stt_causes *c, const char *path, const char *suffix, const char *text)
{
	uint64_t key = key_of_cause(suffix, text);
	struct cause *x = tkm_table_put(&c->said, &key, sizeof(key), sizeof(*x));

	if (!x) {
		return 0;
	}
	if (x->times++ == 0 && asprintf(&x->text, "%s%s: %s", path, suffix, text) < 0) {
		x->text = NULL;
	}
	return x->times > 1;
}

void stt_causes_end(struct stt_causes *c, const struct stt_options *o)
{
	struct cause *x = NULL;

	while ((x = tkm_table_next(&c->said, x))) {
		if (x->times > 1) {
			stt_fault(o, "%" PRIu64 " more like: %s", x->times - 1, x->text ? x->text : "");
		}
		free(x->text);
	}
	tkm_table_free(&c->said);
}
