/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what one component says about its trace, for use when the base file is lost. */
#include "config.h"
#include "stf/component/source.h"

#include <math.h>

#define ZSTD_MAGIC 0xfd2fb528u

/* Compressed content by columns has numbers in an unknown byte order. The frame with the identity is never stored
 * by columns. */
static const struct stf_defs no_defs;

static int read_start(const char *path, uint8_t p[STX_IDENTITY_SIZE], struct stf_err *err)
{
	struct stf_source *s = stf_source_open_file(path, 0, err);
	uint8_t magic[4];
	size_t was;
	int rc = s ? 0 : -1;

	if (s && stf_source_peek(s, magic, sizeof(magic)) == 0 && tkm_get32(magic, 0) == ZSTD_MAGIC) {
		stf_source_close(s);
		s = stf_source_open_file(path, 1, err);
		rc = s ? 0 : -1;
	}
	if (s) {
		s->defs = &no_defs;
	}
	while (rc == 0 && s->len < STX_IDENTITY_SIZE) {
		was = s->len;
		rc = stf_source_fill(s, err);
		if (rc == 0 && s->len == was) {
			rc = stf_fail(err, STF_ERR_TRUNCATED, path, s->len, 0, "too short for a component");
		}
	}
	if (rc == 0) {
		memcpy(p, s->buf, STX_IDENTITY_SIZE);
	}
	stf_source_close(s);
	return rc;
}

int stf_component_identity(const char *path, struct stf_identity *out, struct stf_err *err)
{
	uint8_t p[STX_IDENTITY_SIZE];
	struct stf_trace_identity i;
	int big;

	if (read_start(path, p, err) < 0) {
		return -1;
	}
	for (big = 0; big < 2; big++) {
		if (stf_identity_get(&i, p, big) == 0 && isfinite(i.resolution) && i.resolution > 0) {
			*out = (struct stf_identity){ .id = { i.high, i.low },
				.resolution = i.resolution,
				.eventbits = i.eventbits,
				.big_endian = big };
			return 1;
		}
	}
	return 0;
}
