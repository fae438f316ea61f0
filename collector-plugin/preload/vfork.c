/* SPDX-License-Identifier: BSD-3-Clause */
/* Wraps the functions that make a child with this process's memory: vfork(), and clone() with CLONE_VM. Such a child also
 * has the thread-local variables of the thread that makes it, so the thread lends them (core/thread.h). A child with a
 * copy of the memory needs no wrapper (core/collect.h). */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/types.h>

#include "collector-plugin/core/thread.h"

typedef int make_clone(int (*)(void *), void *, int, void *, ...);
static make_clone *next_clone;

__attribute__((constructor(101))) static void find_clone(void)
{
	next_clone = (make_clone *)dlsym(RTLD_NEXT, "clone");
}

/* ---- vfork ---- */

#if defined(__x86_64__) || defined(__aarch64__)
/* Called by vfork(): before the system call, and in the parent with its result. */
__attribute__((used)) VT_HIDDEN void vt_vfork_begins(void);
__attribute__((used)) VT_HIDDEN long vt_vfork_ends(long rc);

void vt_vfork_begins(void)
{
	vt_self_lend(NULL);
}

long vt_vfork_ends(long rc)
{
	vt_self_back();
	if (rc < 0) {
		errno = (int)-rc;
		return -1;
	}
	return rc;
}

/* The child returns first and overwrites what is below the caller's frame, so the return address waits in a register. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call vt_vfork_begins\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_register rip, rdi\n"
	"	movl $58, %eax\n"
	"	syscall\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset rip, -8\n"
	"	movslq %eax, %rdi\n"
	"	testl %eax, %eax\n"
	"	jnz vt_vfork_ends\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size vfork, .-vfork\n"
	".popsection");
#else
__asm__(".pushsection .text\n"
	".globl vfork\n"
	".type vfork, %function\n"
	"vfork:\n"
	"	.cfi_startproc\n"
	"	stp x29, x30, [sp, -16]!\n"
	"	.cfi_adjust_cfa_offset 16\n"
	"	bl vt_vfork_begins\n"
	"	ldp x29, x30, [sp], 16\n"
	"	.cfi_adjust_cfa_offset -16\n"
	"	mov x0, 0x4111\n" /* CLONE_VM, CLONE_VFORK, SIGCHLD */
	"	mov x1, 0\n"
	"	mov x8, 220\n"
	"	svc 0\n"
	"	cbz x0, 1f\n"
	"	b vt_vfork_ends\n"
	"1:	ret\n"
	"	.cfi_endproc\n"
	".size vfork, .-vfork\n"
	".popsection");
#endif
#endif

/* ---- clone ---- */

/* A child that runs beside its parent: returns what the kernel sets to 0 when the child ends. It is never freed, since
 * the child may outlive the thread. NULL: unknown. */
static VT_SELDOM _Atomic int *end_of_child(int *flags, void **child_tid)
{
	static _Thread_local _Atomic int *own;

	if (*flags & CLONE_CHILD_CLEARTID) {
		return *child_tid;
	}
	if (*flags & CLONE_CHILD_SETTID) {
		return NULL;
	}
	if (!own || atomic_load(own)) {
		own = malloc(sizeof(*own));
	}
	if (own) {
		atomic_store(own, 1);
		*child_tid = (void *)own;
		*flags |= CLONE_CHILD_CLEARTID;
	}
	return own;
}

int clone(int (*function)(void *), void *stack, int flags, void *arg, ...)
{
	int shares = flags & CLONE_VM && !(flags & CLONE_SETTLS), waits = flags & CLONE_VFORK, rc;
	void *parent_tid, *tls, *child_tid;
	_Atomic int *until = NULL;
	va_list ap;

	va_start(ap, arg);
	parent_tid = va_arg(ap, void *);
	tls = va_arg(ap, void *);
	child_tid = va_arg(ap, void *);
	va_end(ap);
	if (!next_clone) {
		find_clone();
	}
	if (shares && !waits) {
		until = end_of_child(&flags, &child_tid);
		shares = until != NULL;
	}
	if (shares) {
		vt_self_lend(until);
	}
	rc = next_clone(function, stack, flags, arg, parent_tid, tls, child_tid);
	if (shares && (waits || rc < 0)) {
		vt_self_back();
	}
	return rc;
}
