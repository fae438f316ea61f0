/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of a file or folder that appears whole or not at all. It is made under a temporary name in the folder of its own
 * one. Several appear together: set all aside, publish all, then keep all; after a failure discard all. Nothing is allocated
 * after tkm_newname_init(), so memory that runs out cannot come between. */
#ifndef BASE_NEWNAME_H
#define BASE_NEWNAME_H

struct tkm_newname {
	char *path, *temporary;
	char *aside; /* the name of what is replaced, until then; NULL: nothing is set aside */
	int force;   /* may replace what is there */
	int is_aside, published;
};

/* Takes over both names, which are from malloc(). Returns 0, or -1: out of memory, or one is NULL. In both cases
 * tkm_newname_free() frees them. */
int tkm_newname_init(struct tkm_newname *n, char *path, char *temporary, int force);
/* With force: moves what has the name now to another one. Returns 0, or -1 and errno. */
int tkm_newname_set_aside(struct tkm_newname *n);
/* Gives it its name. Without force, never replaces anything: errno is then EEXIST. Returns 0, or -1 and errno. */
int tkm_newname_publish(struct tkm_newname *n);
/* Makes it permanent: removes what was set aside. Frees the names. */
void tkm_newname_keep(struct tkm_newname *n);
/* Removes it under its current name, and moves back what was set aside. The names stay. */
void tkm_newname_discard(struct tkm_newname *n);
void tkm_newname_free(struct tkm_newname *n);

/* Does a file of this base name plus any of the suffixes exist? NULL ends them. */
int tkm_newname_is_taken(const char *base, const char *const *suffixes);

/* Removes a file, or a folder and its content. */
void tkm_remove_tree(const char *path);

#endif
