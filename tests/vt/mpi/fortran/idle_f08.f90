! SPDX-License-Identifier: BSD-3-Clause
! Rank 0 waits for rank 1 for a second, in mpi_f08.
program idle_f08
	use mpi_f08
	implicit none
	integer :: rank, x

	call MPI_Init()
	call MPI_Comm_rank(MPI_COMM_WORLD, rank)
	x = 1
	if (rank == 0) then
		call MPI_Recv(x, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
	else
		call sleep(1)
		call MPI_Send(x, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
	end if
	call MPI_Finalize()
end program
