// SPDX-License-Identifier: BSD-3-Clause
// Leaves a call of MPI in the way that is named, then calls MPI_Barrier ten times from main() and ten times from deeper in the stack.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mpi.h>
#include <stdexcept>
#include <sys/time.h>
#include <ucontext.h>
static jmp_buf point;
static sigjmp_buf signal_point;
static MPI_Comm dup_of_world;
static bool jumps;
static volatile int left;

static void barriers() { for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD); }
__attribute__((noinline)) static void deep(int depth)
{
	volatile char hole[5000];
	hole[2500] = (char)depth;
	if (depth) deep(depth - 1); else barriers();
	hole[0] = 0;
}
static void on_error(MPI_Comm *, int *, ...)
{
	int n;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (jumps) longjmp(point, 1);
	throw std::runtime_error("error");
}
static int on_copy(MPI_Comm, int, void *extra, void *, void *, int *flag)
{
	int n;
	for (int i = 0; i < 5; i++) MPI_Comm_size(MPI_COMM_WORLD, &n);
	*flag = 0;
	if (extra) throw std::runtime_error("copy");
	return MPI_SUCCESS;
}
static void on_alarm(int) { siglongjmp(signal_point, 1); }

__attribute__((noinline)) static void send_wrongly() { int x = 0; MPI_Send(&x, -1, MPI_INT, 0, 1, dup_of_world); }
static void by_error()
{
	try { send_wrongly(); } catch (std::exception &) { left = left + 1; }
}
static void by_copy(bool throws)
{
	MPI_Comm other;
	int key;
	MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &key, throws ? &key : NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
	try { MPI_Comm_dup(MPI_COMM_WORLD, &other); } catch (std::exception &) { left = left + 1; }
	MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
}
static void by_signal(bool on_other_stack)
{
	static char stack[65536];
	stack_t s;
	struct sigaction a;
	struct itimerval t = { { 0, 0 }, { 0, 50000 } };
	memset(&s, 0, sizeof s); s.ss_sp = stack; s.ss_size = sizeof stack;
	if (on_other_stack) sigaltstack(&s, NULL);
	memset(&a, 0, sizeof a); a.sa_handler = on_alarm; a.sa_flags = on_other_stack ? SA_ONSTACK : 0;
	sigaction(SIGALRM, &a, NULL);
	// not MPI_Probe: Open MPI keeps its request on the stack that the jump leaves, and compares the next message with it
	if (sigsetjmp(signal_point, 1) == 0) { setitimer(ITIMER_REAL, &t, NULL); MPI_Recv(stack, 1, MPI_INT, MPI_ANY_SOURCE, 99, dup_of_world, MPI_STATUS_IGNORE); }
	left = left + 1;
}
// A message on the channel of the one that was not sent
static void good_message()
{
	int x = 7, y = 0;
	MPI_Request r;
	MPI_Irecv(&y, 1, MPI_INT, 0, 1, dup_of_world, &r);
	MPI_Send(&x, 1, MPI_INT, 0, 1, dup_of_world);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}
static ucontext_t here, there;
static void on_other_stack() { by_error(); barriers(); }
static void on_coroutine()
{
	static char stack[1 << 18];
	getcontext(&there);
	there.uc_stack.ss_sp = stack; there.uc_stack.ss_size = sizeof stack; there.uc_link = &here;
	makecontext(&there, on_other_stack, 0);
	swapcontext(&here, &there);
}

int main(int argc, char **argv)
{
	MPI_Errhandler h;
	const char *way = argc > 1 ? argv[1] : "";
	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup_of_world);
	MPI_Comm_create_errhandler(on_error, &h);
	MPI_Comm_set_errhandler(dup_of_world, h);
	if (!strcmp(way, "longjmp")) { jumps = true; if (setjmp(point) == 0) send_wrongly(); left = left + 1; }
	if (!strcmp(way, "throw")) by_error();
	if (!strcmp(way, "copy")) by_copy(true);
	if (!strcmp(way, "nested")) by_copy(false);
	if (!strcmp(way, "signal")) by_signal(false);
	if (!strcmp(way, "sigaltstack")) by_signal(true);
	if (!strcmp(way, "coroutine")) on_coroutine(); else barriers();
	deep(3);
	deep(0);
	barriers();
	good_message();
	printf("left %d\n", left);
	MPI_Finalize();
	return 0;
}
