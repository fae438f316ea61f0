/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces mangled C++ names by the names in the source. */
#include "config.h"
#include "collector-plugin/host/program/demangle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The demangler is that of the C++ library. A program without C++ names does not load it. */
void vt_demangle(char *name, size_t size)
{
	typedef char *demangler(const char *, char *, size_t *, int *);
	static demangler *find;
	void *library;
	char *plain;
	int status;

	if (!find && !strncmp(name, "_Z", 2)) {
		find = (demangler *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
		library = find ? NULL : dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
		find = library ? (demangler *)dlsym(library, "__cxa_demangle") : find;
	}
	plain = find && !strncmp(name, "_Z", 2) ? find(name, NULL, NULL, &status) : NULL;
	if (plain) {
		snprintf(name, size, "%s", plain);
		free(plain);
	}
}
