/* SPDX-License-Identifier: BSD-3-Clause */
/* Anything as a message between node processes, and as a contact word. What is decoded is encoded to the same bytes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "collector-plugin/net/contact.h"
#include "collector-plugin/net/message.h"

#define FUZZ_NAME "message"
#include "tests/fuzz/fuzz.h"

static void must(int ok)
{
	if (!ok) {
		abort();
	}
}

static void read_message(const uint8_t *data, size_t size)
{
	struct vt_net_message m;
	struct tkm_err err = { TKM_OK, "" };
	uint8_t *again;

	if (vt_net_decode(data, size, &m, &err) < 0) {
		must(err.text[0] != 0);
		return;
	}
	must(vt_net_encode(&m, NULL, 0) == size);
	again = malloc(size);
	must(again != NULL);
	must(vt_net_encode(&m, again, size) == size && !memcmp(again, data, size));
	free(again);
}

static void read_word(const uint8_t *data, size_t size)
{
	char *word = malloc(size + 1), again[VT_CONTACT_WORD + 400];
	struct vt_contact c;
	struct tkm_err err = { TKM_OK, "" };

	must(word != NULL);
	memcpy(word, data, size);
	word[size] = '\0';
	if (vt_contact_read(word, &c, &err) == 0) {
		must(vt_contact_write(&c, again, sizeof(again)) == 0);
		must(vt_contact_read(again, &c, &err) == 0);
	} else {
		must(err.text[0] != 0);
	}
	free(word);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_message(data, size);
	read_word(data, size);
	return 0;
}
