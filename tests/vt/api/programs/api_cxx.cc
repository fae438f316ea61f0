// SPDX-License-Identifier: BSD-3-Clause
// The classes of VT.h as the guide uses them, every constructor and every begin and end. A function that is
// left by an exception is left.
#include <VT.h>

static int runs;

static void nohandles()
{
	VT_Function func("nohandles", "C++ API", __FILE__, __LINE__);
	runs++;
}

static void handles()
{
	VT_SCL_DEF_CXX(scldef);
	static VT_FuncDef funcdef("handles", "C++ API");
	VT_Function func(funcdef, scldef);
	runs++;
}

static void throwing()
{
	VT_Function func("throwing", "C++ API");
	runs++;
	throw 1;
}

int main(int argc, char **argv)
{
	static VT_FuncDef funcdef("region", "main");
	static VT_SclDef scldef(__FILE__, __LINE__);
	VT_initialize(&argc, &argv);
	VT_Region region("call nohandles()", "main");
	VT_Region later, placed("placed", "main", __FILE__, __LINE__), defined(funcdef), both(funcdef, scldef);
	VT_Function plain(funcdef);

	nohandles();
	region.end();
	handles();
	handles();
	try {
		throwing();
	} catch (int) {
		runs++;
	}
	later.begin("later", "main");
	later.end();
	later.begin("later", "main", __FILE__, __LINE__);
	later.end(__FILE__, __LINE__);
	later.begin(funcdef);
	later.end(scldef);
	later.begin(funcdef, scldef);
	return runs == 5 && funcdef.GetHandle() != 0 && scldef.GetHandle() != 0 ? 0 : 1;
}
