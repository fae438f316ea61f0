/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the collector and of vtrun: one table, three sources (configuration file, VT_ variables, command
 * line), and the protocol file, which lists the resulting values. Wrong values are reported and left out; the job
 * continues. Names and syntax are those of the Intel Trace Collector guide, section 3.2. */
#ifndef COLLECTOR_PLUGIN_SETTINGS_H
#define COLLECTOR_PLUGIN_SETTINGS_H

#include <stdio.h>

#include "base/err.h"
#include "base/cli/option.h"

enum { VT_SETTINGS_MAX = 64 };

enum vt_origin { VT_BY_DEFAULT, VT_BY_FILE, VT_BY_VARIABLE, VT_BY_COMMAND };

/* A line of the configuration file or a variable that another part of the collector looks up by its name. PROCESS,
 * CLUSTER and GROUP may be given several times, also in one variable, separated by ';' or line feeds. */
struct vt_setting_other {
	struct vt_setting_other *next;
	char *name, *text, *where; /* "FILE:LINE", the variable's name, or the option's on the command line */
	enum vt_origin origin;
};

struct vt_settings {
	const char *config, *current_dir, *flush_prefix, *handle_signals, *logfile_format, *logfile_name,
		*logfile_prefix, *progname, *protofile_name, *sampler, *throttle, *timer, *time_windows;
	int altstack, autoflush, count_kernel, counters_only, environment, flush_pid, follow_children, force,
		keep_raw_events, mem_overwrite, multiplex, report, start_paused, summary,
		stf_use_hw_structure; /* -1: where there are several nodes */
	long long compress_trace, flush_limit, logfile_rank, statistics, mem_blocksize, mem_flushblocks, mem_info,
		mem_maxblocks, mem_minblocks, stf_procs_per_file, verbose;
	double counter_min_interval, deadlock_timeout, deadlock_warning, os_counter_delay, sample_budget, sample_period;
	struct tkm_option_list counter, plugin;
	/* where the values came from */
	struct tkm_option table[VT_SETTINGS_MAX]; /* points into this struct, which must not be moved */
	enum vt_origin origin[VT_SETTINGS_MAX];
	char where[VT_SETTINGS_MAX][300]; /* "FILE:LINE" or the variable's name */
	struct vt_setting_other *others;
	struct tkm_option_storage *storage;
	int imbalance; /* 1: the library is libVTim, so TRACE-IMBALANCE is on by default; set it before vt_settings_load() */
	/* set these before vt_settings_load() to replace the configuration file and the process's variables */
	const char *config_text, *config_name; /* the text and where it comes from */
	size_t config_size;
	char **variables;                              /* NAME=VALUE ..., NULL */
	void (*complain)(void *ctx, const char *line); /* reports wrong values, one line each; or NULL */
	void *ctx;
};

/* help.c: adds the texts of --help to the table. Only programs have these texts. */
void vt_settings_help(struct vt_settings *s);

/* Sets the defaults and builds the table. */
void vt_settings_init(struct vt_settings *s);
/* After that: the processes of vtrun --join are sampled less often, because such jobs last long. run: VT_RUN_VARIABLE. */
void vt_settings_of_run(struct vt_settings *s, const char *run);

/* Reads the configuration file and the variables. The file is VT_CONFIG, or s->config if that is set already, or
 * s->config_text. `commanded` names, separated by commas, the options that vtrun's command line set through
 * variables; NULL: none. Never fails: errors go to `complain`. */
void vt_settings_load(struct vt_settings *s, const char *commanded);

/* Returns the text of an option that is not in the table but known to other parts (SYNC-PERIOD), or NULL if it was
 * not set. */
const char *vt_settings_other(const struct vt_settings *s, const char *name);
/* Returns the n-th mention, from 0, of an option that is given several times, or NULL if there are no more. */
const struct vt_setting_other *vt_settings_other_nth(const struct vt_settings *s, const char *name, int n);
/* May the option be given several times: is it PROCESS, CLUSTER or GROUP? */
int vt_settings_repeats(const char *name);

/* Is it the name of an option of the Intel Trace Collector guide or of Tickmark, in the table or not? If not,
 * *nearest is a similar name, or NULL. */
int vt_settings_known(const struct vt_settings *s, const char *name, const char **nearest);

/* TRACE-IMBALANCE: only waits of MPI calls that are longer than so many seconds are recorded; 0: it is off. */
double vt_settings_idle_s(const struct vt_settings *s);

/* Prints the protocol file: every option with its value and the source of the value. It can be read as a
 * configuration file. */
void vt_settings_print(const struct vt_settings *s, FILE *f);

void vt_settings_free(struct vt_settings *s);

#endif
