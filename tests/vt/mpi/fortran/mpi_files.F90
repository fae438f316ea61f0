! SPDX-License-Identifier: BSD-3-Clause
! A file and a window in Fortran, with mpif.h, the module mpi, or (F08) the module mpi_f08.
program files
#ifdef F08
  use mpi_f08
  implicit none
  type(MPI_File) :: f
  type(MPI_Win) :: w
  type(MPI_Status) :: status
#else
  use mpi
  implicit none
  integer :: f, w, status(MPI_STATUS_SIZE)
#endif
  integer :: ierr, rank, data(100)
  character(len=20) :: name = 'fortran file'
  data = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ierr)
  call MPI_File_write_at(f, int(rank * 400, MPI_OFFSET_KIND), data, 100, MPI_INTEGER, status, ierr)
  call MPI_File_read(f, data, 30, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_close(f, ierr)
  call MPI_Win_create(data, int(400, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
  call MPI_Win_fence(0, w, ierr)
  call MPI_Put(data, 25, MPI_INTEGER, 1 - rank, int(0, MPI_ADDRESS_KIND), 25, MPI_INTEGER, w, ierr)
  call MPI_Win_fence(0, w, ierr)
  call MPI_Win_free(w, ierr)
  call MPI_Finalize(ierr)
end program files
