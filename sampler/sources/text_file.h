/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters that are numbers in text files of /proc and /sys, in one table. Each file is read once per sample, however
 * many counters it contains. */
#ifndef SAMPLER_SOURCES_TEXT_FILE_H
#define SAMPLER_SOURCES_TEXT_FILE_H

#include "base/text/printed.h"
#include "sampler/private.h"

/* Where in its file a number is. */
enum smp_where {
	SMP_WORD,   /* the nth word, counted from 1 */
	SMP_STAT,   /* the nth field of /proc/PID/stat as proc(5) counts: names may hold blanks and brackets */
	SMP_LABEL,  /* the nth word after `label` at the start of a line; 0 and 1: the first */
	SMP_COLUMN, /* of two lines that start with `label`, the second one's number under the word `key` of the first */
	SMP_KEY,    /* after `key` in the line that starts with `label` */
	SMP_SUM,    /* after `key`, the sum over all lines, each of which is a device's; no line: nothing was counted */
	SMP_DECIMAL, /* the nth word, a decimal fraction: SMP_F64 */
};

struct smp_text_counter {
	const char *name, *unit, *what;
	enum smp_scope scope;
	enum smp_kind kind;
	enum smp_type type; /* SMP_U64 if not said */
	double factor;
	const char *shown_unit;
	int file; /* index of the source's table of files */
	enum smp_where where;
	int nth;
	const char *label, *key;
	const char *
		without; /* NULL, or: a text that has a line with this label and none with the other one counted 0 so far */
	unsigned scale;         /* recorded = number * scale; 0 is 1 */
	struct smp_physics can; /* of the recorded value */
	uint64_t most;          /* the largest number that can be: what is above it is no value; 0: any */
	int every_ms; /* a file that is dear to read need not be read more often for this counter, which then has no value */
};

/* Finds the number. Returns 0, or -1 where it is not there. */
int smp_text_find(const struct smp_text_counter *c, const char *text, union smp_value *out);

/* The rest of a source that consists of such counters. */
struct smp_text_source {
	const struct smp_text_counter *counter;
	size_t n;
	size_t n_files;
	/* Path of a file for a target. Returns 0, or -1 with the reason. */
	int (*path)(const struct smp_env *env, const struct smp_target *target, int file, struct tkm_printed *path,
		char why[SMP_TEXT]);
	/* Why a file or number is missing, when path() knew no reason. */
	void (*missing)(const struct smp_env *env, int file, const char *path, int errnum, char why[SMP_TEXT]);
	/* NULL, or the thread whose file is to be read instead, path() with target->tid, because `text` is of a main thread that has ended;
	 * 0: none. */
	int32_t (*living)(const struct smp_env *env, const struct smp_target *target, int file, const char *text);
	/* NULL: yes, or: does a sum include the line of this device? */
	int (*includes)(const struct smp_env *env, const char *device);
};

/* What a set is asked for. */
struct smp_wanted {
	const char *const *names;
	size_t n;
	char (*why_each)[SMP_TEXT];
};

int smp_text_list(const struct smp_text_source *source, const struct smp_env *env, const char *hint, smp_each each,
	void *ctx, char why[SMP_TEXT]);
void *smp_text_open(const struct smp_text_source *source, const struct smp_env *env, const struct smp_target *target,
	struct smp_wanted w, char why[SMP_TEXT]);
int smp_text_read(void *set, union smp_value *value, uint8_t *state);
void smp_text_close(void *set);

#endif
