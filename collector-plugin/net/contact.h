/* SPDX-License-Identifier: BSD-3-Clause */
/* A contact: one word that says how to reach a node process, HOST[,HOST...]:PORT:KEY. HOST is a name or an address, an IPv6
 * address in brackets; KEY is the public key of the node process in 64 hexadecimal digits. Who does not have the word
 * cannot speak to it, so the word is a secret. */
#ifndef COLLECTOR_PLUGIN_NET_CONTACT_H
#define COLLECTOR_PLUGIN_NET_CONTACT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { VT_CONTACT_HOSTS = 8, VT_CONTACT_HOST = 128, VT_CONTACT_KEY = 32, VT_CONTACT_WORD = 1200 };

struct vt_contact {
	int hosts;
	char host[VT_CONTACT_HOSTS][VT_CONTACT_HOST]; /* without brackets */
	uint16_t port;
	uint8_t key[VT_CONTACT_KEY];
};

/* Reads a word. Returns 0, or -1 with a reason that does not contain the key. */
int vt_contact_read(const char *word, struct vt_contact *c, struct tkm_err *err);

/* Writes the word. Returns 0, or -1: it does not fit. */
int vt_contact_write(const struct vt_contact *c, char *word, size_t size);

/* Puts the addresses of this node into c: those of its interfaces that are up, without loopback and link-local ones; 127.0.0.1 if
 * there are no others. interface: of that one only; NULL: of all. Returns 0, or -1: it has none. */
int vt_contact_here(struct vt_contact *c, const char *interface, struct tkm_err *err);

/* Takes rank and size of this process from the variables of its launcher (torchrun, Slurm, PMI) where they are unknown: rank -1,
 * size 0. */
void vt_contact_find_place(long long *rank, long long *size);

#endif
