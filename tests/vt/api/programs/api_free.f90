! SPDX-License-Identifier: BSD-3-Clause
! Every Fortran call of VT.inc, free form, with names in lower case.
program vtall
implicit none
include 'VT.inc'
integer ierr, cls, fun, scl, seq, trunc, n, ids(2), grp, cnt(2)
double precision bounds(2), vals(2), t
integer iv(2), sb(1), rb(1)
double precision st(1)
call vtinit(ierr)
if (ierr .ne. vt_ok) stop 1
call vtgetrank(n, ierr)
if (ierr .ne. vt_ok .or. n .ne. 0) stop 2
call vtregisterthread(0, ierr)
call vtgetthrank(n, ierr)
if (ierr .ne. vt_ok .or. n .ne. 0) stop 3
call vttraceoff()
call vttraceon()
n = -77
call vttracestate(n, ierr)
if (ierr .ne. vt_ok .or. n .eq. -77) stop 4
call vtclassdef('Fortran class   ', cls, ierr)
if (ierr .ne. vt_ok .or. cls .eq. vt_noclass) stop 5
call vtfuncdef('solve', cls, fun, ierr)
if (ierr .ne. vt_ok) stop 6
call vtsymstate(fun, n, ierr)
call vtsymdef(4711, 'old', 'style', ierr)
call vtscldef('vtall.f', 17, scl, ierr)
if (ierr .ne. vt_ok) stop 7
call vtthisl(scl, ierr)
call vtbegin(fun, ierr)
call vtend(fun, ierr)
call vtbeginl(fun, scl, ierr)
call vtendl(fun, scl, ierr)
call vtenter(fun, vt_noscl, ierr)
call vtleave(vt_noscl, ierr)
if (ierr .ne. vt_ok) stop 8
n = 0
call vtenterstate('MPI:A/B', n, trunc, ierr)
call vtleave(vt_noscl, ierr)
call vtwakeup(ierr)
call vtscopedef('scope', cls, scl, vt_noscl, n, ierr)
if (ierr .ne. vt_ok) stop 9
call vtscopebegin(n, vt_noscl, seq, ierr)
call vtscopeend(n, seq, vt_noscl)
call vtgetprocid(0, ids(1), ierr)
call vtgetthreadid(0, 0, ids(2), ierr)
call vtgroupdef('group', 2, ids, grp, ierr)
if (ierr .ne. vt_ok) stop 10
bounds(1) = 0
bounds(2) = 1
call vtcountdef('float', cls, vt_count_float + vt_count_absval &
  + vt_count_valid_after, vt_me, bounds, 'unit', cnt(1), ierr)
if (ierr .ne. vt_ok) stop 11
vals(1) = 0.25d0
call vtcountval(1, cnt, vals, ierr)
if (ierr .ne. vt_ok) stop 12
iv(1) = 0
iv(2) = 0
call vtcountdef('pair', cls, vt_count_integer + vt_count_rate &
  + vt_count_valid_point, vt_group_process, bounds, '#', cnt(2), &
  ierr)
vals(1) = transfer(iv, vals(1))
call vtcountval(1, cnt(2), vals, ierr)
if (ierr .ne. vt_ok) stop 13
t = vtstamp()
if (t .lt. 0 .or. vttimestart() .lt. 1d9) stop 14
call vtlogsendmsg(0, 8, 1, vt_comm_world, vt_noscl, ierr)
call vtlogrecvmsg(0, 8, 1, vt_comm_world, vt_noscl, ierr)
call vtlogmsgevent(0, 0, 8, 1, vt_comm_self, t, vt_noscl, &
  vt_noscl, ierr)
call vtlogop(vt_op_barrier, vt_comm_world, 0, 0, 0, t, vt_noscl, &
  ierr)
sb(1) = 8
rb(1) = 8
st(1) = t
call vtlogopevent(vt_op_bcast, vt_comm_world, 0, 1, sb, rb, st, &
  vt_noscl, ierr)
if (ierr .ne. vt_ok) stop 15
call vtbeginunordered(ierr)
call vtendunordered(ierr)
call vtendnordered(ierr)
call vttimesync(ierr)
if (ierr .ne. vt_ok) stop 16
call vtflush(ierr)
call vtfini(ierr)
if (ierr .ne. vt_ok) stop 17
end program
