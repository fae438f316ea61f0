! SPDX-License-Identifier: BSD-3-Clause
! The command line as a Fortran program sees it after the start.
program arguments
#ifdef WITH_MPI
  use mpi
#endif
  implicit none
  integer :: i, ierr
  character(len=200) :: a
#ifdef WITH_MPI
  call mpi_init(ierr)
#else
  call vtinit(ierr)
#endif
  do i = 1, command_argument_count()
    call get_command_argument(i, a)
    print '(3a)', '[', trim(a), ']'
  end do
#ifdef WITH_MPI
  call mpi_finalize(ierr)
#else
  call vtfini(ierr)
#endif
end program arguments
