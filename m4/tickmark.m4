# SPDX-License-Identifier: BSD-3-Clause

# TM_WITH(NAME, VAR, WHAT IT SERVES, CHECK)
# --with-NAME[=DIR|yes|no|auto]. CHECK runs unless the answer is no and sets tm_have=yes, and
# VAR_CFLAGS and VAR_LIBS. Missing is an error only when it was asked for. Defines HAVE_VAR, the
# Automake conditional HAVE_VAR, and one line of the summary.
AC_DEFUN([TM_WITH], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1@<:@=DIR@:>@], [$3 (default: if found)])],
	[], [m4_translit([with_$1], [-], [_])=auto])
tm_have=no
tm_why="switched off"
AS_CASE([$m4_translit([with_$1], [-], [_])], [no], [],
	[tm_dir=
	AS_CASE([$m4_translit([with_$1], [-], [_])], [yes|auto], [], [tm_dir=$m4_translit([with_$1], [-], [_])])
	tm_why="not found"
	$4
	AS_IF([test "$tm_have" != yes && test "$m4_translit([with_$1], [-], [_])" != auto],
		[AC_MSG_ERROR([--with-$1 was given, but $1 was $tm_why. Install its development package, or give --with-$1=DIR or --without-$1; config.log has the details])])])
AS_VAR_IF([tm_have], [yes],
	[AC_DEFINE([HAVE_$2], [1], [Define to 1 if $1 is there: $3.])
	tm_why=yes])
AM_CONDITIONAL([HAVE_$2], [test "$tm_have" = yes])
AC_SUBST([$2_CFLAGS])
AC_SUBST([$2_LIBS])
tm_line=`printf '  %-23s %-14s %s' "$1" "$tm_why" "$3"`
AS_VAR_APPEND([tm_summary], ["$tm_line
"])
])

# TM_TRY(VAR, HEADER, FUNCTION): does a program with VAR_CFLAGS and VAR_LIBS compile and link?
AC_DEFUN([TM_TRY], [
tm_save_CPPFLAGS=$CPPFLAGS; tm_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $$1_CFLAGS"; LIBS="$$1_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <$2>]], [m4_ifval([$3], [[(void)$3;]], [])])], [tm_have=yes])
CPPFLAGS=$tm_save_CPPFLAGS; LIBS=$tm_save_LIBS
])

# TM_CHECK_PKG(VAR, PKG-CONFIG MODULE, HEADER, FUNCTION, [LIBRARIES])
# With a directory the files under it are taken, else pkg-config answers. Module "libX >= V" is -lX, if LIBRARIES are not given.
AC_DEFUN([TM_CHECK_PKG], [
AS_IF([test -n "$tm_dir"],
	[$1_CFLAGS="-I$tm_dir/include"; $1_LIBS="-L$tm_dir/lib m4_default([$5], [-l]m4_bpatsubst(m4_bpatsubst([$2], [ .*]), [^lib]))"
	TM_TRY([$1], [$3], [$4])],
	[PKG_CHECK_MODULES([$1], [$2], [TM_TRY([$1], [$3], [$4])], [:])])
])

# The flags that mpicc would add; CC stays the plain compiler and only MPI targets take them. MPICC may be a name, searched in
# PATH, a path, or a command of several words. tm_mpi says for the summary which MPI it is.
AC_DEFUN([TM_CHECK_MPI], [
AS_IF([test -n "$tm_dir"], [tm_path=$tm_dir/bin], [tm_path=$PATH])
tm_named=$MPICC
# a command of several words is taken as it is
AS_CASE([$tm_named], [*" "*], [],
	[AC_PATH_PROGS([MPICC], [${tm_named:-mpicc}], [], [$tm_path])
	AS_IF([test -n "$tm_named" && test ! -x "$MPICC"], [AC_MSG_ERROR([MPICC=$tm_named was given, but there is no such program in PATH or in --with-mpi=DIR])])])
AS_IF([test -n "$MPICC"],
	[AC_MSG_CHECKING([for the flags of $MPICC])
	MPI_CFLAGS=`$MPICC -showme:compile 2>/dev/null` && MPI_LIBS=`$MPICC -showme:link 2>/dev/null` ||
	{
		# MPICH and its family: "cc flags -lmpi"
		tm_show=`$MPICC -show 2>/dev/null | sed 's/^@<:@^ @:>@* //'`
		MPI_CFLAGS=$tm_show
		MPI_LIBS=$tm_show
	}
	AC_MSG_RESULT([$MPI_CFLAGS $MPI_LIBS])
	TM_TRY([MPI], [mpi.h], [MPI_Init])
	AC_LANG_CONFTEST([AC_LANG_SOURCE([[#include <mpi.h>
#ifdef OPEN_MPI
tm_mpi "Open MPI" OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION
#elif defined MPICH_VERSION
tm_mpi "MPICH" MPICH_VERSION
#endif
]])])
	tm_mpi=`$CC -E $CPPFLAGS $MPI_CFLAGS conftest.c 2>/dev/null | sed -n 's/ \. /./g; s/"//g; s/^tm_mpi //p'`
	rm -f conftest.c])
])

# A header of the MPI ABI: where Open MPI 6 and MPICH 5 have it, beside their own, or in the folder that was given. No library is
# needed, all have the same name. Some of MPICH's headers declare calls otherwise than MPI does; these are passed over.
AC_DEFUN([TM_CHECK_MPI_ABI], [
AS_IF([test -n "$tm_dir"], [tm_places=$tm_dir],
	[tm_arch=`$CC -print-multiarch 2>/dev/null`
	tm_places="`echo "$MPI_CFLAGS" | tr ' ' '\n' | sed -n 's,^-I\(.*\),\1/standard_abi \1,p'`
		/usr/lib/$tm_arch/openmpi/include/standard_abi /usr/lib/$tm_arch/mpich/include /usr/include/$tm_arch/mpich /usr/include"])
AC_MSG_CHECKING([for a header of the MPI ABI])
for tm_place in $tm_places; do
	for tm_header in $tm_place/mpi.h $tm_place/mpi_abi.h; do
		AS_IF([test "$tm_have" = no && test -r "$tm_header"],
			[AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#include "$tm_header"
#if !defined(MPI_ABI_VERSION) || MPI_VERSION < 5
#error not the ABI
#endif
int MPI_Psend_init(const void *, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *);
MPI_Comm world;
int f(void) { return PMPI_Comm_toint(world); }
]])], [tm_have=yes
				MPI_ABI_CFLAGS="-DTM_MPI_ABI_HEADER='\"$tm_header\"'"
				tm_abi=$tm_header])])
	done
done
AC_MSG_RESULT([${tm_abi:-none}])
])
