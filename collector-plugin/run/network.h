/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program asks of the network of node processes. It opens no socket: VTserver and the sampler process of its node do. */
#ifndef COLLECTOR_PLUGIN_RUN_NETWORK_H
#define COLLECTOR_PLUGIN_RUN_NETWORK_H

#include <stddef.h>

#include "base/err.h"

/* Room for a contact word. */
enum { VT_NETWORK_WORD = 1240 };

/* Runs VTserver, which prints a word and continues in the background. Its environment is this process's without the collector's
 * options, and these variables NAME=VALUE (NULL ends both lists). Returns 0 and the word, or -1 with what it has printed. */
int vt_network_start(
	const char *const *arguments, const char *const *variables, char word[VT_NETWORK_WORD], struct tkm_err *err);

/* The same for an MPI job of so many ranks, with the options of this process. shared: its hosts share the folder of the raw files. */
int vt_network_start_for_mpi(int ranks, int shared, char word[VT_NETWORK_WORD], struct tkm_err *err);
/* This process is a rank of that job: its sampler process joins. Returns 0 or -1. */
int vt_network_join_mpi(const char *word, int rank, int ranks, int shared, struct tkm_err *err);

#endif
