/* SPDX-License-Identifier: BSD-3-Clause */
/* What people write: times, triplets, numbers of bytes, fractions, switches, and --request. The first byte chooses. What
 * is read must be what it claims to be: a time is a number, a triplet has a first that is not above its last. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/text/text.h"
#include "tools/cli/request.h"

#define FUZZ_NAME "words"
#include "tests/fuzz/fuzz.h"

static void must(int ok)
{
	if (!ok) {
		abort();
	}
}

static void request(char *text)
{
	struct stt_options o = { .program = "fuzz", .request = { &text, 1 } };
	struct stt_request q;
	struct tkm_err e;
	int rc = stt_request_parse(&q, &o, &e);

	must(rc == 0 || strstr(e.text, "--request"));
	if (rc == 0 && q.window[0].timed) {
		must(q.window[0].end_s >= q.window[0].start_s);
	}
	stt_request_free(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tkm_triplet t;
	long long n;
	double d;
	char *text;
	int b;

	if (!size) {
		return 0;
	}
	text = malloc(size);
	must(text != NULL);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0] % 7) {
	case 0:
		must(tkm_parse_time(text, &d) < 0 || isfinite(d));
		break;
	case 1:
		must(tkm_parse_triplet(text, size - 1, &t) < 0 || (t.first <= t.last && t.step > 0));
		break;
	case 2:
		must(tkm_parse_bytes(text, &n) < 0 || n >= 0);
		break;
	case 3:
		must(tkm_parse_fraction(text, &d) < 0 || isfinite(d));
		break;
	case 4:
		must(tkm_parse_int(text, -5, 1000, &n) < 0 || (n >= -5 && n <= 1000));
		break;
	case 5:
		must(tkm_parse_bool(text, &b) < 0 || b == 0 || b == 1);
		break;
	default:
		request(text);
		break;
	}
	free(text);
	return 0;
}
