! SPDX-License-Identifier: BSD-3-Clause
! What Fortran programs in the wild do: calls before the start and after the end, VTTRACEOFF with an argument, VTEND(0),
! VTLEAVE of a state, a counter without a scope, one value as a scalar, wrong handles, names of blanks. Says what it
! recorded in the form of say.h.
program vt_wild
  implicit none
  include 'VT.inc'
  external vttraceoff, vttraceon
  integer, parameter :: i8 = selected_int_kind(18)
  integer :: ierr, cls, fun, h, wrong, n, handles(3)
  integer(i8) :: bits
  double precision :: bounds(2), value, three(3)
  character(len=4096) :: path

  call get_environment_variable('SAY', path)
  open (10, file=trim(path))
  call vttraceoff(ierr)
  call vtclassdef('early', cls, ierr)
  call vtcountval(1, cls, value, ierr)
  call vtbegin(7, ierr)
  call vtinit(ierr)
  call vtinit(ierr)
  if (ierr /= vt_ok) stop 1
  call vttraceon(ierr)
  call vtsymdef(7, '   ', ' ', ierr)
  call vtsymdef(7, 'seven', ' ', ierr)
  if (ierr /= vt_ok) stop 21
  call vtclassdef('   ', n, ierr)
  if (ierr /= vt_ok) stop 2
  call vtclassdef('Wild   ', cls, ierr)
  call vtfuncdef('solve', cls, fun, ierr)
  call vtbegin(7, ierr)
  call vtend(0, ierr)
  if (ierr /= vt_ok) stop 3
  call vtenter(fun, vt_noscl, ierr)
  call vtleave(fun, ierr)
  if (ierr /= vt_ok) stop 4
  call vtend(4711, ierr)
  if (ierr /= vt_ok .and. ierr /= vt_err_badrequest) stop 5
  bounds = 0
  call vtcountdef('bare', cls, vt_count_float, vt_me, bounds, ' ', h, ierr)
  if (ierr /= vt_ok) stop 6
  value = 2.5d0
  call vtcountval(1, h, value, ierr)
  write (10, '(a,z16.16)') '0:0 Wild:bare 2 0 0 0000000000000000 0000000000000000 ', transfer(value, bits)
  call vtcountdef('kind', cls, 65536, vt_me, bounds, '#', wrong, ierr)
  handles = (/ h, 424242, h /)
  three = (/ 1d0, 2d0, 3d0 /)
  call vtcountval(3, handles, three, ierr)
  write (10, '(a,z16.16)') '0:0 Wild:bare 2 0 0 0000000000000000 0000000000000000 ', transfer(three(1), bits)
  write (10, '(a,z16.16)') '0:0 Wild:bare 2 0 0 0000000000000000 0000000000000000 ', transfer(three(3), bits)
  call vtregisterthread(0, ierr)
  call vtgetthrank(n, ierr)
  if (ierr /= vt_ok .or. n /= 0) stop 7
  close (10)
  call vtfini(ierr)
  call vtfini(ierr)
  if (ierr /= vt_ok) stop 8
  call vtcountval(1, h, value, ierr)
  call vtend(0, ierr)
  call vttraceon(ierr)
end program vt_wild
