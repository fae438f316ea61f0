/* SPDX-License-Identifier: BSD-3-Clause */
/* The command lines timertest --check, --fingerprint and --taskprolog, which need no MPI. */
#ifndef CHECK_MAIN_H
#define CHECK_MAIN_H

/* Returns 1 if a word before "--" asks for one of these commands. */
int chk_asked(int argc, char **argv);
/* Runs the command. Prints to stdout and stderr. Returns the exit status: 0 ok, 1 warning, 2 critical, 3 not known, not
 * measured or wrong usage. */
int chk_main(int argc, char **argv);

#endif
