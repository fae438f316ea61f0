! SPDX-License-Identifier: BSD-3-Clause
! What kinds.c does, from Fortran with MPI: each format that Fortran has x display kind x scope x target, each rank with
! values of its own; says what it recorded as say.h does.
program mpi_kinds
  use mpi
  implicit none
  include 'VT.inc'
  integer, parameter :: i8 = selected_int_kind(18)
  integer :: ierr, rank, ranks, cls, d, w, s, t, k
  integer :: formats(2), displays(3), scopes(5), targets(7), ids(64)
  character(len=40) :: names(7), places(7), here
  character(len=4096) :: path

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  call get_environment_variable('SAY', path)
  write (here, '(i0)') rank
  open (10, file=trim(path)//'.'//trim(here))
  write (here, '(i0,a)') rank, ':0'
  call vtclassdef('Fortran', cls, ierr)
  call check(ierr, 'vtclassdef')
  formats = (/ vt_count_integer, vt_count_float /)
  displays = (/ 0, vt_count_absval, vt_count_rate /)
  scopes = (/ 0, vt_count_valid_before, vt_count_valid_point, vt_count_valid_after, vt_count_valid_sample /)
  names = (/ character(len=40) :: 'me', 'thread', 'process', 'cluster', 'proc', 'thr', 'group' /)
  places = here
  places(4) = 'node'
  targets(1:4) = (/ vt_me, vt_group_thread, vt_group_process, vt_group_cluster /)
  do k = 0, ranks - 1
    call vtgetprocid(k, ids(k + 1), ierr)
    call check(ierr, 'vtgetprocid')
  end do
  targets(5) = ids(rank + 1)
  call vtgetthreadid(rank, 0, targets(6), ierr)
  call check(ierr, 'vtgetthreadid')
  call vtgroupdef('everybody', ranks, ids, targets(7), ierr)
  call check(ierr, 'vtgroupdef')
  do d = 1, 2
    do w = 1, 3
      do s = 1, 5
        do t = 1, 7
          call one(d, w, s, t)
        end do
      end do
    end do
  end do
  close (10)
  call mpi_finalize(ierr)
contains
  subroutine one(d, w, s, t)
    integer, intent(in) :: d, w, s, t
    character(len=100) :: name
    double precision :: bounds(2), value(1)
    integer :: h(1), pair(2), limits(4), rate
    integer(i8) :: bits, low, high

    write (name, '(a,3(a,i0))') trim(names(t)), '-', d, '-', w, '-', s
    if (formats(d) == vt_count_float) then
      bounds = (/ -1d300, 1d300 /)
      value(1) = (-1) ** s * (rank + 1) * 1.1d0 ** (w * 100) / t
      bits = transfer(value(1), bits)
      low = transfer(bounds(1), low)
      high = transfer(bounds(2), high)
    else
      ! -5 to 2**40, pairs of which the high half comes first
      limits = (/ -1, -5, 256, 0 /)
      bounds = transfer(limits, bounds)
      pair(1) = (-1) ** s * (rank + 1) * 1000003
      pair(2) = (w - 2) * 715827883 + t
      value(1) = transfer(pair, value(1))
      bits = ior(ishft(int(pair(1), i8), 32), iand(int(pair(2), i8), 4294967295_i8))
      low = -5
      high = ishft(1_i8, 40)
    end if
    call vtcountdef(name, cls, formats(d) + displays(w) + scopes(s), targets(t), bounds, 'unit', h(1), ierr)
    call check(ierr, name)
    call vtcountval(1, h, value, ierr)
    call check(ierr, name)
    rate = 0
    if (displays(w) == vt_count_rate) rate = 1
    write (10, '(a,1x,a,3(1x,i0),3(1x,z16.16))') trim(places(t)), 'Fortran:'//trim(name), d, rate, scopes(s) / 16, &
      low, high, bits
  end subroutine one
  subroutine check(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    if (code /= vt_ok) then
      print *, trim(what), code
      stop 1
    end if
  end subroutine check
end program mpi_kinds
