/* SPDX-License-Identifier: BSD-3-Clause */
/* The components of a trace as bytes: listed, copied, packed, unpacked, moved, removed. */
#ifndef TOOLS_FILES_H
#define TOOLS_FILES_H

#include "tools/stftool.h"

struct stt_component {
	char *suffix;    /* as it is on the disk: "", ".dcl", ".c.0.zst" */
	char *path;      /* of the file that it is in */
	uint64_t offset; /* where in that file */
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

/* What the file begins like; STT_UNSAID if it cannot be read. */
enum stt_format stt_input_format(const char *path);

/* Lists the components of a trace of either kind. Prints what is wrong and returns -1. */
int stt_components_list(struct stt_components *l, const struct stt_options *o);
/* Lists those of the single file `path`. Returns -1 and fills *e. */
int stt_components_of_single(struct stt_components *l, const char *path, struct stf_err *e);
void stt_components_free(struct stt_components *l);

/* Bytes of a single file that are in no component: something was added, or a part is there twice. */
uint64_t stt_surplus(const char *path);

/* All return an exit status. */
int stt_copy_components(const struct stt_components *l, const struct stt_options *o, const char *to);
int stt_pack(const struct stt_components *l, const struct stt_options *o, const char *to);
int stt_move(const struct stt_options *o, const char *to);
int stt_remove(const struct stt_options *o);

#endif
