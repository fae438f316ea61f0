/* SPDX-License-Identifier: BSD-3-Clause */
/* XXH3, compared with the values that xxhash publishes for its own self-test (xsum_sanity_check.c): at once and in pieces. */
#include "config.h"
#include "stf/format/hash.h"
#include "tests/lib/check.h"

enum { LONGEST = 2048 };

static uint8_t text[LONGEST];

/* The first bytes of the text have this checksum; each length is another way through the algorithm. */
static const struct {
	size_t n;
	uint64_t want;
} known[] = { { 0, 0x2d06800538d394c2u }, { 1, 0xc44bdff4074eecdbu }, { 6, 0x27b56a84cd2d7325u },
	{ 12, 0xa713daf0dfbb77e7u }, { 24, 0xa3fe70bf9d3510ebu }, { 48, 0x397da259ecba1f11u },
	{ 80, 0xbcdefbbb2c47c90au }, { 195, 0xcd94217ee362ec3au }, { 403, 0xcdeb804d65c6dea4u },
	{ 512, 0x617e49599013cb6bu }, { 2048, 0xdd59e2c3a5f038e0u } };
enum { KNOWN = sizeof(known) / sizeof(known[0]) };

/* The text of that self-test. */
static void write_text(void)
{
	uint64_t g = 2654435761u;
	int i;

	for (i = 0; i < LONGEST; i++) {
		text[i] = (uint8_t)(g >> 56);
		g *= 11400714785074694797u;
	}
}

static void checksums_are_as_published(void)
{
	size_t i;

	for (i = 0; i < KNOWN; i++) {
		CHECK(stf_hash_of(text, known[i].n) == known[i].want, "%zu bytes: %llx", known[i].n,
			(unsigned long long)stf_hash_of(text, known[i].n));
	}
}

static void pieces_of_any_size_give_the_checksum_of_the_whole(void)
{
	void *h = stf_hash_new();
	size_t i, at, n;

	CHECK(h != NULL, "no memory");
	for (i = 0; h && i < KNOWN; i++) {
		stf_hash_reset(h);
		for (at = 0; at < known[i].n; at += n) {
			n = 1 + check_random() % 300;
			n = n < known[i].n - at ? n : known[i].n - at;
			stf_hash_add(h, text + at, n);
		}
		CHECK(stf_hash_value(h) == known[i].want, "%zu bytes in pieces: %llx", known[i].n,
			(unsigned long long)stf_hash_value(h));
	}
	stf_hash_free(h);
}

int main(int argc, char **argv)
{
	check_args(argc, argv);
	write_text();
	if (stf_hash_there()) {
		RUN(checksums_are_as_published);
		RUN(pieces_of_any_size_give_the_checksum_of_the_whole);
	} else {
		SKIP("checksums", "no xxhash in this build");
	}
	return check_end();
}
