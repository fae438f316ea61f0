/* SPDX-License-Identifier: BSD-3-Clause */
/* What libVTabi.so includes as <mpi.h>: the header of the MPI ABI that configure found, Open MPI's or MPICH's (MPI 5.0,
 * chapter 20), and the handles of Fortran as C sees them, which the ABI leaves out: the number of a handle is that of
 * MPI_..._toint(), and a status has the same layout. Fortran calls on top of the ABI end in its C calls. */
#ifndef COLLECTOR_PLUGIN_MPI_ABI_MPI_H
#define COLLECTOR_PLUGIN_MPI_ABI_MPI_H

#include TM_MPI_ABI_HEADER
#include <string.h>

typedef int MPI_Fint;
#define PMPI_Comm_f2c PMPI_Comm_fromint
#define PMPI_Comm_c2f PMPI_Comm_toint
#define PMPI_Errhandler_c2f PMPI_Errhandler_toint
#define PMPI_File_f2c PMPI_File_fromint
#define PMPI_Group_f2c PMPI_Group_fromint
#define PMPI_Message_f2c PMPI_Message_fromint
#define PMPI_Request_f2c PMPI_Request_fromint
#define PMPI_Type_f2c PMPI_Type_fromint
#define PMPI_Win_f2c PMPI_Win_fromint
#define PMPI_Status_f2c(from, to) memcpy((to), (from), sizeof(MPI_Status))

/* MPICH 5.0's library has it under the name MPI_File_close only. */
#pragma weak PMPI_File_close

#endif
