/* SPDX-License-Identifier: BSD-3-Clause */
/* otf2-to-stf IN [OUT] [OPTION...]: the short form of stftool IN --input-format OTF2 --convert OUT. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli/front.h"
#include "tools/cli/stftool.h"

/* "dir/run.otf2" becomes "dir/run.stf", and so does "dir/run/traces.otf2", as Score-P calls each anchor file. NULL: out of
 * memory. */
static char *default_output(const char *input)
{
	size_t n = strlen(input);
	char *to;

	while (n > 1 && input[n - 1] == '/') {
		n--;
	}
	if (n > 12 && !strncmp(input + n - 12, "/traces.otf2", 12)) {
		n -= 12;
	}
	if (n > 5 && !strncmp(input + n - 5, ".otf2", 5)) {
		n -= 5;
	}
	return asprintf(&to, "%.*s.stf", (int)n, input) < 0 ? NULL : to;
}

int main(int argc, char **argv)
{
	static const struct tkm_option none[] = { { .name = NULL } };
	static const struct tkm_front front = { .program = "otf2-to-stf",
		.arguments = "IN.otf2 [OUT.stf] [OPTION...]",
		.what = "Makes an STF trace of an OTF2 archive, given as its folder or anchor file.",
		.after = "Other options are those of stftool.",
		.table = none };
	const char **all;
	struct tkm_err err;
	char *output;
	int rc, i, named;

	for (i = 1; i < argc; i++) {
		if (tkm_front_answer(&front, argv[i], stdout)) {
			if (fflush(stdout) || ferror(stdout)) {
				fprintf(stderr, "otf2-to-stf: cannot write to standard output\n");
				return STT_FAULT;
			}
			return STT_OK;
		}
	}
	if (argc == 2 && tkm_option_begins(argv[1])) {
		tkm_option_unknown(none, argv[1] + 2, &err);
		fprintf(stderr, "otf2-to-stf: %s\n", err.text);
		return STT_USAGE;
	}
	if (argc > 2 && argv[1][0] == '-') {
		fprintf(stderr,
			"otf2-to-stf: '%s': options come after the two files, IN.otf2 and OUT.stf; --help shows how\n",
			argv[1]);
		return STT_USAGE;
	}
	if (argc < 2 || argv[1][0] == '-') {
		fprintf(stderr, "otf2-to-stf: an archive is needed, IN.otf2; --help shows how\n");
		return STT_USAGE;
	}
	named = argc > 2 && argv[2][0] != '-';
	output = named ? NULL : default_output(argv[1]);
	all = calloc((size_t)argc + 5, sizeof(*all));
	if (!all || (!named && !output)) {
		fprintf(stderr, "otf2-to-stf: out of memory\n");
		return STT_FAULT;
	}
	all[0] = argv[0];
	all[1] = argv[1];
	all[2] = "--input-format";
	all[3] = "OTF2";
	all[4] = "--convert";
	all[5] = named ? argv[2] : output;
	for (i = 2 + named; i < argc; i++) {
		all[i + 4 - named] = argv[i];
	}
	rc = stt_main(argc + 4 - named, (char **)(uintptr_t)all, "otf2-to-stf");
	free(all);
	free(output);
	return rc;
}
