/* SPDX-License-Identifier: BSD-3-Clause */
/* An application and four libraries that call each other, as in the guide's section 2.12: lib1, lib2 and lib4 are called by the
 * application, lib3 and lib4 by lib2. Every function is in a class of its library. */
#include <VT.h>

static void in(const char *name)
{
	int cls = VT_NOCLASS, f = 0;

	VT_funcdef(name, cls, &f);
	VT_enter(f, VT_NOSCL);
}

static void out(void)
{
	VT_leave(VT_NOSCL);
}

static void leaf(const char *outer, const char *inner)
{
	in(outer);
	in(inner);
	out();
	out();
}

static void lib2(void)
{
	in("lib2:f");
	in("lib2:g");
	leaf("lib3:f", "lib3:g");
	leaf("lib4:f", "lib4:g");
	out();
	out();
}

int main(int argc, char **argv)
{
	VT_initialize(&argc, &argv);
	in("Application:main");
	in("Application:work");
	leaf("lib1:f", "lib1:g");
	lib2();
	leaf("lib4:f", "lib4:g");
	out();
	out();
	VT_finalize();
	return 0;
}
