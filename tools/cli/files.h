/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles the components of a trace as bytes: lists, copies, packs, unpacks, moves and removes them. */
#ifndef TOOLS_CLI_FILES_H
#define TOOLS_CLI_FILES_H

#include "tools/cli/stftool.h"

struct stt_component {
	char *suffix;    /* as on the disk: "", ".dcl", ".c.0.zst" */
	char *path;      /* of the file that contains the component */
	uint64_t offset; /* offset in that file */
	uint64_t size;
	int missing;
};

/* Component 0 is the base file. */
struct stt_components {
	struct stt_component *c;
	size_t n;
	int single;
	uint64_t surplus; /* bytes of a single file that are in no component */
};

/* The format by the first bytes of the file; STT_UNSAID if it cannot be read. */
enum stt_format stt_input_format(const char *path);

/* Lists the components of a trace, in one file or several. On an error prints it and returns -1. */
int stt_components_list(struct stt_components *l, const struct stt_options *o);
/* Lists the components of the single file `path`. Returns -1 and fills *e on an error. */
int stt_components_of_single(struct stt_components *l, const char *path, struct stf_err *e);
void stt_components_free(struct stt_components *l);

/* The number of bytes of a single file that are in no component: something was appended, or a part occurs twice. */
uint64_t stt_surplus(const char *path);

/* All return an exit status. */
int stt_copy_components(const struct stt_components *l, const struct stt_options *o, const char *to);
int stt_pack(const struct stt_components *l, const struct stt_options *o, const char *to);
int stt_move(const struct stt_options *o, const char *to);
int stt_remove(const struct stt_options *o);

#endif
