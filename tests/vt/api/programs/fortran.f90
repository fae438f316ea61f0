! SPDX-License-Identifier: BSD-3-Clause
! Counters from Fortran: both formats that it has, every scope, several in one call, groups. Says what it recorded in
! the form of say.h, to the file of SAY.
program vt_fortran
  implicit none
  include 'VT.inc'
  integer, parameter :: i8 = selected_int_kind(18)
  integer :: ierr, cls, k, ids(1), grp, scopes(4), h(2), pair(2)
  integer(i8) :: bits, low, high
  double precision :: bounds(2), value(2)
  character(len=40) :: name
  character(len=4096) :: path

  scopes = (/ vt_count_valid_before, vt_count_valid_point, vt_count_valid_after, vt_count_valid_sample /)
  call get_environment_variable('SAY', path)
  open (10, file=trim(path))
  call vtinit(ierr)
  call check(ierr, 'vtinit')
  call vtclassdef('Fortran', cls, ierr)
  call check(ierr, 'vtclassdef')
  bounds(1) = -1d0
  bounds(2) = 1d300
  low = transfer(bounds(1), low)
  high = transfer(bounds(2), high)
  do k = 1, 4
    write (name, '(a,i0)') 'float', k
    call vtcountdef(name, cls, vt_count_float + vt_count_absval + scopes(k), vt_me, bounds, 'pints', h(1), ierr)
    call check(ierr, 'vtcountdef')
    value(1) = k / 3d0
    call vtcountval(1, h, value, ierr)
    call check(ierr, 'vtcountval')
    call say('0:0', 'Fortran:'//trim(name), 2, 0, scopes(k), low, high, transfer(value(1), bits))
  end do
  ! a pair of 32-bit integers, the high half first, is all that Fortran 77 has
  call vtgetprocid(0, ids(1), ierr)
  call vtgroupdef('all of us', 1, ids, grp, ierr)
  call check(ierr, 'vtgroupdef')
  pair(1) = 0
  pair(2) = 0
  bounds = 0d0
  call vtcountdef('pair', cls, vt_count_integer + vt_count_rate, grp, bounds, '#', h(2), ierr)
  call check(ierr, 'vtcountdef')
  do k = 1, 10
    pair(1) = -k
    pair(2) = k * 1000003
    value(1) = transfer(pair, value(1))
    call vtcountval(1, h(2), value, ierr)
    bits = ior(ishft(int(pair(1), i8), 32), iand(int(pair(2), i8), 4294967295_i8))
    call say('0:0', 'Fortran:pair', 1, 1, 0, 0_i8, 0_i8, bits)
  end do
  close (10)
  call vtfini(ierr)
  call check(ierr, 'vtfini')
contains
  subroutine check(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    if (code /= vt_ok) then
      print *, what, code
      stop 1
    end if
  end subroutine check

  subroutine say(where, what, kind, rate, scope, lower, upper, v)
    character(len=*), intent(in) :: where, what
    integer, intent(in) :: kind, rate, scope
    integer(i8), intent(in) :: lower, upper, v
    character(len=16) :: hex(3)
    write (hex(1), '(z16.16)') lower
    write (hex(2), '(z16.16)') upper
    write (hex(3), '(z16.16)') v
    write (10, '(a,1x,a,3(1x,i0),3(1x,a))') where, what, kind, rate, scope / 16, lowercase(hex(1)), lowercase(hex(2)), &
      lowercase(hex(3))
  end subroutine say

  function lowercase(s) result(t)
    character(len=16), intent(in) :: s
    character(len=16) :: t
    integer :: i
    t = s
    do i = 1, 16
      if (s(i:i) >= 'A' .and. s(i:i) <= 'F') t(i:i) = achar(iachar(s(i:i)) + 32)
    end do
  end function lowercase
end program vt_fortran
