! SPDX-License-Identifier: BSD-3-Clause
! Example of VT.inc: a counter of the program's own, and a function that it names.
!
!     gfortran solver.f90 $(pkg-config --cflags --libs VTcs) -o solver
!     ./solver && stftool solver.stf --dump
program solver
  implicit none
  include 'VT.inc'
  integer :: ierr, class, step, residual(1), round
  double precision :: r(1), bounds(2)

  r = 1d0
  bounds = 0d0
  call vtinit(ierr)
  call vtclassdef('Solver', class, ierr)
  call vtfuncdef('step', class, step, ierr)
  call vtcountdef('residual', class, vt_count_float + vt_count_absval + vt_count_valid_after, vt_me, bounds, '1', residual(1), ierr)
  do round = 1, 10
    call vtenter(step, vt_noscl, ierr)
    r = r / 2d0
    call vtleave(vt_noscl, ierr)
    call vtcountval(1, residual, r, ierr)
  end do
  call vtfini(ierr)
  print '(a, es11.4)', 'residual', r(1)
end program solver
