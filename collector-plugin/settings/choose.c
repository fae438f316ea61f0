/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the values of PROCESS and CLUSTER. */
#include "config.h"
#include "collector-plugin/settings/choose.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/text/text.h"

size_t vt_choose_field(const char **text, char *to, size_t size, int lists)
{
	const char *p = *text + strspn(*text, " \t,"), *next;
	size_t n = 0;
	int quoted = 0;

	for (; *p && n + 1 < size; p++) {
		if (*p == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && (*p == ' ' || *p == '\t' || *p == ',')) {
			next = p + strspn(p, " \t");
			if (!lists || (*p != ',' && *next != ',')) {
				break;
			}
			p = next + strspn(next, " \t,") - 1;
			to[n++] = ',';
			continue;
		}
		to[n++] = *p;
	}
	to[n] = '\0';
	*text = p;
	return n;
}

/* Is `number` in the list "a:b:c,d:e"? Returns -1 if the text is not a list of triplets. */
static int in_triplets(const char *text, size_t length, long long number, long long last)
{
	int in = 0;

	while (length > 0) {
		const char *comma = memchr(text, ',', length);
		size_t n = comma ? (size_t)(comma - text) : length;
		struct tkm_triplet t;

		if (tkm_parse_triplet(text, n, &t) < 0 || t.first < 0) {
			return -1;
		}
		if (!memchr(text, ':', n)) {
			t.last = LLONG_MAX; /* "the default value for <UPPER-BOUND> is the size of MPI_COMM_WORLD" */
		}
		in |= number >= t.first && number <= t.last && number <= last && (number - t.first) % t.step == 0;
		text += n + (comma != NULL);
		length -= n + (comma != NULL);
	}
	return in;
}

static int state_of_rule(const char *text)
{
	static const struct {
		const char *word;
		int state;
	} words[] = { { "on", 0 }, { "true", 0 }, { "off", 1 }, { "false", 1 }, { "no", 2 }, { "discard", 2 } };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(words[i].word, text) == 0) {
			return words[i].state;
		}
	}
	return -1;
}

int vt_choose(const char *text, long long number, long long last, int *state, struct tkm_err *err)
{
	int in = -1, result = *state, s, first;
	char word[1000];

	for (first = 1; vt_choose_field(&text, word, sizeof(word), 1) > 0; first = 0) {
		s = state_of_rule(word);
		in = first ? 1 : in; /* a state alone is that of all, as in the guide's "PROCESS=OFF" (section 2.8.1) */
		if (s >= 0 && in >= 0) {
			result = in ? s : result;
			in = -1;
			continue;
		}
		result = in > 0 && !first ? 0 : result; /* no state after it: on */
		in = s >= 0 ? -1 : in_triplets(word, strlen(word), number, last);
		if (in < 0) {
			return tkm_fail(err, TKM_ERR_ARG,
				"'%s' is neither START[:STOP[:STEP]], several with commas and N for the last, nor "
				"after them on, off, "
				"no or discard",
				word);
		}
	}
	*state = in > 0 ? 0 : result;
	return 0;
}
