# SPDX-License-Identifier: BSD-3-Clause
# awk -f exports.awk TABLE...: the names that a library exports for the calls of api/api.list and of the tables mpi/*.def, one a
# line, with those that Fortran compilers make of each. A file of plain names (preload/preload.sym) is passed on.
# With -v no_fortran=1 those of MPI are left out. What this MPI does not have is not exported, although it is in the list.
function fortran(lower, upper) {
	print lower "\n" lower "_\n" lower "__\n" upper
}
/^#/ { next }
/^[A-Za-z0-9_]+$/ || $1 == "function" { print $NF == $1 ? $1 : $3 }
$1 == "fortran" {
	sub(/\(.*/, "", $3)
	fortran(tolower($3), $3)
}
/^[A-Z0-9_]+\(/ {
	split($0, part, /[(, ]+/)
	print "MPI_" part[2]
	if (part[1] == "BY_HAND") {
		print "PMPI_" part[2]
	}
	if (no_fortran) {
		next
	}
	fortran("mpi_" part[3], "MPI_" part[4])
	print "mpi_" part[3] "_f08_"
	if (part[1] != "BY_HAND") {
		print "mpi_" part[3] "_f08ts_"
	}
}
