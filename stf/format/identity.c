/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and compares identities of traces, and reads them from records. */
#include "config.h"
#include "stf/format/identity.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/grow.h"

int stf_identity_new(struct stf_trace_identity *i)
{
	uint64_t u[2];
	ssize_t n;

	do {
		n = getrandom(u, sizeof(u), 0);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(u)) {
		return -1;
	}
	i->high = u[0] | 1; /* 0 means that no identity was given */
	i->low = u[1];
	return 0;
}

void stf_identity_print(struct stf_buf *out)
{
	stf_buf_printf(out,
		"RECORD %d " STX_IDENTITY_NAME " U4:order U8:high U8:low F8:resolution U4:eventbits U1:checksums\n",
		STX_IDENTITY_ID);
}

void stf_identity_put(uint8_t p[STX_IDENTITY_SIZE], const struct stf_trace_identity *i, int big)
{
	uint64_t bits;

	memcpy(&bits, &i->resolution, sizeof(bits));
	p[0] = STX_IDENTITY_ID;
	tkm_put32(p + 1, STX_IDENTITY_ORDER, big);
	tkm_put64(p + 5, i->high, big);
	tkm_put64(p + 13, i->low, big);
	tkm_put64(p + 21, bits, big);
	tkm_put32(p + 29, i->eventbits, big);
	p[33] = i->checksums;
}

int stf_identity_get(struct stf_trace_identity *i, const uint8_t p[STX_IDENTITY_SIZE], int big)
{
	uint64_t bits;

	if (p[0] != STX_IDENTITY_ID || tkm_get32(p + 1, big) != STX_IDENTITY_ORDER) {
		return -1;
	}
	i->high = tkm_get64(p + 5, big);
	i->low = tkm_get64(p + 13, big);
	bits = tkm_get64(p + 21, big);
	memcpy(&i->resolution, &bits, sizeof(bits));
	i->eventbits = tkm_get32(p + 29, big);
	i->checksums = p[33];
	return 0;
}

int stf_identities_have(const struct stf_identities *l, const struct stf_trace_identity *i)
{
	size_t k;

	for (k = 0; k < l->n && !stf_identity_same(&l->i[k], i); k++) {
	}
	return k < l->n;
}

int stf_identities_add(struct stf_identities *l, const struct stf_trace_identity *i)
{
	struct stf_trace_identity *p;

	if (stf_identities_have(l, i)) {
		return 0;
	}
	p = TKM_APPEND(l->i, l->n);
	if (!p) {
		return -1;
	}
	*p = *i;
	return 0;
}
