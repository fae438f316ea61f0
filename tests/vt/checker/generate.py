#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate.py FOLDER [VERSION]: writes programs with known mistakes, each beside a correct one, from the calls of the MPI standard.

FOLDER/cases.c gets all of them: ./cases N runs the N-th. FOLDER/cases.list says what is wrong with each: number, ranks, class that
libVTmc must report or "correct", line of the mistake or 0, name. Each call is combined with each mistake that it can have. VERSION: that of the MPI standard, 3 or 4.
"""
import sys

SEND = ["Send", "Ssend", "Isend", "Issend", "Send_init", "Ssend_init"]
RECEIVE = ["Recv", "Irecv", "Recv_init"]
TYPES = [("MPI_INT", "int"), ("MPI_FLOAT", "float"), ("MPI_DOUBLE", "double"), ("MPI_CHAR", "char"), ("MPI_LONG", "long"),
         ("MPI_SHORT", "short"), ("MPI_UNSIGNED", "unsigned"), ("MPI_BYTE", "unsigned char")]
CASES = []
VERSION = int(sys.argv[2]) if len(sys.argv) > 2 else 3


def case(name, ranks, found, *body):
    """found: the class, "" if the program is correct. The line of the mistake ends with a mark."""
    CASES.append((name, ranks, found, [line for part in body for line in part.split("\n")]))


def transfer(call, first, mark="", before_wait=""):
    """The lines of a call of MPI that moves a message; first: buffer to communicator."""
    if call in ("Isend", "Issend", "Irecv"):
        return "MPI_%s(%s, &q);%s\n%sMPI_Wait(&q, MPI_STATUS_IGNORE);" % (call, first, mark, before_wait)
    if call.endswith("_init"):
        return ("MPI_%s(%s, &q);%s\nMPI_Start(&q);\n%sMPI_Wait(&q, MPI_STATUS_IGNORE);\nMPI_Request_free(&q);"
                % (call, first, mark, before_wait))
    if call == "Recv":
        return "MPI_Recv(%s, MPI_STATUS_IGNORE);%s" % (first, mark)
    return "MPI_%s(%s);%s" % (call, first, mark)


BAD = " /*!*/"
VARIABLES = "MPI_Request q = MPI_REQUEST_NULL; (void)q;"


def pair(sender, receiver, before="", after=""):
    """Even ranks run `sender` with their right neighbour `peer`, odd ones `receiver`."""
    return "%s\n%s\nif (r %% 2 == 0) {\n%s\n} else {\n%s\n}\n%s" % (VARIABLES, before, sender, receiver, after)


def arguments():
    good_send = {"buf": "a", "count": "2", "type": "MPI_INT", "peer": "peer", "tag": "7", "comm": "MPI_COMM_WORLD"}
    faults = {"peer": ["n", "n + 3", "-17"], "tag": ["-4"], "count": ["-1"], "type": ["MPI_DATATYPE_NULL", "fresh", "gone"],
              "comm": ["MPI_COMM_NULL", "lost"], "buf": ["NULL"]}
    order = ("buf", "count", "type", "peer", "tag", "comm")
    before = ("MPI_Datatype fresh, gone; MPI_Comm lost, same;\nMPI_Type_contiguous(1, MPI_INT, &fresh);\n"
              "MPI_Type_contiguous(1, MPI_INT, &gone);\nMPI_Type_commit(&gone);\nMPI_Datatype left = gone;\nMPI_Type_free(&gone);\n"
              "gone = left;\nMPI_Comm_dup(MPI_COMM_WORLD, &lost);\nsame = lost;\nMPI_Comm_free(&lost);\nlost = same;")
    after = "MPI_Type_free(&fresh); (void)gone; (void)lost;"

    def text(given):
        return ", ".join(given[k] for k in order)

    for call in SEND + RECEIVE:
        sends = call in SEND
        other = transfer("Irecv" if sends else "Isend", text(dict(good_send, buf="b" if sends else "a")))
        case("%s correct" % call, 2, "", pair(*((transfer(call, text(good_send)), other) if sends
                                               else (other, transfer(call, text(dict(good_send, buf="b"))))), before, after))
        for key, values in faults.items():
            for value in values:
                wrong = dict(good_send, buf="a" if sends else "b")
                wrong[key] = value
                lines = transfer(call, text(wrong), BAD)
                case("%s %s %s" % (call, key, value), 2, "LOCAL:MPI:CALL_FAILED",
                     pair(*((lines, other) if sends else (other, lines)), before, after))


COLLECTIVES = {
    "Barrier": "comm", "Bcast": "a, count, type, root, comm", "Reduce": "a, b, count, type, op, root, comm",
    "Allreduce": "a, b, count, type, op, comm", "Gather": "a, count, type, c, count, type, root, comm",
    "Scatter": "c, count, type, b, count, type, root, comm", "Allgather": "a, count, type, c, count, type, comm",
    "Alltoall": "d, count, type, c, count, type, comm", "Scan": "a, b, count, type, op, comm",
    "Exscan": "a, b, count, type, op, comm", "Reduce_scatter_block": "d, b, count, type, op, comm"}


def collective(call, posted=False, **changed):
    given = dict({"count": "2", "type": "MPI_INT", "root": "0", "op": "MPI_SUM", "comm": "MPI_COMM_WORLD"}, **changed)
    words = [given.get(word, word) for word in COLLECTIVES[call].split(", ")]
    if posted:
        return "MPI_I%s(%s, &q);" % (call[0].lower() + call[1:], ", ".join(words))
    return "MPI_%s(%s);" % (call, ", ".join(words))


def collectives():
    names = list(COLLECTIVES)
    for posted in (False, True):
        wait = "\nMPI_Wait(&q, MPI_STATUS_IGNORE);" if posted else ""
        for i, call in enumerate(names):
            case("%s%s correct" % ("I " if posted else "", call), 2 + i % 3, "", VARIABLES, collective(call, posted) + wait)
            words = COLLECTIVES[call].split(", ")
            other = names[(i + 3) % len(names)]
            different = [("GLOBAL:COLLECTIVE:OPERATION_MISMATCH", collective(other, posted))]
            if "root" in words:
                different.append(("GLOBAL:COLLECTIVE:ROOT_MISMATCH", collective(call, posted, root="1")))
            if "op" in words:
                different.append(("GLOBAL:COLLECTIVE:REDUCTION_OPERATION_MISMATCH", collective(call, posted, op="MPI_MAX")))
            if "type" in words:
                different.append(("GLOBAL:COLLECTIVE:DATATYPE:MISMATCH", collective(call, posted, type="MPI_FLOAT")))
            if "count" in words and not posted:
                different.append(("GLOBAL:COLLECTIVE:SIZE_MISMATCH", collective(call, posted, count="1")))
            for found, line in different:
                case("%s %s" % (call, found), 2 + i % 3, found, VARIABLES, "if (r == 1) {", line + BAD, "} else {",
                     collective(call, posted) + BAD, "}" + wait)
            case("%s missing" % call, 2 + i % 3, "GLOBAL:DEADLOCK:HARD|GLOBAL:COLLECTIVE:OPERATION_MISMATCH", VARIABLES, "if (r != 1) {", collective(call, posted) + BAD,
                 wait + BAD if posted else "", "}") if posted else case(
                     "%s missing" % call, 2 + i % 3, "GLOBAL:DEADLOCK:HARD", "if (r != 1) {", collective(call) + BAD, "}")
            wrong = [("count", "-3"), ("type", "MPI_DATATYPE_NULL"), ("root", "n"), ("root", "-9"), ("op", "MPI_OP_NULL")]
            for key, value in wrong:
                if key in words:
                    case("%s %s %s" % (call, key, value), 2, "GLOBAL:COLLECTIVE:INVALID_PARAMETER", VARIABLES,
                         collective(call, posted, **{key: value}) + BAD + wait)
            if "op" in words:
                case("%s op type" % call, 2, "GLOBAL:COLLECTIVE:INVALID_PARAMETER", VARIABLES,
                     collective(call, posted, op="MPI_BAND", type="MPI_FLOAT") + BAD + wait)
            case("%s comm null" % call, 2, "GLOBAL:COLLECTIVE:INVALID_PARAMETER", VARIABLES,
                 collective(call, posted, comm="MPI_COMM_NULL") + BAD + wait)
    for call in ("Allgather", "Alltoall", "Gather", "Scatter"):
        good = collective(call)
        begin, middle, end = (good.split("2, MPI_INT") + [""])[:3]
        for found, sent in (("SIZE_MISMATCH", "1, MPI_INT"), ("DATATYPE:MISMATCH", "2, MPI_FLOAT")):
            case("%s sends itself something else: %s" % (call, found), 3, "GLOBAL:COLLECTIVE:INVALID_PARAMETER|GLOBAL:COLLECTIVE:" + found,
                 "if (r == %d) {" % ("root" not in COLLECTIVES[call]), begin + sent + middle + "2, MPI_INT" + end + BAD, "} else {", good + BAD, "}")
    for n in (2, 3):
        case("Exscan into nothing at the first %d" % n, n, "", collective("Exscan", b="(r ? b : NULL)"))
        case("I Exscan, room of the first is free %d" % n, n, "", VARIABLES, collective("Exscan", True), "if (r == 0) {\nb[0] = 9;\n}",
             "MPI_Wait(&q, MPI_STATUS_IGNORE);")
    for n in (2, 4):
        case("no rank leaves a barrier before the last one comes %d" % n, n, "", "struct timespec last, left;", "for (int i = 0; i < n; i++) {",
             "usleep(i == r ? 60000 : 0);", "clock_gettime(CLOCK_MONOTONIC, &last);", "MPI_Barrier(MPI_COMM_WORLD);",
             "clock_gettime(CLOCK_MONOTONIC, &left);", "MPI_Bcast(&last, sizeof(last), MPI_BYTE, i, MPI_COMM_WORLD);",
             "if (left.tv_sec < last.tv_sec || (left.tv_sec == last.tv_sec && left.tv_nsec < last.tv_nsec)) {\nabort();\n}", "}")
        case("hundred barriers at a time, and others between %d" % n, n, "", "MPI_Request many[100]; MPI_Comm o;", "MPI_Comm_dup(MPI_COMM_WORLD, &o);",
             "for (int i = 0; i < 100; i++) {", "MPI_Ibarrier(i % 3 ? o : MPI_COMM_WORLD, &many[i]);", "if (i % 10 == 9) {", "MPI_Barrier(i % 20 == 9 ? o : MPI_COMM_WORLD);", "}", "}",
             "MPI_Waitall(100, many, MPI_STATUSES_IGNORE);", "MPI_Barrier(o);", "MPI_Comm_free(&o);")
    for call in ("Gather", "Allgather", "Alltoall", "Scatter"):
        for n in (2, 3, 4):
            case("%s then others" % call, n, "", collective(call), collective("Barrier"), collective("Bcast", root="1"))


def vectors():
    """Operations with a count for each member: rank i sends i + 1 elements to each, or to the root."""
    own = "int mine = r + 1, each[4], same[4], at[4], place[4], other = (r + 1) % n; MPI_Datatype type[4], kind[4];"
    fill = ("for (int i = 0; i < n; i++) {\neach[i] = i + 1; same[i] = mine; at[i] = 8 * i; place[i] = 32 * i; type[i] = kind[i] = MPI_INT;\n}\n"
            "(void)other; (void)same; (void)at; (void)place; (void)type; (void)kind;")
    words = {"Gatherv": "a, mine, MPI_INT, c, each, at, MPI_INT, 0, comm", "Scatterv": "c, each, at, MPI_INT, b, mine, MPI_INT, 0, comm",
             "Allgatherv": "a, mine, MPI_INT, c, each, at, MPI_INT, comm",
             "Alltoallv": "c, same, at, MPI_INT, d, each, at, MPI_INT, comm",
             "Alltoallw": "c, same, place, type, d, each, place, kind, comm",
             "Reduce_scatter": "c, d, each, MPI_INT, MPI_SUM, comm"}
    size, kind = "GLOBAL:COLLECTIVE:SIZE_MISMATCH", "GLOBAL:COLLECTIVE:DATATYPE:MISMATCH"
    in_place = {"Gatherv": ("r == 0", "MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c, each, at, MPI_INT, 0, comm"),
                "Scatterv": ("r == 0", "c, each, at, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, comm"),
                "Allgatherv": ("1", "MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c, each, at, MPI_INT, comm"),
                "Alltoallv": ("1", "MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, d, even, at, MPI_INT, comm")}
    for posted in (False, True):
        end = "\nMPI_Wait(&q, MPI_STATUS_IGNORE);" if posted else ""
        for name, given in words.items():
            def call(text=given, name=name, posted=posted):
                text = text.replace("comm", "MPI_COMM_WORLD")
                return "MPI_I%s(%s, &q);" % (name[0].lower() + name[1:], text) if posted else "MPI_%s(%s);" % (name, text)

            for n in (2, 3, 4):
                begin = [VARIABLES, own, fill]
                case("%s%s correct %d" % ("I " if posted else "", name, n), n, "", *begin, call() + end)
                case("%s%s none from some %d" % ("I " if posted else "", name, n), n, "", *begin, "each[1] = 0; if (r == 1) {",
                     "mine = 0; for (int i = 0; i < n; i++) {\nsame[i] = 0;\n}", "}", call() + end)
                if name != "Reduce_scatter":
                    case("%s%s pairs for numbers %d" % ("I " if posted else "", name, n), n, "", *begin, "MPI_Datatype two; "
                         "MPI_Type_contiguous(1, MPI_INT, &two); MPI_Type_commit(&two);", "type[1] = two;",
                         call(given.replace("MPI_INT", "two", 1)) + end, "MPI_Type_free(&two);")
                case("%s%s one more %d" % ("I " if posted else "", name, n), n, size, *begin,
                     "if (r == n - 1) {\nmine++; same[0]++; each[0] += %s;\n}" % ("1" if name == "Reduce_scatter" else "0"),
                     call() + BAD + end)
                if name in ("Alltoallw", "Reduce_scatter"):
                    change = "if (r == n - 1) {\nkind[0] = MPI_FLOAT;\n}"
                    text = given
                else:
                    # that of the receive in MPI_Scatterv, which has the other one at the root only
                    change = "MPI_Datatype one = r == n - 1 ? MPI_FLOAT : MPI_INT;"
                    text = given.replace("mine, MPI_INT" if name == "Scatterv" else "MPI_INT", "mine, one" if name == "Scatterv" else "one", 1)
                if name != "Reduce_scatter":
                    case("%s%s other type %d" % ("I " if posted else "", name, n), n, kind, *begin, change, call(text) + BAD + end)
                if name in in_place:
                    where, text = in_place[name]
                    case("%s%s in place %d" % ("I " if posted else "", name, n), n, "", *begin,
                         "int even[4] = { 2, 2, 2, 2 }; (void)even;", "if (%s) {" % where, call(text), "} else {", call(), "}" + end)


def communicators():
    for n in (2, 3, 4):
        case("rows and columns of a grid %d" % n, n, "", "for (int i = 0; i < 8; i++) {", "MPI_Comm rows, columns;",
             "MPI_Comm_split(MPI_COMM_WORLD, 0, r, &rows);", "MPI_Comm_split(MPI_COMM_WORLD, r, 0, &columns);",
             "MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 0, rows);", "MPI_Reduce(a, b, 2 + r, MPI_INT, MPI_SUM, 0, columns);",
             "MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, 0, rows);", "MPI_Comm_free(&rows);", "MPI_Comm_free(&columns);", "}")


def types():
    for send in ("Send", "Isend", "Ssend"):
        for receive in ("Recv", "Irecv"):
            for i, (one, _) in enumerate(TYPES):
                for other in (one, TYPES[(i + 1) % len(TYPES)][0], TYPES[(i + 3) % len(TYPES)][0]):
                    found = "" if other == one else "GLOBAL:MSG:DATATYPE:MISMATCH"
                    mark = BAD if found else ""
                    case("%s %s %s %s" % (send, receive, one, other), 2, found, pair(
                        transfer(send, "a, 1, %s, peer, 3, MPI_COMM_WORLD" % one, mark),
                        transfer(receive, "b, 4, %s, peer, 3, MPI_COMM_WORLD" % other, mark)
                        .replace("MPI_Wait(&q, MPI_STATUS_IGNORE);", "MPI_Wait(&q, MPI_STATUS_IGNORE);" + mark)))
    for one in ("MPI_2INT", "MPI_FLOAT_INT", "MPI_DOUBLE_INT", "MPI_LONG_INT", "MPI_SHORT_INT", "MPI_2INTEGER", "MPI_2DOUBLE_PRECISION"):
        for n in (2, 3):
            case("smallest and its place %s %d" % (one, n), n, "", "MPI_Allreduce(a, b, 1, %s, MPI_MINLOC, MPI_COMM_WORLD);" % one)
    for one in ("MPI_WCHAR", "MPI_C_BOOL", "MPI_CXX_BOOL", "MPI_LOGICAL", "MPI_REAL8", "MPI_INTEGER4", "MPI_COMPLEX", "MPI_C_DOUBLE_COMPLEX",
                "MPI_UINT64_T", "MPI_AINT", "MPI_OFFSET", "MPI_LONG_DOUBLE", "MPI_SIGNED_CHAR", "MPI_CHARACTER"):
        case("bcast of %s" % one, 2, "", "MPI_Bcast(c, 2, %s, 0, MPI_COMM_WORLD);" % one)
        case("message of %s" % one, 2, "", pair("MPI_Send(c, 2, %s, peer, 3, MPI_COMM_WORLD);" % one,
                                                "MPI_Recv(d, 3, %s, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" % one))
    case("pairs as numbers", 2, "", pair("MPI_Send(a, 2, MPI_2INT, peer, 3, MPI_COMM_WORLD);",
                                         "MPI_Recv(b, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"))
    for commit in ("MPI_Type_commit(&o);", ""):
        case("copy of a type%s" % (" that is not committed" if not commit else ""), 2, "" if commit else "LOCAL:MPI:CALL_FAILED", pair(
            "MPI_Send(a, 1, t, peer, 3, MPI_COMM_WORLD);" + ("" if commit else BAD), "MPI_Recv(b, 2, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            "MPI_Datatype o, t; MPI_Type_contiguous(2, MPI_INT, &o); %s MPI_Type_dup(o, &t);" % commit, "MPI_Type_free(&t); MPI_Type_free(&o);"))
    case("copy of a basic type", 2, "", pair("MPI_Send(a, 1, t, peer, 3, MPI_COMM_WORLD);", "MPI_Recv(b, 2, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
                                             "MPI_Datatype t; MPI_Type_dup(MPI_INT, &t);", "MPI_Type_free(&t);"))
    for build in ("MPI_Type_contiguous(2, MPI_INT, &t)", "MPI_Type_vector(2, 1, 2, MPI_INT, &t)"):
        case("derived correct " + build, 2, "", pair(
            "MPI_Send(a, 1, t, peer, 3, MPI_COMM_WORLD);", "MPI_Recv(b, 2, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            "MPI_Datatype t; %s; MPI_Type_commit(&t);" % build, "MPI_Type_free(&t);"))
        case("derived " + build, 2, "GLOBAL:MSG:DATATYPE:MISMATCH", pair(
            "MPI_Send(a, 1, t, peer, 3, MPI_COMM_WORLD);",
            "MPI_Recv(b, 2, MPI_FLOAT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + BAD,
            "MPI_Datatype t; %s; MPI_Type_commit(&t);" % build, "MPI_Type_free(&t);"))


def deadlocks():
    send = "MPI_%s(a, 1, MPI_INT, %s, %s, MPI_COMM_WORLD);"
    receive = "MPI_Recv(b, 1, MPI_INT, %s, %s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    for n in (2, 3, 4):
        right, left = "(r + 1) % n", "(r + n - 1) % n"
        case("ring receives %d" % n, n, "GLOBAL:DEADLOCK:HARD", receive % (left, 1) + BAD, send % ("Send", right, 1))
        case("ring ssend %d" % n, n, "GLOBAL:DEADLOCK:HARD", send % ("Ssend", right, 1) + BAD, receive % (left, 1))
        case("ring send %d" % n, n, "GLOBAL:DEADLOCK:POTENTIAL", send % ("Send", right, 1) + BAD, receive % (left, 1))
        case("ring correct %d" % n, n, "", "if (r == 0) {", send % ("Ssend", right, 1), receive % (left, 1), "} else {",
             receive % (left, 1), send % ("Ssend", right, 1), "}")
        case("ring sendrecv %d" % n, n, "", "MPI_Sendrecv(a, 1, MPI_INT, %s, 1, b, 1, MPI_INT, %s, 1, MPI_COMM_WORLD, "
             "MPI_STATUS_IGNORE);" % (right, left))
        case("ring sendrecv_replace %d" % n, n, "", "a[0] = r;", "MPI_Sendrecv_replace(a, 1, MPI_INT, %s, 1, %s, 1, MPI_COMM_WORLD, "
             "MPI_STATUS_IGNORE);" % (right, left))
        case("receive of any %d" % n, n, "GLOBAL:DEADLOCK:HARD", receive % ("MPI_ANY_SOURCE", "MPI_ANY_TAG") + BAD)
        case("any correct %d" % n, n, "", "if (r == 0) {\nfor (int i = 1; i < n; i++) {", receive % ("MPI_ANY_SOURCE", 1),
             "}\n} else {", send % ("Send", 0, 1), "}")
        case("wrong tag %d" % n, n, "GLOBAL:DEADLOCK:HARD", "if (r == 0) {", send % ("Send", 1, 1), "}", "if (r == 1) {",
             receive % (0, 2) + BAD, "}")
        case("barrier before the send %d" % n, n, "GLOBAL:DEADLOCK:HARD", "if (r == 0) {", receive % (1, 1) + BAD,
             "MPI_Barrier(MPI_COMM_WORLD);", "} else {", "MPI_Barrier(MPI_COMM_WORLD);" + BAD, "if (r == 1) {", send % ("Send", 0, 1), "}\n}")
        case("collectives crossed %d" % n, n, "GLOBAL:DEADLOCK:HARD", "MPI_Comm c;", "MPI_Comm_dup(MPI_COMM_WORLD, &c);", "if (r == 0) {",
             "MPI_Barrier(c);" + BAD, "MPI_Barrier(MPI_COMM_WORLD);", "} else {", "MPI_Barrier(MPI_COMM_WORLD);" + BAD, "MPI_Barrier(c);", "}",
             "MPI_Comm_free(&c);")
        case("probe without a message %d" % n, n, "GLOBAL:DEADLOCK:HARD", "if (r == 0) {",
             "MPI_Probe(1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + BAD, "}")
        case("wait without a message %d" % n, n, "GLOBAL:DEADLOCK:HARD", "MPI_Request q;", "if (r == 0) {",
             "MPI_Irecv(b, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &q);", "MPI_Wait(&q, MPI_STATUS_IGNORE);" + BAD, "}")
        case("test in a loop %d" % n, n, "GLOBAL:DEADLOCK:HARD", "MPI_Request q; int f = 0;", "if (r == 0) {",
             "MPI_Irecv(b, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &q);", "while (!f) {", "MPI_Test(&q, &f, MPI_STATUS_IGNORE);" + BAD,
             "}\n}")
        case("isend ring %d" % n, n, "", "MPI_Request q[2];", "MPI_Irecv(b, 1, MPI_INT, %s, 1, MPI_COMM_WORLD, &q[0]);" % left,
             "MPI_Isend(a, 1, MPI_INT, %s, 1, MPI_COMM_WORLD, &q[1]);" % right, "MPI_Waitall(2, q, MPI_STATUSES_IGNORE);")
        case("receive of any first %d" % n, n, "", "MPI_Request q;",
             "MPI_Irecv(b, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &q);", send % ("Send", right, 1),
             "MPI_Wait(&q, MPI_STATUS_IGNORE);")
        case("message left %d" % n, n, "GLOBAL:MSG:PENDING", "if (r == 0) {", send % ("Send", 1, 1) + BAD, "}")
    for call, loop in (("MPI_Waitany(2, q, &i, MPI_STATUS_IGNORE);", ""), ("MPI_Waitsome(2, q, &i, done, MPI_STATUSES_IGNORE);", ""),
                       ("MPI_Testany(2, q, &i, &f, MPI_STATUS_IGNORE);", "while (!f) "), ("MPI_Testsome(2, q, &f, done, MPI_STATUSES_IGNORE);", "while (!f) ")):
        for sends, found in (("sleep(2);\n" + send % ("Send", 0, 2), ""), ("", "GLOBAL:DEADLOCK:HARD")):
            case("one of two, the second from any, %s%s" % (call[4:12], "" if sends else " that nobody sends"), 3, found,
                 "MPI_Request q[2]; int i, f = 0, done[2]; (void)i; (void)f; (void)done;", "if (r == 0) {",
                 "MPI_Irecv(a, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &q[0]);", "MPI_Irecv(b, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &q[1]);",
                 loop + call + (BAD if found else ""), send.replace("(a", "(c") % ("Send", 1, 3), "MPI_Waitall(2, q, MPI_STATUSES_IGNORE);", "}", "if (r == 1) {",
                 receive % (0, 3) + (BAD if found else ""), send % ("Send", 0, 1), "}", "if (r == 2) {", sends, "}")


def profiled():
    """Messages of which a library sends or receives one end by PMPI_, which the checker does not see."""
    send, receive = "%sMPI_Send(a, %d, %s, peer, 3, MPI_COMM_WORLD);%s", "%sMPI_Recv(b, 4, MPI_INT, peer, 3, %s, MPI_STATUS_IGNORE);"
    ints = (2, "MPI_INT", "")
    own = "MPI_Comm own; MPI_Comm_dup(MPI_COMM_WORLD, &own);\n"
    case("profiled: a message received by PMPI_Recv", 2, "", pair(send % ("", *ints), receive % ("P", "MPI_COMM_WORLD")))
    case("profiled: a message sent by PMPI_Send", 2, "", pair(send % ("P", *ints), receive % ("", "MPI_COMM_WORLD")))
    case("profiled: messages sent by PMPI_Send and MPI_Send", 2, "", pair(
        send % ("P", 1, "MPI_INT", "") + send % ("", 2, "MPI_FLOAT", ""),
        receive % ("", "MPI_COMM_WORLD") + "MPI_Recv(c, 4, MPI_FLOAT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"))
    case("profiled: two sends whose receives PMPI_Irecv has posted", 2, "", VARIABLES,
         "PMPI_Irecv(b, 2, MPI_INT, peer, 3, MPI_COMM_WORLD, &q);\nMPI_Barrier(MPI_COMM_WORLD);", send % ("", *ints), "PMPI_Wait(&q, MPI_STATUS_IGNORE);")
    case("profiled: a message received by PMPI_Recv on a communicator that is freed", 2, "", pair(
        (send % ("", *ints)).replace("MPI_COMM_WORLD", "own"), receive % ("P", "own"), own, "MPI_Comm_free(&own);"))
    case("profiled: one of two messages received by PMPI_Recv, one left", 2, "GLOBAL:MSG:PENDING", pair(
        send % ("", *ints) + "\n" + (send % (*("", *ints[:2]), BAD)).replace(" 3,", " 4,"), receive % ("P", "MPI_COMM_WORLD")))
    begin = "static MPI_Request two[2]; for (int i = 0; i < %d; i++) {\na[0] = r + 10 * i;"
    start = "MPI_Irecv(%s, MPI_INT, peer, 3, MPI_COMM_WORLD, &two[0]); MPI_Isend(a, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, &two[1]);"
    wait, change, barrier = "PMPI_Waitall(2, two, MPI_STATUSES_IGNORE);", "a[0] = b[0] = -1;", "MPI_Barrier(MPI_COMM_WORLD);"
    kept = start.replace("Irecv", "Recv_init").replace("Isend", "Send_init") % "b, 4"
    page = "void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
    case("profiled: requests completed by PMPI_Waitall, buffers changed", 2, "", begin % 1, start % "b, 4", wait, change, barrier, "}")
    case("profiled: requests completed by PMPI_Waitall, memory given back", 2, "", begin % 1, page, start % "p, 4", wait, "munmap(p, 4096);", barrier, "}")
    case("profiled: requests completed by PMPI_Waitall, and no other call", 2, "", begin % 1, start % "b, 4", wait, "}")
    case("profiled: a receive completed by PMPI_Wait, its request used by PMPI_Irecv", 2, "", VARIABLES, "static MPI_Request two[2]; MPI_Request o;", start % "b, 4", wait, change,
         "PMPI_Irecv(c, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, &o);", barrier, "MPI_Send(a, 4, MPI_INT, peer, 3, MPI_COMM_WORLD);", "PMPI_Wait(&o, MPI_STATUS_IGNORE);")
    case("profiled: a receive completed by PMPI_Waitall, its buffer used again", 2, "", begin % 1, start % "b, 4", wait,
         "MPI_Sendrecv(b, 4, MPI_INT, peer, 4, c, 4, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
         "MPI_Sendrecv(c, 4, MPI_INT, peer, 4, b, 4, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "}")
    case("profiled: persistent requests completed by PMPI_Waitall", 2, "", "static MPI_Request two[2];", kept, (begin % 4).replace("static MPI_Request two[2];", ""),
         "MPI_Startall(2, two);", wait, change, barrier, "}", "MPI_Request_free(&two[0]); MPI_Request_free(&two[1]);")

    case("more messages at a time than are followed", 2, "GLOBAL:DEADLOCK:POTENTIAL", pair(
        "for (int i = 0; i < 8300; i++) {\nMPI_Send(a, 0, MPI_INT, peer, 3, MPI_COMM_WORLD);" + BAD + "\n}\n" + barrier,
        barrier + "\nfor (int i = 0; i < 8300; i++) {\nMPI_Recv(b, 0, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n}"))
    case("more operations at a time than there is room for", 3, "", "static MPI_Request many[4000]; MPI_Comm part; int x = 0;",
         "MPI_Comm_split(MPI_COMM_WORLD, r > 0, r, &part);", "if (r) {", "for (int i = 0; i < 4000; i++) {\nMPI_Ibarrier(part, &many[i]);\n}",
         "MPI_Barrier(part);", "if (r == 1) {\nMPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);\n}", "usleep(500000);",
         "MPI_Waitall(4000, many, MPI_STATUSES_IGNORE);", "} else {", "MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", "}",
         barrier, "MPI_Comm_free(&part);")
    for call in "Rsend", "Send":
        case("profiled: a persistent receive completed by PMPI_Wait and started again, %s" % call, 2, "", pair(
            barrier + ("a[0] = %d; MPI_" + call + "(a, 4, MPI_INT, peer, 3, MPI_COMM_WORLD);") % 1 + barrier +
            ("a[0] = %d; MPI_" + call + "(a, 4, MPI_INT, peer, 3, MPI_COMM_WORLD);") % 2,
            "MPI_Recv_init(b, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, &q); MPI_Start(&q);" + barrier + "PMPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Start(&q);" +
            barrier + "MPI_Wait(&q, MPI_STATUS_IGNORE); MPI_Request_free(&q);"))

    case("late message that nobody receives", 2, "GLOBAL:DEADLOCK:HARD", "MPI_Win w; MPI_Group all, one; int zero = 0;",
         "MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Comm_group(MPI_COMM_WORLD, &all); MPI_Group_incl(all, 1, &zero, &one);",
         "if (r) {", "MPI_Win_post(one, 0, w);", "MPI_Win_wait(w);" + BAD, "} else {", "late_us = 300000; usleep(100000);",
         "MPI_Ssend(a, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);" + BAD, "}")


def limits():
    """Waits whose partners the checker does not know, which DEADLOCK-TIMEOUT ends: checker.sh sets it to 2 s."""
    hard, late = "GLOBAL:DEADLOCK:HARD", "usleep(4000000);"
    begin = "MPI_Request many[300];\nfor (int i = 0; i < 300; i++) {\nMPI_Irecv(c + i %% 256, %d, MPI_INT, peer, i, MPI_COMM_WORLD, &many[i]);\n}"
    send = "for (int i = 0; i < %d; i++) {\nMPI_Send(a, 0, MPI_INT, peer, i, MPI_COMM_WORLD);\n}"
    wait = "MPI_Waitall(300, many, MPI_STATUSES_IGNORE);"
    looks = "for (int f = 0, i = 0; i < 180 && !f; i++) {\nfor (int k = 0; k < 20; k++) {\n%s\n}\nusleep(12000);\n}"
    test = "for (int f = 0; !f;) {\nMPI_Testall(300, many, &f, MPI_STATUSES_IGNORE);%s\n}"
    for name, end in (("wait", wait + "%s"), ("test", test)):
        case("one of many messages missing, %s" % name, 2, hard, pair(send % 299, begin % 0 + "\n" + end % BAD))
        case("one of many messages missing, another waits, %s" % name, 2, hard, pair(
            send % 299 + "\nMPI_Recv(b, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + BAD, begin % 0 + "\n" + end % BAD))
        case("one of many messages late, %s" % name, 2, "", pair(send % 299 + late + "MPI_Send(a, 0, MPI_INT, peer, 299, MPI_COMM_WORLD);",
                                                                begin % 0 + "\n" + end % ""))
    case("looks for many messages, between other calls", 2, "", begin % 0, "for (int turn = 0; turn < 3; turn++) {", looks % "MPI_Testall(300, many, &f, MPI_STATUSES_IGNORE);",
         "MPI_Comm_rank(MPI_COMM_WORLD, a);\n}", send % 300, wait)
    port = "char port[MPI_MAX_PORT_NAME]; MPI_Comm o;\n"
    accept = port + "MPI_Open_port(MPI_INFO_NULL, port);\nMPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, peer, 1, MPI_COMM_WORLD);\n" \
        "MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &o);%s\nMPI_Comm_disconnect(&o);\nMPI_Close_port(port);"
    connect = port + "MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n%s\n"
    join = "MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &o);\nMPI_Comm_disconnect(&o);"
    case("accepted, late", 2, "", pair(accept % "", connect % late + join))
    case("accept, and nobody connects", 2, hard, pair(accept % BAD, connect % "" + "MPI_Barrier(MPI_COMM_WORLD);" + BAD))
    if VERSION < 4:
        return
    send = "MPI_Psend_init(a, 4, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &q);\nMPI_Start(&q);\n%s\nMPI_Wait(&q, MPI_STATUS_IGNORE);%s\n" \
        "MPI_Request_free(&q);"
    receive = "MPI_Precv_init(b, 4, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &q);\nMPI_Start(&q);\n%s\nMPI_Request_free(&q);"
    each = "for (int i = 0; i < %d; i++) {\nMPI_Pready(i, q);\n}"
    wait = "MPI_Wait(&q, MPI_STATUS_IGNORE);"
    parrived = "for (int f = 0; !f;) {\nMPI_Parrived(q, 3, &f);%s\n}\n" + wait
    for name, end in (("wait", wait + "%s"), ("parrived", parrived)):
        case("partition missing, %s" % name, 2, hard, pair(send % (each % 3, BAD), receive % (end % BAD)))
        case("partition late, %s" % name, 2, "", pair(send % (each % 3 + late + "MPI_Pready(3, q);", ""), receive % (end % "")))
        case("looks before the last partition, %s" % name, 2, "", pair(
            send % (each % 3 + "\n" + looks % "MPI_Test(&q, &f, MPI_STATUS_IGNORE);" + "\nMPI_Pready(3, q);", ""), receive % (end % "")))
        case("range of partitions, %s" % name, 2, "", pair(send % ("MPI_Pready_range(0, 3, q);", ""), receive % (end % "")))
        case("partitions never sent, %s" % name, 2, hard, pair("MPI_Recv(b, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + BAD,
                                                               receive % (end % BAD)))


def alone():
    for call in ("Recv(b, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);", "Probe(MPI_ANY_SOURCE, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);"):
        case("from itself: %s" % call[:5], 2, "GLOBAL:DEADLOCK:HARD", "MPI_%s" % call + BAD)
    for found in ("", "LOCAL:MPI:CALL_FAILED"):
        case("only looks at a window%s" % (", with no type" if found else ""), 2, found, "MPI_Win w;",
             "MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_lock_all(0, w);",
             "MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, peer, 0, 1, MPI_INT, %s, w);" % ("MPI_SUM" if found else "MPI_NO_OP") + (BAD if found else ""),
             "MPI_Win_unlock_all(w); MPI_Win_free(&w);")


def communicators_that_come():
    """MPI_Comm_idup: the communicator is there when the request is complete; its handle may be that of one that was freed."""
    begin = "MPI_Comm other, fresh;\nMPI_Comm_dup(MPI_COMM_WORLD, &other); MPI_Comm_free(&other);\nMPI_Comm_idup(MPI_COMM_WORLD, &fresh, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);"
    for n in (2, 3):
        case("idup, then barrier %d" % n, n, "", VARIABLES, begin, "MPI_Barrier(fresh); MPI_Comm_free(&fresh);")
        case("idup, then two calls %d" % n, n, "GLOBAL:COLLECTIVE:OPERATION_MISMATCH", VARIABLES, begin, "if (r == 0) {", "MPI_Barrier(fresh);" + BAD, "} else {",
             "MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, fresh);" + BAD, "}", "MPI_Comm_free(&fresh);")
        case("idup missing %d" % n, n, "GLOBAL:DEADLOCK:HARD", "MPI_Comm fresh;", VARIABLES, "if (r != 1) {",
             "MPI_Comm_idup(MPI_COMM_WORLD, &fresh, &q);" + BAD, "MPI_Wait(&q, MPI_STATUS_IGNORE);" + BAD, "}")
        case("idup left %d" % n, n, "LOCAL:OBJECT:NOT_FREED", VARIABLES, begin.replace("&q);", "&q);" + BAD, 1) + BAD, "MPI_Barrier(fresh);")
    many = ("MPI_Request w[5]; MPI_Comm later[5], fresh;\nfor (int i = 0; i < 5; i++) {\nMPI_Comm_idup(MPI_COMM_WORLD, &later[i], &w[i]);\n}",
            "MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, fresh);\nMPI_Waitall(5, w, MPI_STATUSES_IGNORE);\nfor (int i = 0; i < 5; i++) {\nMPI_Comm_free(&later[i]);\n}\nMPI_Comm_free(&fresh);")
    dup, split = "MPI_Comm_dup(MPI_COMM_WORLD, &fresh);", "MPI_Comm_split(MPI_COMM_WORLD, r % 2, r, &fresh);"
    for n in (3, 4):
        case("five idups, then another %d" % n, n, "", many[0], dup, many[1])
        case("five idups, then two calls %d" % n, n, "GLOBAL:COLLECTIVE:OPERATION_MISMATCH", many[0], "if (r == 0) {", dup + BAD, "} else {", split + BAD, "}", many[1])
    case("several sums over one rank", 2, "", VARIABLES, "MPI_Request w[4];\nfor (int i = 0; i < 4; i++) {\nMPI_Iallreduce(a + i, b + i, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &w[i]);\n}",
         "MPI_Waitall(4, w, MPI_STATUSES_IGNORE); a[1] += 41;", "MPI_Barrier(MPI_COMM_WORLD);")


def collectives_in_use():
    """The buffer that a collective operation sends, and the one that it receives, belong to it until it is complete."""
    done, illegal = "MPI_Wait(&q, MPI_STATUS_IGNORE);", "LOCAL:MEMORY:ILLEGAL_MODIFICATION"
    for call, words in COLLECTIVES.items():
        posted = collective(call, True)
        ways = [("I" + call, posted, done)]
        if VERSION >= 4:
            ways.append((call + "_init", posted.replace("MPI_I" + call[0].lower() + call[1:], "MPI_%s_init" % call).replace("&q", "MPI_INFO_NULL, &q") +
                         "\nMPI_Start(&q);", done + "\nMPI_Request_free(&q);"))
        for name, begin, end in ways:
            for at, buffer in enumerate(words.split(", ")[:2]):
                if buffer not in ("a", "b", "c", "d"):
                    continue
                change = "if (r == %d) {\n%s[1] += 41;\n}" % (call == "Exscan", buffer)
                case("%s %s changed" % (name, buffer), 2 + at, illegal, VARIABLES, begin.replace(";", ";" + BAD, 1), change, end.replace(";", ";" + BAD, 1))
                case("%s %s changed after" % (name, buffer), 2 + at, "", VARIABLES, begin, end, change)


def requests():
    ints = "(p, %d, MPI_INT, peer, 1, MPI_COMM_WORLD%s"
    for size in (16, 500000):
        begin = "size_t bytes = %d * sizeof(int); void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);" % size
        end = "MPI_Recv(b, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
        receive = ("MPI_Recv" + ints % (size, ", MPI_STATUS_IGNORE);")) + "MPI_Send(a, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);"
        for before, found in (("munmap(p, bytes);", "LOCAL:MEMORY:ILLEGAL_MODIFICATION"), ("", "")):
            case("Isend of %d, memory %s" % (size, "gone" if before else "given back later"), 2, found, pair(
                "MPI_Isend" + ints % (size, ", &q);") + BAD + "\n" + end + before + "MPI_Wait(&q, MPI_STATUS_IGNORE);", receive, begin, "" if before else "munmap(p, bytes);"))
    for call in ("Isend", "Issend", "Irecv"):
        sends = call != "Irecv"
        word = "MPI_%s(%s, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &q);" % (call, "a" if sends else "b")
        other = "MPI_Recv(b, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" if sends else \
            "MPI_Send(a, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);"
        both = (lambda one: pair(one, other)) if sends else (lambda one: pair(other, one))
        done = "MPI_Wait(&q, MPI_STATUS_IGNORE);"
        case(call + " no wait", 2, "LOCAL:REQUEST:NOT_FREED", both(word + BAD))
        case(call + " changed", 2, "LOCAL:MEMORY:ILLEGAL_MODIFICATION", both("%s%s\n%s[0] += 41;\n%s%s" % (
            word, BAD, "a" if sends else "b", done, BAD)))
        case(call + " changed after", 2, "", both("%s\n%s\n%s[0] += 41;" % (word, done, "a" if sends else "b")))
        case(call + " tested", 2, "", both("int f = 0;\n%s\nwhile (!f) {\nMPI_Test(&q, &f, MPI_STATUS_IGNORE);\n}" % word))
        start = "MPI_%s(%s, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &q);" % (
            {"Isend": "Send_init", "Issend": "Ssend_init", "Irecv": "Recv_init"}[call], "a" if sends else "b")
        case(call + " started twice", 2, "LOCAL:REQUEST:ILLEGAL_CALL", both("%s\nMPI_Start(&q);\nMPI_Start(&q);%s\n%s\nMPI_Request_free(&q);" % (
            start, BAD, done)))
        case(call + " not freed", 2, "LOCAL:REQUEST:NOT_FREED", both("%s%s\nMPI_Start(&q);\n%s" % (start, BAD, done)))
        # a small message may be gone at once, and MPI then gives the same handle again and again
        large = lambda text: "static int page[100000];\n" + text.replace("(a, 1,", "(page, 100000,").replace("(b, 1,", "(page, 100000,")
        both_large = (lambda one: pair(one, large(other))) if sends else (lambda one: pair(large(other), one))
        for begin, name in ((word, call), (start + "\nMPI_Start(&q);", call + " persistent")):
            free = "\nMPI_Request_free(&q);" if begin != word else ""
            stale = "%s\nMPI_Request old = q;\n%s%s\n%s" % (large(begin), done, free, "MPI_%s" + BAD)
            for again in ("Wait(&old, MPI_STATUS_IGNORE);", "Request_free(&old);", "Start(&old);", "Cancel(&old);"):
                case("%s complete, then %s" % (name, again[:4]), 2, "LOCAL:MPI:CALL_FAILED", both_large(stale % again))
        # the handle of the first one may come again, for a request that was not seen made
        again = large(word) + "\n" + done + "\nP" + word + "\n" + done
        case(call + " by another way", 2, "", pair(again, large(other) + "\nP" + other) if sends else pair(large(other) + "\nP" + other, again))
        case(call + " of a copy", 2, "", both(word + "\nMPI_Request old = q;\nMPI_Wait(&old, MPI_STATUS_IGNORE);"))
        case(call + " never made", 2, "LOCAL:MPI:CALL_FAILED|LOCAL:EXIT:SIGNAL", both(
            "void *words[4] = { words, words, words, words };\nMPI_Request none = (MPI_Request)(intptr_t)words;\nif (sizeof(none) < sizeof(void *)) {\nnone = (MPI_Request)(intptr_t)12345;\n}\nMPI_Wait(&none, MPI_STATUS_IGNORE);" + BAD + "\n" + word + done))
        case(call + " persistent", 2, "", both("%s\nMPI_Start(&q);\n%s\nMPI_Request_free(&q);" % (start, done)))
    case("one of two sends is freed", 2, "", pair(
        "MPI_Request w[2];\nMPI_Isend(a, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &w[0]);\nMPI_Isend(a, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &w[1]);\n"
        "MPI_Request_free(&w[1]);\nMPI_Waitall(2, w, MPI_STATUSES_IGNORE);",
        "MPI_Recv(b, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\nMPI_Recv(b, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"))
    case("two receives in one buffer", 2, "LOCAL:MEMORY:OVERLAP", pair(
        "MPI_Send(a, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);\nMPI_Send(a, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);",
        "MPI_Request w[2];\nMPI_Irecv(b, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &w[0]);\n"
        "MPI_Irecv(b, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &w[1]);%s\nMPI_Waitall(2, w, MPI_STATUSES_IGNORE);" % BAD))
    case("answer into the buffer that is sent", 2, "LOCAL:MEMORY:OVERLAP", pair(
        "MPI_Irecv(a, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &q);\nMPI_Ssend(a, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);" + BAD +
        "\nMPI_Wait(&q, MPI_STATUS_IGNORE);",
        "MPI_Recv(b, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\nb[0] += 7;\n"
        "MPI_Rsend(b, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);"))
    lost = ("MPI_Irecv(%s + i, 1, MPI_INT, peer, 2 * i + %d, MPI_COMM_WORLD, &w[%d]);" + BAD, "MPI_Send(a, 1, MPI_INT, peer, 2 * i + %d, MPI_COMM_WORLD);")
    case("requests lost, two variables in turn", 2, "LOCAL:REQUEST:NOT_FREED", "static MPI_Request w[2];", "for (int i = 0; i < 4; i++) {",
         lost[0] % ("b", 0, 0), lost[0] % ("c", 1, 1), lost[1] % 0, lost[1] % 1, "}", "MPI_Waitall(2, w, MPI_STATUSES_IGNORE);")
    case("two receives in one buffer, the first request is kept elsewhere", 2, "LOCAL:MEMORY:OVERLAP", pair(
        "MPI_Send(a, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);\nMPI_Send(a, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);",
        "MPI_Request kept;\nMPI_Irecv(b, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &q);\nkept = q;\n#ifdef OPEN_MPI\nq = MPI_REQUEST_NULL;\n#endif\n"
        "MPI_Irecv(b, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &q);" + BAD +
        "\nMPI_Wait(&kept, MPI_STATUS_IGNORE);\nMPI_Wait(&q, MPI_STATUS_IGNORE);"))
    case("two receives side by side", 2, "", pair(
        "MPI_Send(a, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);\nMPI_Send(a, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);",
        "MPI_Request w[2];\nMPI_Irecv(b, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &w[0]);\n"
        "MPI_Irecv(b + 1, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &w[1]);\nMPI_Waitall(2, w, MPI_STATUSES_IGNORE);"))


def buffered():
    """The buffer has room for `fit` messages of 100 numbers, of which MPI_Bsend sends two."""
    begin = ("int size, had; char *room; void *old; MPI_Pack_size(100, MPI_INT, MPI_COMM_WORLD, &size);\nsize = %s;\n"
             "room = malloc(size + 1);\nMPI_Buffer_attach(room, size);")
    end = "MPI_Buffer_detach(&old, &had); free(room);"
    two, one, short = "2 * (size + MPI_BSEND_OVERHEAD)", "size + MPI_BSEND_OVERHEAD", "2 * (size + MPI_BSEND_OVERHEAD) - 8"
    receive = "MPI_Recv(d, 100, MPI_INT, peer, %s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    late = "MPI_Barrier(MPI_COMM_WORLD);\n" + receive % 1 + "\n" + receive % 2
    known = "LOCAL:BUFFER:INSUFFICIENT_BUFFER"
    calls = {"Bsend": "MPI_Bsend(c, 100, MPI_INT, peer, %d, MPI_COMM_WORLD);",
             "Ibsend": "MPI_Ibsend(c, 100, MPI_INT, peer, %d, MPI_COMM_WORLD, &q);\nMPI_Wait(&q, MPI_STATUS_IGNORE);",
             "Bsend_init": "MPI_Bsend_init(c, 100, MPI_INT, peer, %d, MPI_COMM_WORLD, &q);\nMPI_Start(&q);\n"
                           "MPI_Wait(&q, MPI_STATUS_IGNORE);\nMPI_Request_free(&q);"}
    for name, send in calls.items():
        first, second = send % 1, send % 2
        lines = second.split("\n")
        lines["init" in name] += BAD
        bad = "\n".join(lines)
        barrier = "MPI_Barrier(MPI_COMM_WORLD);"

        def sender(need, *parts):
            return "\n".join((begin % need,) + parts + (end,))

        case(name + " enough", 2, "", pair(sender(two, first, second, barrier), late))
        for need in (one, short):
            case("%s %s" % (name, need), 2, known + "|LOCAL:MPI:CALL_FAILED", pair(sender(need, first, bad, barrier), late))
        case(name + " received before", 2, "", pair(
            sender(one, first, "MPI_Recv(b, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", second),
            receive % 1 + "\nMPI_Send(a, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);\n" + receive % 2))
        case(name + " detached between", 2, "", pair(
            sender(one, first, "MPI_Buffer_detach(&old, &had);\nMPI_Buffer_attach(room, size);", second), receive % 1 + "\n" + receive % 2))


def strays():
    """A message that went elsewhere than to the receive that waits for it."""
    for name, sent in (("to the wrong rank", "0, 3, MPI_COMM_WORLD"), ("with another tag", "2, 4, MPI_COMM_WORLD"), ("on another communicator", "2, 3, o")):
        case("message " + name, 3, "GLOBAL:DEADLOCK:HARD", "MPI_Comm o; MPI_Comm_dup(MPI_COMM_WORLD, &o);", "if (r == 1) {",
             "MPI_Send(a, 1, MPI_INT, %s);" % sent + BAD, "} else if (r == 2) {",
             "MPI_Recv(b, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + BAD, "}", "MPI_Barrier(MPI_COMM_WORLD);", "MPI_Comm_free(&o);")


    receive = "MPI_Recv(b, 1, MPI_INT, %s, %s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + BAD
    case("message with another tag, and a receive of any", 3, "GLOBAL:DEADLOCK:HARD", "if (r == 0) {", receive % ("MPI_ANY_SOURCE", "MPI_ANY_TAG"),
         "} else if (r == 1) {", "MPI_Send(a, 1, MPI_INT, 2, 7, MPI_COMM_WORLD);" + BAD, receive % (2, 1), "} else {", receive % (1, 8), "}")
    case("a rank waits for the wrong one of a ring", 3, "GLOBAL:DEADLOCK:HARD", "if (r == 0) {", "MPI_Send(a, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);" + BAD,
         receive % (1, 3), "} else if (r == 1) {", receive % (2, 3), "} else {", receive % (0, 3), "}")
    hard = "GLOBAL:DEADLOCK:HARD"
    case("a message too few", 3, hard, "if (r == 2) {", receive % (1, 3), "}", "MPI_Barrier(MPI_COMM_WORLD);" + BAD)
    case("a barrier too many", 3, hard, "if (r == 0) {", "MPI_Barrier(MPI_COMM_WORLD);" + BAD, "} else {", receive % (0, 3), "}")
    case("a message to itself", 2, hard, "if (r == 0) {", "MPI_Ssend(a, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);" + BAD, "}", "MPI_Barrier(MPI_COMM_WORLD);")
    case("each of two waits for the other", 3, hard, "if (r == 0) {", receive % (1, 3), "} else if (r == 1) {", receive % (0, 4), "}", "MPI_Barrier(MPI_COMM_WORLD);")
    case("a ring without its first message", 4, hard, "if (r == 0) {", receive % ("n - 1", 3), "} else {", receive % ("r - 1", 3),
         "MPI_Send(a, 1, MPI_INT, (r + 1) % n, 3, MPI_COMM_WORLD);", "}")
    case("message to the wrong rank, for a receive of any", 3, hard, "if (r == 0) {", receive % ("MPI_ANY_SOURCE", 3), "} else if (r == 1) {",
         "MPI_Send(a, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);" + BAD, receive % (0, 4), "} else {", receive % (0, 4), "}")


def objects():
    made = {"MPI_Comm o; MPI_Comm_dup(MPI_COMM_WORLD, &o);": "MPI_Comm_free(&o);",
            "MPI_Comm o; MPI_Comm_split(MPI_COMM_WORLD, r % 2, r, &o);": "MPI_Comm_free(&o);",
            "MPI_Group o; MPI_Comm_group(MPI_COMM_WORLD, &o);": "MPI_Group_free(&o);",
            "MPI_Win o; MPI_Win_create(a, sizeof(a), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &o);": "MPI_Win_free(&o);",
            "MPI_Op o; MPI_Op_create(add, 1, &o);": "MPI_Op_free(&o);"}
    for make, free in made.items():
        case("leak " + make, 2, "LOCAL:OBJECT:NOT_FREED", make + BAD)
        case("freed " + make, 2, "", make, free)
        case("freed twice " + make, 2, "LOCAL:MPI:CALL_FAILED", make, free, free + BAD)
    for kind, free in (("Comm", "Comm"), ("Group", "Group"), ("Datatype", "Type"), ("Op", "Op")):
        case("never set, then freed: " + kind, 2, "LOCAL:MPI:CALL_FAILED",
             "void *words[4] = { words, words, words, words };\nMPI_%s o = (MPI_%s)(intptr_t)(sizeof(o) < sizeof(void *) ? 12345 : (intptr_t)words);" % (kind, kind),
             "MPI_%s_free(&o);" % free + BAD)
    case("leak of a type", 2, "LOCAL:DATATYPE:NOT_FREED", "MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t);" + BAD, "MPI_Type_commit(&t);")
    case("freed type", 2, "", "MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t);", "MPI_Type_commit(&t);", "MPI_Type_free(&t);")
    inner = ("MPI_Datatype t, u, v, w[9]; int i[2]; MPI_Aint d[2]; MPI_Type_contiguous(2, MPI_INT, &t); MPI_Type_commit(&t);\n"
             "for (int k = 0; k < 9; k++) {\nMPI_Type_contiguous(3, MPI_FLOAT, &w[k]);\n}\nfor (int k = 0; k < 9; k++) {\nMPI_Type_free(&w[k]);\n}")
    use = "MPI_Sendrecv(a, 1, %s, 0, 1, b, 1, %s, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);"
    for outer in ("MPI_Type_dup(t, &u);", "MPI_Type_contiguous(1, t, &u);"):
        number = int("dup" not in outer)
        given = "%s MPI_Type_get_contents(u, %d, 0, 1, i, d, &v);" % (outer, number)  # the handle of t, or of one that was freed
        case("type given again %d" % number, 2, "", inner, given, "MPI_Type_commit(&v);", use % ("t", "v"),
             "MPI_Type_free(&v);", use % ("t", "t"), "MPI_Type_free(&u); MPI_Type_free(&t);")
        case("type given after it was freed %d" % number, 2, "", inner, given.replace("; MPI", "; MPI_Type_free(&t); MPI"), "MPI_Type_commit(&v);",
             use % ("v", "v"), "MPI_Type_free(&u);", use % ("v", "v"), "MPI_Type_free(&v);")
        case("type given again, all freed, used %d" % number, 2, "LOCAL:MPI:CALL_FAILED", inner, given, "MPI_Type_free(&v); v = t; MPI_Type_free(&t);",
             use % ("v", "v") + BAD, "MPI_Type_free(&u);")
        case("type given again and left %d" % number, 2, "LOCAL:DATATYPE:NOT_FREED", inner.replace("&t);\n", "&t);" + BAD + "\n", 1), given + BAD, "MPI_Type_free(&u); MPI_Type_free(&t);")
    case("error handler given again", 2, "", "MPI_Errhandler e, f; MPI_Win w; MPI_Win_create(a, sizeof(a), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);",
         "MPI_Win_create_errhandler(failed, &e); MPI_Win_set_errhandler(w, e); MPI_Win_get_errhandler(w, &f); MPI_Errhandler_free(&f);",
         "MPI_Win_set_errhandler(w, e); MPI_Errhandler_free(&e); MPI_Win_get_errhandler(w, &f); MPI_Win_set_errhandler(w, f); MPI_Errhandler_free(&f);",
         "MPI_Win_free(&w);")
    two = "MPI_Group o, p; MPI_Comm_group(MPI_COMM_WORLD, &o);"
    again = "MPI_Comm_group(MPI_COMM_WORLD, &p);"  # may be the same handle
    case("two groups of a communicator", 2, "", two, again, "MPI_Group_free(&o);", "MPI_Group_free(&p);")
    case("one of two groups is freed", 2, "LOCAL:OBJECT:NOT_FREED", two, again + BAD, "MPI_Group_free(&o);")


def windows():
    begin = "MPI_Win w; MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);"
    put = {"Put": "MPI_Put(a, 1, MPI_INT, (r + 1) % n, r, 1, MPI_INT, w);", "Get": "MPI_Get(b, 1, MPI_INT, (r + 1) % n, r, 1, MPI_INT, w);",
           "Accumulate": "MPI_Accumulate(a, 1, MPI_INT, (r + 1) % n, r, 1, MPI_INT, MPI_SUM, w);"}
    fence, end = "MPI_Win_fence(0, w);", "MPI_Win_free(&w);"
    lock, unlock = "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (r + 1) % n, 0, w);", "MPI_Win_unlock((r + 1) % n, w);"
    every, none = "MPI_Win_lock_all(0, w);", "MPI_Win_unlock_all(w);"
    epoch = "LOCAL:WINDOW:EPOCH"
    for name, call in put.items():
        case(name + " fence", 2, "", begin, fence, call, fence, end)
        case(name + " lock", 2, "", begin, lock, call, unlock, "MPI_Barrier(MPI_COMM_WORLD);", end)
        case(name + " lock all", 3, "", begin, every, call, "MPI_Win_flush_all(w);", none, "MPI_Barrier(MPI_COMM_WORLD);", end)
        case(name + " no epoch", 2, epoch, begin, call + BAD, end)
        case(name + " after unlock", 2, epoch, begin, lock, unlock, call + BAD, end)
        case(name + " no last fence", 2, epoch, begin, fence, call, end + BAD)
        case(name + " locked at the end", 2, epoch, begin, every, call, end + BAD)
        case(name + " wrong target", 2, "LOCAL:MPI:CALL_FAILED", begin, fence, call.replace("(r + 1) % n", "n + 1") + BAD, fence, end)
        case(name + " negative count", 2, "LOCAL:MPI:CALL_FAILED", begin, fence, call.replace(", 1, MPI_INT, (r", ", -1, MPI_INT, (r") + BAD, fence, end)
    case("lock twice", 2, epoch, begin, lock, lock + BAD, unlock, end)
    case("unlock without lock", 2, epoch, begin, unlock + BAD, end)
    case("lock all twice", 2, epoch, begin, every, every + BAD, none, end)
    case("flush without lock", 2, epoch, begin, "MPI_Win_flush(0, w);" + BAD, end)
    world = "MPI_Group world, other; MPI_Comm_group(MPI_COMM_WORLD, &world); MPI_Group_incl(world, 1, &peer, &other);"
    away = "MPI_Group_free(&world); MPI_Group_free(&other);"
    start, complete = "MPI_Win_start(other, 0, w);", "MPI_Win_complete(w);"
    post, wait = "MPI_Win_post(other, 0, w);", "MPI_Win_wait(w);"
    tested = "for (int f = 0; !f;) {\nMPI_Win_test(w, &f);\n}"
    for name, call in put.items():
        for n in (2, 4):
            call = call.replace("(r + 1) % n", "peer")
            case("%s start %d" % (name, n), n, "", begin, world, post, start, call, complete, wait, end, away)
            case("%s start, test %d" % (name, n), n, "", begin, world, post, start, call, complete, tested, end, away)
            case("%s several epochs %d" % (name, n), n, "", begin, world, fence, call, "MPI_Win_fence(MPI_MODE_NOSUCCEED, w);", post, start,
                 call, complete, wait, "MPI_Barrier(MPI_COMM_WORLD);", lock.replace("(r + 1) % n", "peer"), call,
                 "MPI_Win_flush_local(peer, w);", call, unlock.replace("(r + 1) % n", "peer"), "MPI_Barrier(MPI_COMM_WORLD);", fence, call, fence, end, away)
            case("%s one posts, one starts %d" % (name, n), n, "", begin, world, "if (r % 2) {", post, wait, "} else {", start, call, complete,
                 "}", end, away)
        case(name + " to one not started", 2, epoch, begin, world, post, start, call.replace("peer", "r") + BAD, complete, wait, end, away)
        case(name + " after complete", 2, epoch, begin, world, post, start, complete, call + BAD, wait, end, away)
        case(name + " of another window", 2, epoch, begin, begin.replace(" w", " u").replace("&w", "&u"), fence, call.replace(", w)", ", u)") + BAD,
             fence, end, end.replace("&w", "&u"))
        case(name + " fence that ends all", 2, epoch, begin, fence, "MPI_Win_fence(MPI_MODE_NOSUCCEED, w);", call + BAD, end)
    case("start twice", 2, epoch, begin, world, post, start, start + BAD, complete, wait, end, away)
    case("post twice", 2, epoch, begin, world, post, post + BAD, start, complete, wait, end, away)
    case("start left open", 2, epoch, begin, world, post, start, end + BAD, away)
    case("post left open", 2, epoch, begin, world, post, start, complete, end + BAD, away)
    case("complete twice", 2, epoch, begin, world, post, start, complete, complete + BAD, wait, end, away)
    case("wait twice", 2, epoch, begin, world, post, start, complete, wait, wait + BAD, end, away)
    case("start in a lock", 2, epoch, begin, world, every, start + BAD, none, end, away)
    case("fence in a lock", 2, epoch, begin, every, fence + BAD, none, end)
    case("unlock of another", 2, epoch, begin, lock, "MPI_Win_unlock(r, w);" + BAD, unlock, end)
    case("unlock all of one", 2, epoch, begin, lock, none + BAD, unlock, end)
    case("complete without start", 2, epoch, begin, "MPI_Win_complete(w);" + BAD, end)
    case("wait without post", 2, epoch, begin, "MPI_Win_wait(w);" + BAD, end)
    case("fence missing", 2, "GLOBAL:COLLECTIVE:OPERATION_MISMATCH", begin, fence, "if (r == 0) {", fence + BAD, "}", end + BAD)


def window_types():
    """Two puts beside each other, each with a type that is freed at once: MPI gives the second one the handle of the first."""
    put = "MPI_Type_indexed(2, one, %s, MPI_INT, &t); MPI_Type_commit(&t);\nMPI_Put(%s, 2, MPI_INT, peer, 0, 1, t, w);\nMPI_Type_free(&t);"
    case("puts with freed types", 2, "", "MPI_Win w; MPI_Datatype t; int one[2] = { 1, 1 }, even[2] = { 0, 2 }, odd[2] = { 1, 3 };",
         "MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); a[0] = 1; d[0] = 2;", "MPI_Win_lock_all(0, w);",
         put % ("even", "a"), put % ("odd", "d"), "MPI_Win_unlock_all(w); MPI_Win_free(&w);")


def windows_that_wait():
    """Calls on windows that wait for one that never comes, each beside one that comes late."""
    begin = "MPI_Win w; MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);"
    world = "MPI_Group world, other; MPI_Comm_group(MPI_COMM_WORLD, &world); MPI_Group_incl(world, 1, &peer, &other);"
    away = "MPI_Win_free(&w); MPI_Group_free(&world); MPI_Group_free(&other);"
    hard, barrier = "GLOBAL:DEADLOCK:HARD", "MPI_Barrier(MPI_COMM_WORLD);"
    access = ("MPI_Win_start(other, 0, w);" + BAD, "MPI_Put(a, 1, MPI_INT, peer, 0, 1, MPI_INT, w);" + BAD, "MPI_Win_complete(w);" + BAD)
    plain = tuple(line.replace(BAD, "") for line in access)
    late = "usleep(1300000);"
    ends = {"wait": "MPI_Win_wait(w);", "test": "for (int f = 0; !f;) {\nMPI_Win_test(w, &f);%s\n}"}
    for n in (2, 4):
        odd, even = "if (r % 2) {", "} else {"
        case("start without post %d" % n, n, hard, begin, world, odd, "(void)0;", even, *access, "}", away)
        case("start, late post %d" % n, n, "", begin, world, odd, late, "MPI_Win_post(other, 0, w);", "MPI_Win_wait(w);", even, *plain, "}", away)
        case("second start without post %d" % n, n, hard, begin, world, odd, "MPI_Win_post(other, 0, w);", "MPI_Win_wait(w);", even, *plain,
             *access, "}", away)
        for name, end in ends.items():
            wrong = end % BAD if "%s" in end else end + BAD
            good = end % "" if "%s" in end else end
            case("post without start, %s %d" % (name, n), n, hard, begin, world, odd, "MPI_Win_post(other, 0, w);", wrong, "}", away)
            case("post, late start, %s %d" % (name, n), n, "", begin, world, odd, "MPI_Win_post(other, 0, w);", good, even, late, *plain, "}",
                 away)
            case("complete in a barrier, %s %d" % (name, n), n, hard, begin, world, odd, "MPI_Win_post(other, 0, w);", wrong, barrier, even,
                 "MPI_Win_start(other, 0, w);", barrier + BAD, "MPI_Win_complete(w);", "}", away)
    lock, unlock = "MPI_Win_lock(MPI_LOCK_%s, 1, 0, w);", "MPI_Win_unlock(1, w);"
    put, free = "MPI_Put(a, 1, MPI_INT, 1, 0, 1, MPI_INT, w);", "MPI_Win_free(&w);"
    for kind in ("EXCLUSIVE", "SHARED"):
        first = ("if (r == 0) {", lock % "EXCLUSIVE", put, "MPI_Win_flush(1, w);", barrier)
        case("lock kept in a barrier %s" % kind, 2, hard, begin, *first, barrier + BAD, unlock, "} else {", barrier, lock % kind + BAD, put + BAD,
             unlock + BAD, barrier, "}", free)
        case("lock kept for long %s" % kind, 2, "", begin, *first, late, unlock, barrier, "} else {", barrier, lock % kind, put, unlock, barrier,
             "}", free)
    case("shared locks in a barrier", 2, "", begin, lock % "SHARED", "MPI_Get(b, 1, MPI_INT, 1, 0, 1, MPI_INT, w);", barrier, unlock, barrier, free)
    one = "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, %s, 0, w);"
    use = "MPI_Put(a, 1, MPI_INT, %s, 0, 1, MPI_INT, w);"
    case("locks crossed", 2, hard, begin, one % "r", use % "r", "MPI_Win_flush(r, w);", barrier, one % "peer" + BAD, use % "peer" + BAD,
         "MPI_Win_unlock(peer, w);" + BAD, "MPI_Win_unlock(r, w);", free)
    case("locks one after the other", 2, "", begin, one % "r", use % "r", "MPI_Win_unlock(r, w);", barrier, one % "peer", use % "peer",
         "MPI_Win_unlock(peer, w);", barrier, free)


def parties():
    """Communicators that some ranks make together, where one does not come."""
    hard = "GLOBAL:DEADLOCK:HARD"
    begin = "MPI_Comm half, i; int first = r < n / 2; (void)i; MPI_Comm_split(MPI_COMM_WORLD, first, r, &half);"
    end = "MPI_Comm_free(&half);"
    create = "MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, %s, %s, &i);"
    there = "first ? n / 2 : 0"
    for n in (2, 3, 4):
        case("leaders %d" % n, n, "", begin, "if (first) {", "usleep(1300000);", "}", create % (there, "5"), "MPI_Comm_free(&i);",
             create % (there, "5"), "MPI_Comm_free(&i);", end)
        case("leaders, other tag %d" % n, n, hard, begin, create % (there, "5 + first") + BAD, "MPI_Comm_free(&i);", end)
        case("leaders, only one %d" % n, n, hard, begin, "if (first) {", create % (there, "5") + BAD, "MPI_Comm_free(&i);", "}", end)
    case("leaders, other leader", 4, hard, begin, create % ("first ? 2 : 1", "5") + BAD, "MPI_Comm_free(&i);", end)
    case("leaders, one member not", 4, hard + "|GLOBAL:COLLECTIVE:OPERATION_MISMATCH", begin, "if (r != 3) {", create % (there, "5") + BAD,
         "MPI_Comm_free(&i);", "}", end)
    group = "MPI_Group w, g; int who[2] = { 0, n - 1 }, in = r == 0 || r == n - 1; MPI_Comm o, p; (void)o; (void)p;\n" \
            "MPI_Comm_group(MPI_COMM_WORLD, &w); MPI_Group_incl(w, 2, who, &g);"
    away = "MPI_Group_free(&w); MPI_Group_free(&g);"
    make = "MPI_Comm_create_group(MPI_COMM_WORLD, g, %s, &%s);"
    free = "MPI_Comm_free(&o); MPI_Comm_free(&p);"
    for n in (2, 3):
        case("group of two %d" % n, n, "", group, "if (in) {", "if (r) {", "usleep(1300000);", "}", make % (1, "o"), make % (2, "p"), free,
             make % (1, "o"), make % (1, "p"), free, "}", away)
        case("group of two, only one %d" % n, n, hard, group, "if (r == 0) {", make % (1, "o") + BAD, "MPI_Comm_free(&o);", "}", away)
        case("group of two, other tag %d" % n, n, hard, group, "if (in) {", make % ("r", "o") + BAD, "MPI_Comm_free(&o);", "}", away)
        case("groups of two, other order %d" % n, n, hard, group, "if (in) {", make % ("1 + (r > 0)", "o") + BAD, make % ("2 - (r > 0)", "p"), free,
             "}", away)


def conflicts():
    """Operations of one rank on the same bytes of a window, and types that do not fit."""
    begin = "MPI_Win w; MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);"
    operation = {"put": "MPI_Put(a%s, 1, MPI_INT, peer, %d, 1, MPI_INT, w);", "get": "MPI_Get(b%s, 1, MPI_INT, peer, %d, 1, MPI_INT, w);",
                 "accumulate": "MPI_Accumulate(a%s, 1, MPI_INT, peer, %d, 1, MPI_INT, MPI_SUM, w);"}
    fence, end = "MPI_Win_fence(0, w);", "MPI_Win_free(&w);"
    epochs = {"fence": (fence, fence), "lock": ("MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, w);", "MPI_Win_unlock(peer, w);"),
              "lock all": ("MPI_Win_lock_all(0, w);", "MPI_Win_unlock_all(w);")}
    for kind, (first, last) in epochs.items():
        for one, call in operation.items():
            for other, after in operation.items():
                found = "" if one == other and one != "put" else "LOCAL:WINDOW:CONFLICT"
                text = [begin, "a[0] = 1; a[1] = 2;", first, call % ("", 0)]
                case("%s: %s and %s in one place" % (kind, one, other), 2, found, *text, after % (" + 1", 0) + BAD, last, end)
                case("%s: %s and %s beside it" % (kind, one, other), 2, "", *text, after % (" + 1", 1), last, end)
                case("%s: %s, then %s" % (kind, one, other), 2, "", *text, last, first, after % (" + 1", 0), last, end)
        case("%s: puts of the same" % kind, 2, "", begin, first, operation["put"] % ("", 0), operation["put"] % (" + 1", 0), last, end)
    for name, call in operation.items():
        other = call % ("", 0)
        wrong = other.replace("MPI_INT", "MPI_FLOAT", 1)
        case("%s of another type" % name, 2, "GLOBAL:MSG:DATATYPE:MISMATCH", begin, fence, wrong + BAD, fence, end)
        pairs = "MPI_Datatype two; MPI_Type_contiguous(1, MPI_INT, &two); MPI_Type_commit(&two);"
        case("%s of too many" % name, 2, "LOCAL:MPI:CALL_FAILED", begin, fence, other.replace(", 1, MPI_INT", ", %d, MPI_INT" % (1 if name == "get" else 3), 1)
             .replace("0, 1, MPI_INT", "0, %d, MPI_INT" % (3 if name == "get" else 2)) + BAD, fence, end)
        case("%s of fewer than there is room for" % name, 2, "", begin, fence, other.replace(", 1, MPI_INT", ", %d, MPI_INT" % (3 if name == "get" else 1), 1)
             .replace("0, 1, MPI_INT", "0, %d, MPI_INT" % (1 if name == "get" else 2)), fence, end)
        case("%s of a derived type" % name, 2, "", begin, pairs, fence, other.replace("MPI_INT", "two", 1), fence, end, "MPI_Type_free(&two);")
        case("%s, fence that nothing precedes" % name, 2, "LOCAL:WINDOW:EPOCH", begin, fence, other,
             "MPI_Win_fence(MPI_MODE_NOPRECEDE, w);" + BAD, "MPI_Win_fence(MPI_MODE_NOSUCCEED, w);", end)
        case("%s, fence that nothing follows" % name, 2, "", begin, "MPI_Win_fence(MPI_MODE_NOPRECEDE, w);", other,
             "MPI_Win_fence(MPI_MODE_NOSUCCEED, w);", end)


    parts = ("MPI_Datatype even, odd; int one[2] = { 1, 1 }, e[2] = { 0, 2 }, o[2] = { 1, 3 };\n"
             "MPI_Type_indexed(2, one, e, MPI_INT, &even); MPI_Type_indexed(2, one, o, MPI_INT, &odd);\n"
             "MPI_Type_commit(&even); MPI_Type_commit(&odd); a[0] = 1; a[2] = 2;")
    put = "MPI_Put(a%s, %s, MPI_INT, peer, 0, %s, w);"
    away = "MPI_Type_free(&even); MPI_Type_free(&odd);"
    for second, found in ((("+ 2", "2", "1, odd"), ""), (("+ 2", "2", "1, even"), "LOCAL:WINDOW:CONFLICT"),
                          (("+ 2", "3", "3, MPI_INT"), "LOCAL:WINDOW:CONFLICT")):
        case("puts into parts, %s" % second[2], 2, found, begin, parts, fence, put % ("", "2", "1, even"),
             put % second + (BAD if found else ""), fence, end, away)


def races():
    """Operations of ranks 0 and 1 on the window of rank 2. The order of flushes is that of barriers."""
    begin = "MPI_Win w; MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); a[0] = %s;"
    call = {"put": "MPI_Put(a, 1, MPI_INT, 2, %s, 1, MPI_INT, w);", "get": "MPI_Get(b, 1, MPI_INT, 2, %s, 1, MPI_INT, w);",
            "add": "MPI_Accumulate(a, 1, MPI_INT, 2, %s, 1, MPI_INT, MPI_SUM, w);",
            "fetch": "MPI_Fetch_and_op(a, b, MPI_INT, 2, %s, MPI_SUM, w);", "swap": "MPI_Compare_and_swap(a, b, b + 1, MPI_INT, 2, %s, w);",
            "two": "MPI_Put(a, 2, MPI_INT, 2, %s, 1, two, w);"}
    two = "MPI_Datatype two; MPI_Type_vector(2, 1, 2, MPI_INT, &two); MPI_Type_commit(&two);"
    end = "MPI_Win_free(&w); MPI_Type_free(&two);"
    fence, barrier = "MPI_Win_fence(0, w);", "MPI_Barrier(MPI_COMM_WORLD);"
    race, atomic = "GLOBAL:WINDOW:RACE", ("add", "fetch", "swap")
    group = ("MPI_Group world, others; int who[2] = { 0, 1 }, last = 2; MPI_Comm_group(MPI_COMM_WORLD, &world);\n"
             "MPI_Group_incl(world, r == 2 ? 2 : 1, r == 2 ? who : &last, &others); MPI_Group_free(&world);")
    epochs = {"fence": (fence, fence), "lock all": ("MPI_Win_lock_all(0, w);", barrier + "\nMPI_Win_unlock_all(w);"),
              "exclusive": ("MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w);", "MPI_Win_unlock(2, w);"),
              "shared": ("MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, w);", barrier + "\nMPI_Win_unlock(2, w);"),
              "start": (group + "\nif (r == 2) {\nMPI_Win_post(others, 0, w);\n}\nMPI_Barrier(MPI_COMM_WORLD);\nif (r != 2) {\nMPI_Win_start(others, 0, w);\n}",
                        "if (r == 2) {\nMPI_Win_wait(w);\n} else {\nMPI_Win_complete(w);\n}\nMPI_Group_free(&others);")}
    for epoch, (first, last) in epochs.items():
        for one, other in (("put", "put"), ("put", "get"), ("put", "add"), ("get", "add"), ("get", "fetch"), ("put", "swap"), ("two", "get"),
                           ("get", "get"), ("add", "add"), ("add", "fetch"), ("fetch", "swap")):
            found = "" if epoch == "exclusive" or (one in atomic and other in atomic) or one == other == "get" else race
            mark = BAD if found else ""
            both = ("if (r == 0) {", call[one] % 4 + mark, "}\nif (r == 1) {", call[other] % ("6" if one == "two" else "4") + mark, "}")
            case("%s: %s and %s of two ranks" % (epoch, one, other), 3, found, begin % "r", two, first, *both, last, end)
            if found:
                case("%s: %s and %s of two ranks beside" % (epoch, one, other), 3, "", begin % "r", two, first, "if (r == 0) {", call[one] % 4,
                     "}\nif (r == 1) {", call[other] % 5, "}", last, end)
        case("%s: two ranks put the same" % epoch, 3, "", begin % "7", two, first, "if (r != 2) {", call["put"] % 4, "}", last, end)
    for one, other in (("put", "get"), ("put", "put"), ("get", "add")):
        case("a fence between %s and %s" % (one, other), 3, "", begin % "r", two, fence, "if (r == 0) {", call[one] % 4, "}", fence,
             "if (r == 1) {", call[other] % 4, "}", fence, end)
        for flush in ("MPI_Win_flush(2, w);", "MPI_Win_flush_all(w);", "MPI_Win_flush_local(2, w);")[:3 if one == "get" else 2]:
            case("%s, flush and barrier, %s" % (one, other), 3, "", begin % "r", two, "MPI_Win_lock_all(0, w);", "if (r == 0) {", call[one] % 4, flush, "}",
                 barrier, "if (r == 1) {", call[other] % 4, "}", barrier, "MPI_Win_unlock_all(w);", end)


    rget = "MPI_Request q; MPI_Rget(b, 1, MPI_INT, 2, 4, 1, MPI_INT, w, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);"
    case("rget that is complete, barrier, put", 3, "", begin % "r", two, "MPI_Win_lock_all(0, w);", "if (r == 0) {", rget, "}", barrier, "if (r == 1) {",
         call["put"] % 4, "}", barrier, "MPI_Win_unlock_all(w);", end)
    case("put, barrier, rget", 3, race, begin % "r", two, "MPI_Win_lock_all(0, w);", "if (r == 0) {", call["put"] % 4 + BAD, "}", barrier, "if (r == 1) {",
         rget + BAD, "}", barrier, "MPI_Win_unlock_all(w);", end)


def many_windows():
    """More pairs of ranks than the checker has room for, and then a mistake that it must find again."""
    begin = ("MPI_Win w, many[560]; MPI_Group world, other; MPI_Comm_group(MPI_COMM_WORLD, &world); MPI_Group_incl(world, 1, &peer, &other);\n"
             "for (int i = 0; i < 560; i++) {\nMPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &many[i]);\n"
             "MPI_Win_post(world, 0, many[i]);\nMPI_Win_start(world, 0, many[i]);\nMPI_Win_complete(many[i]);\nMPI_Win_wait(many[i]);\n}\n"
             "for (int i = 0; i < 560; i++) {\nMPI_Win_free(&many[i]);\n}\n"
             "MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);")
    for found, post in (("GLOBAL:DEADLOCK:HARD", "(void)0;"), ("", "MPI_Win_post(other, 0, w);\nMPI_Win_wait(w);")):
        mark = BAD if found else ""
        case("many windows before%s" % (" a mistake" if found else ""), 4, found, begin, "if (r % 2) {", post, "} else {",
             "MPI_Win_start(other, 0, w);" + mark, "MPI_Put(a, 1, MPI_INT, peer, 0, 1, MPI_INT, w);" + mark, "MPI_Win_complete(w);" + mark, "}",
             "MPI_Win_free(&w); MPI_Group_free(&world); MPI_Group_free(&other);")


def windows_with_requests():
    begin = "MPI_Win w; MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_lock_all(0, w);"
    end = "MPI_Win_unlock_all(w); MPI_Win_free(&w);"
    first = {"Rput": "MPI_Rput(a, 1, MPI_INT, peer, 0, 1, MPI_INT, w, &q);", "Rget": "MPI_Rget(a, 1, MPI_INT, peer, 0, 1, MPI_INT, w, &q);"}
    then, wait = "MPI_Get(a, 1, MPI_INT, peer, 1, 1, MPI_INT, w);", "MPI_Wait(&q, MPI_STATUS_IGNORE);"
    for name, call in first.items():
        case(name + " and its buffer", 2, "LOCAL:MEMORY:OVERLAP", VARIABLES, begin, call, then + BAD, wait, end)
        case(name + " and its buffer when it is complete", 2, "", VARIABLES, begin, call, wait, then, end)
        case(name + " and its buffer after a flush", 2, "", VARIABLES, begin, call, "MPI_Win_flush(peer, w);", then, wait, end)
        case(name + " and its buffer changed after a flush", 2, "", VARIABLES, begin, call, "MPI_Win_flush(peer, w);", "a[0] = 9;", wait, end)
        case(name + " not completed", 2, "LOCAL:REQUEST:NOT_FREED", VARIABLES, begin, call + BAD, end)
        case(name + " changed", 2, "LOCAL:MEMORY:ILLEGAL_MODIFICATION", VARIABLES, begin, call, "a[0] = 9;", wait + BAD, end) if name == "Rput" else None


def exchanges():
    call = "MPI_Sendrecv_replace(%s, %s, %s, 1, %s, 1, MPI_COMM_WORLD, &s);"
    begin, right, left = "MPI_Status s; int got; for (int i = 0; i < 64; i++) {\na[i] = 100 * r + i;\n}", "(r + 1) % n", "(r + n - 1) % n"
    check = "MPI_Get_count(&s, %s, &got);\nif (got != %d || s.MPI_SOURCE != (r + n - 1) %% n || a[%d] != 100 * s.MPI_SOURCE + %d || a[1] != %s) {\nabort();\n}"
    for n in (2, 3, 4):
        case("exchange %d" % n, n, "", begin, call % ("a", "2, MPI_INT", right, left), check % ("MPI_INT", 2, 1, 1, "100 * s.MPI_SOURCE + 1"))
        case("exchange with holes %d" % n, n, "", begin, "MPI_Datatype t; MPI_Type_vector(3, 1, 2, MPI_INT, &t); MPI_Type_commit(&t);",
             call % ("a", "1, t", right, left), check % ("t", 1, 4, 4, "100 * r + 1"), "MPI_Type_free(&t);")
        apart = ("char *m = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); MPI_Datatype t;\n"
                 "int one[2] = { 1, 1 }, at[2] = { 0, 2048 }, *to = (int *)m; to[0] = 100 * r; to[2048] = 100 * r + 1; munmap(m + 4096, 4096);\n"
                 "MPI_Type_indexed(2, one, at, MPI_INT, &t); MPI_Type_commit(&t);")
        case("exchange with no memory in the holes %d" % n, n, "", begin, apart, call % ("m", "1, t", right, left),
             "if (to[0] != 100 * s.MPI_SOURCE || to[2048] != 100 * s.MPI_SOURCE + 1) {\nabort();\n}\n(void)got; MPI_Type_free(&t);")
        case("exchange with holes missing %d" % n, n, "GLOBAL:DEADLOCK:HARD", begin, apart, "if (r) {", call % ("m", "1, t", right, left) + BAD, "}",
             "(void)got; MPI_Type_free(&t);")
        case("exchange of nothing with nobody %d" % n, n, "", begin, call % ("NULL", "0, MPI_INT", "MPI_PROC_NULL", "MPI_PROC_NULL"), "(void)got;")
        if n > 2:
            case("exchange one way round %d" % n, n, "GLOBAL:DEADLOCK:HARD", begin, call % ("a", "2, MPI_INT", right, right) + BAD, "(void)got;")
        case("exchange missing %d" % n, n, "GLOBAL:DEADLOCK:HARD", begin, "if (r) {", call % ("a", "2, MPI_INT", right, left) + BAD, "}", "(void)got;")
    for one in ("Allgather(a, 2, MPI_INT, c, 3, MPI_INT", "Alltoall(d, 2, MPI_INT, c, 3, MPI_INT", "Allgather(a, 2, MPI_INT, c, 1, MPI_2INT"):
        found = "" if "2INT" in one else "GLOBAL:COLLECTIVE:INVALID_PARAMETER"
        case("both sides of " + one, 3, found, "MPI_%s, MPI_COMM_WORLD);" % one + (BAD if found else ""))
    case("an info object that is gone", 2, "LOCAL:MPI:CALL_FAILED", "MPI_Info i, old; MPI_Info_create(&i); old = i; MPI_Info_free(&i);",
         'MPI_Info_set(old, "a", "b");' + BAD)


def apart():
    """The two buffers of a collective operation, the parts of several members, and memory that is not there."""
    found, gone = "LOCAL:MEMORY:OVERLAP|LOCAL:MPI:CALL_FAILED", "LOCAL:MEMORY:INACCESSIBLE"
    for call, words in COLLECTIVES.items():
        places = [word for word in words.split(", ") if len(word) == 1]
        for posted in (False, True):
            wait = "\nMPI_Wait(&q, MPI_STATUS_IGNORE);" if posted else ""
            name = ("I " if posted else "") + call
            if len(places) == 2:
                shared = collective(call, posted, **{places[1]: "(%s + 1)" % places[0]})
                case("%s shares bytes" % name, 2, found, VARIABLES, shared + BAD + wait)
                case("%s beside it" % name, 2, "", VARIABLES, collective(call, posted, **{places[0]: "c", places[1]: "(c + 16)"}) + wait)
            for place in places:
                case("%s no memory %s" % (name, place), 2, gone, VARIABLES, collective(call, posted, **{place: "(void *)8192"}) + BAD + wait)
    for call, parts in (("Gatherv(a, 2, MPI_INT, c, each, at, MPI_INT, 0, MPI_COMM_WORLD", "root"),
                        ("Allgatherv(a, 2, MPI_INT, c, each, at, MPI_INT, MPI_COMM_WORLD", "all"),
                        ("Alltoallv(d, each, far, MPI_INT, c, each, at, MPI_INT, MPI_COMM_WORLD", "all")):
        for n in (2, 3, 4):
            own = "int each[4] = { 2, 2, 2, 2 }, far[4] = { 0, 2, 4, 6 }, at[4] = { %s }; (void)each; (void)far; (void)at;"
            name = "%s parts of %s %d" % (call[:call.index("(")], parts, n)
            case(name + " overlap", n, "LOCAL:MEMORY:OVERLAP", own % "6, 5, 3, 1", "MPI_%s);" % call + BAD)
            case(name + " backwards", n, "", own % "6, 4, 2, 0", "MPI_%s);" % call)
            case(name + " with gaps", n, "", own % "9, 30, 0, 20", "MPI_%s);" % call)
    for call in SEND + RECEIVE:
        send, receive = "a, 2, MPI_INT, peer, 7, MPI_COMM_WORLD", "b, 2, MPI_INT, peer, 7, MPI_COMM_WORLD"
        wrong = transfer(call, ("(void *)8192" + (send if call in SEND else receive)[1:]), BAD)
        case("%s no memory" % call, 2, gone, pair(*((wrong, transfer("Irecv", receive)) if call in SEND else (transfer("Isend", send), wrong)))
             .replace("MPI_Start(&q);", "MPI_Start(&q);" + BAD))
        if not call.endswith("_init"):
            place = transfer(call, ("MPI_IN_PLACE" + (send if call in SEND else receive)[1:]), BAD)
            case("%s in place" % call, 2, "LOCAL:MPI:CALL_FAILED", pair(*((place, transfer("Irecv", receive)) if call in SEND else (transfer("Isend", send), place))))
    for call in SEND[:2] + ["Isend"]:
        send = transfer(call, "p, 2, MPI_INT, peer, 7, MPI_COMM_WORLD")
        case("%s of memory that was there" % call, 2, gone, pair(
            send + "\nmunmap(p, 4096);\n" + transfer(call, "p, 2, MPI_INT, peer, 7, MPI_COMM_WORLD", BAD), "for (int i = 0; i < 2; i++) {\n"
            "MPI_Recv(b, 2, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n}",
            "int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"))
    twice = "MPI_Datatype t; int l[2] = { 2, 2 }, at[2] = { 0, %d }; MPI_Type_indexed(2, l, at, MPI_INT, &t); MPI_Type_commit(&t);"
    for call in ("Recv", "Irecv"):
        for at in (1, 2, 5):
            case("%s into some bytes twice %d" % (call, at), 2, "LOCAL:MPI:CALL_FAILED" if at == 1 else "", pair(
                "MPI_Send(a, 4, MPI_INT, peer, 3, MPI_COMM_WORLD);",
                transfer(call, "b, 1, t, peer, 3, MPI_COMM_WORLD", BAD if at == 1 else ""), twice % at, "MPI_Type_free(&t);"))


def neighbours():
    graphs = {"grid": "int size[1] = { n }, ends[1] = { 1 }; MPI_Cart_create(MPI_COMM_WORLD, 1, size, ends, 0, &g);",
              "line": "int size[1] = { n }, ends[1] = { 0 }; MPI_Cart_create(MPI_COMM_WORLD, 1, size, ends, 0, &g);",
              "ring": "int left = (r + n - 1) % n, right = (r + 1) % n; MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, "
                      "MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &g);"}
    calls = {"allgather": "(a, mine, MPI_INT, c, theirs[0], MPI_INT, g", "allgatherv": "(a, mine, MPI_INT, c, theirs, at, MPI_INT, g",
             "alltoall": "(d, mine, MPI_INT, c, theirs[0], MPI_INT, g", "alltoallv": "(d, each, at, MPI_INT, c, theirs, at, MPI_INT, g"}
    own = "int mine = 2, each[2] = { 2, 2 }, theirs[2] = { 2, 2 }, at[2] = { 0, 8 }; (void)mine; (void)each; (void)theirs; (void)at; MPI_Comm g;"
    for graph, make in graphs.items():
        for call, words in calls.items():
            for n in (3, 4):
                for posted in (False, True):
                    line = "MPI_Ineighbor_%s%s, &q);\nMPI_Wait(&q, MPI_STATUS_IGNORE);" if posted else "MPI_Neighbor_%s%s);"
                    line, name = line % (call, words), "%s %s%s %d" % (graph, "i" if posted else "", call, n)
                    case(name, n, "", VARIABLES, own, make, line, "MPI_Comm_free(&g);")
                    case(name + " one more", n, "GLOBAL:COLLECTIVE:SIZE_MISMATCH", VARIABLES, own, make,
                         "if (r == 1) {\nmine = each[0] = 3;\n}", line.replace(";", ";" + BAD, 1), "MPI_Comm_free(&g);")
                    case(name + " other type", n, "GLOBAL:COLLECTIVE:DATATYPE:MISMATCH", VARIABLES, own, make,
                         "MPI_Datatype t = r == 1 ? MPI_FLOAT : MPI_INT;", line.replace("MPI_INT", "t", 1).replace(";", ";" + BAD, 1), "MPI_Comm_free(&g);")


def between_groups():
    """Intercommunicators, groups and topologies."""
    begin = ("MPI_Comm half, i; int first = r < n / 2; MPI_Comm_split(MPI_COMM_WORLD, first, r, &half);\n"
             "MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? n / 2 : 0, 5, &i);\n"
             "int root = r == 0 ? MPI_ROOT : first ? MPI_PROC_NULL : 0, two = 2; MPI_Datatype t = MPI_INT; (void)two; (void)t; (void)root;")
    end = "MPI_Comm_free(&i); MPI_Comm_free(&half);"
    calls = {"Bcast": "MPI_Bcast(a, two, t, root, i);", "Reduce": "MPI_Reduce(a, b, two, t, MPI_SUM, root, i);",
             "Gather": "MPI_Gather(a, two, t, c, two, t, root, i);", "Scatter": "MPI_Scatter(c, two, t, b, two, t, root, i);"}
    for n in (3, 4):
        for name, call in calls.items():
            case("groups %s %d" % (name, n), n, "", begin, call, call, end)
            for change, found in (("root = first && n > 3 ? MPI_ROOT : r == n - 1 && n == 3 ? MPI_ROOT : root;", "ROOT_MISMATCH"),
                                  ("root = r == n - 1 && n == 4 ? 1 : first ? MPI_PROC_NULL : root;", "ROOT_MISMATCH"),
                                  ("two = r == n - 1 ? 3 : 2;", "SIZE_MISMATCH"), ("t = r == n - 1 ? MPI_FLOAT : MPI_INT;", "DATATYPE:MISMATCH")):
                case("groups %s %s %s %d" % (name, found, change[:12], n), n, "GLOBAL:COLLECTIVE:" + found, begin, change, call + BAD, end)
        case("groups other call %d" % n, n, "GLOBAL:COLLECTIVE:OPERATION_MISMATCH", begin, "if (r == n - 1) {", "MPI_Barrier(i);" + BAD, "} else {",
             "MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, i);" + BAD, "}", end)
    wrong = "GLOBAL:COLLECTIVE:INVALID_PARAMETER"
    group = "MPI_Group w, g; int who[2] = { 0, %s }; MPI_Comm o; MPI_Comm_group(MPI_COMM_WORLD, &w); MPI_Group_incl(w, 2, who, &g);"
    away = "MPI_Group_free(&w); MPI_Group_free(&g); if (o != MPI_COMM_NULL) {\nMPI_Comm_free(&o);\n}"
    create = "MPI_Comm_create(MPI_COMM_WORLD, g, &o);"
    case("groups that differ", 4, wrong, group % "r == 3 ? 3 : 1", create + BAD, away)
    case("a group of some", 4, "", group % "1", create, away)
    case("two groups at a time", 4, "", (group % "1").replace("{ 0, 1 }", "{ r / 2 * 2, r / 2 * 2 + 1 }"), create, away)
    grid = "int size[2] = { 2, %s }, ends[2] = { 0, %s }; MPI_Comm o; MPI_Cart_create(MPI_COMM_WORLD, 2, size, ends, 0, &o);"
    for sizes, ends, found in (("2", "0", ""), ("r == 3 ? 1 : 2", "0", wrong), ("2", "r == 3", wrong), ("2", "r + 1", "")):
        case("grid of %s and %s" % (sizes, ends), 4, found, grid % (sizes, ends) + (BAD if found else ""), "if (o != MPI_COMM_NULL) {\nMPI_Comm_free(&o);\n}")
    for call in ("incl", "excl"):
        for other in ("0", "1"):
            case("group %s of 0 and %s" % (call, other), 3, "" if other == "1" else "LOCAL:MPI:CALL_FAILED",
                 "MPI_Group w, g; int who[2] = { 0, %s }; MPI_Comm_group(MPI_COMM_WORLD, &w);" % other,
                 "MPI_Group_%s(w, 2, who, &g);" % call + ("" if other == "1" else BAD), "MPI_Group_free(&w); MPI_Group_free(&g);")


def phases():
    failed = "LOCAL:MPI:CALL_FAILED"
    for call in ("MPI_Comm_rank(MPI_COMM_WORLD, a);", "MPI_Send(a, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);", "MPI_Barrier(MPI_COMM_WORLD);", "MPI_Finalize();"):
        case("after the end: " + call, 2, failed, "MPI_Finalize();", call + BAD, "exit(0);")
        case("before the end: " + call, 2, "" if "Send" not in call else "GLOBAL:DEADLOCK:POTENTIAL|GLOBAL:MSG:PENDING", call + (BAD if "Send" in call else ""),
             "exit(0);" if "Finalize" in call else "")
    case("begun twice", 2, failed, "MPI_Init(NULL, NULL);" + BAD)
    case("begun twice with a level", 2, failed, "MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, a);" + BAD)
    ready = "MPI_%s(a, 1, MPI_INT, peer, 3, MPI_COMM_WORLD%s"
    waits = "MPI_Barrier(MPI_COMM_WORLD);"
    for call, more, after in (("Rsend", ");", ""), ("Irsend", ", &q);", "MPI_Wait(&q, MPI_STATUS_IGNORE);")):
        sends = ready % (call, more)
        case("%s, then its receive" % call, 2, "GLOBAL:MSG:READY_SEND", pair(
            sends + BAD + "\n" + after + waits, waits + "MPI_Recv(b, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"))
        case("%s after its receive" % call, 2, "", pair(
            waits + sends + after, "MPI_Irecv(b, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &q);\n" + waits + "MPI_Wait(&q, MPI_STATUS_IGNORE);"))
    for call, more, after in (("Bsend", ");", ""), ("Ibsend", ", &q);", "MPI_Wait(&q, MPI_STATUS_IGNORE);")):
        receive = "MPI_Recv(b, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
        case("%s without a buffer" % call, 2, "LOCAL:BUFFER:INSUFFICIENT_BUFFER", pair(ready % (call, more) + BAD + "\n" + after, receive))
    probe = "MPI_Message m; MPI_Mprobe(peer, 3, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);"
    for take, found in (("MPI_Mrecv(b, 1, MPI_INT, &m, MPI_STATUS_IGNORE);", ""),
                        ("MPI_Imrecv(b, 1, MPI_INT, &m, &q); MPI_Wait(&q, MPI_STATUS_IGNORE);", ""), ("", "GLOBAL:MSG:PENDING")):
        case("matched and %s" % (take or "left"), 2, found, pair(ready % ("Send", ");"), probe + (BAD if found else "") + "\n" + take))


def files():
    begin = ("char file[100]; snprintf(file, sizeof(file), \"/tmp/tickmark-%%d-%%d\", (int)getppid(), %s); MPI_File f;\n"
             "MPI_File_open(%s, file, MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE | %s, MPI_INFO_NULL, &f);")
    alone, all_of_them = ("r", "MPI_COMM_SELF"), ("9", "MPI_COMM_WORLD")
    close = "MPI_File_close(&f);"
    failed, differ = "LOCAL:MPI:CALL_FAILED", "GLOBAL:COLLECTIVE:OPERATION_MISMATCH"
    write, read = "MPI_File_write(f, a, 1, MPI_INT, MPI_STATUS_IGNORE);", "MPI_File_read(f, a, 1, MPI_INT, MPI_STATUS_IGNORE);"
    for mode, call, found in (("MPI_MODE_WRONLY", write, ""), ("MPI_MODE_WRONLY", read, failed), ("MPI_MODE_RDWR", read, ""), ("MPI_MODE_RDWR", write, "")):
        case("%s %s" % (mode, call[9:14]), 2, found, begin % (*alone, mode), call + (BAD if found else ""), close)
    for call in ("write_at", "read_at"):
        for offset, found in (("-4", failed), ("4", "")):
            case("%s %s" % (call, offset), 2, found, begin % (*alone, "MPI_MODE_RDWR"),
                 "MPI_File_%s(f, %s, a, 1, MPI_INT, MPI_STATUS_IGNORE);" % (call, offset) + (BAD if found else ""), close)
    case("two modes", 2, failed, begin % (*alone, "MPI_MODE_RDWR | MPI_MODE_WRONLY") + BAD)
    every = ["MPI_File_write_all(f, a, 1, MPI_INT, MPI_STATUS_IGNORE);", "MPI_File_write_at_all(f, 4 * r, a, 1, MPI_INT, MPI_STATUS_IGNORE);",
             "MPI_File_set_view(f, 0, MPI_INT, MPI_INT, \"native\", MPI_INFO_NULL);", "MPI_File_sync(f);", "MPI_File_set_size(f, 100);"]
    for i, call in enumerate(every):
        for n in (2, 3):
            case("of all: %s %d" % (call[9:20], n), n, "", begin % (*all_of_them, "MPI_MODE_RDWR"), call, every[i - 1], close)
            case("of some: %s %d" % (call[9:20], n), n, differ, begin % (*all_of_them, "MPI_MODE_RDWR"), "if (r == 0) {", call + BAD, "}", close + BAD)
            case("in another order: %s %d" % (call[9:20], n), n, differ, begin % (*all_of_them, "MPI_MODE_RDWR"), "if (r == 0) {", call + BAD, every[i - 1], "} else {",
                 every[i - 1] + BAD, call, "}", close)
    for call in ("MPI_File_iread_at(f, 0, page, 4096, MPI_BYTE, &q);", "MPI_File_iread(f, page, 4096, MPI_BYTE, &q);"):
        case("%s, and another call before it is complete" % call[9:17], 2, "", begin % (*alone, "MPI_MODE_RDWR"), VARIABLES, "static char page[4096]; int there;",
             "memset(page, 1, 4096); MPI_File_write_at(f, 0, page, 4096, MPI_BYTE, MPI_STATUS_IGNORE); memset(page, 0, 4096);", call,
             "usleep(5000); MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE); MPI_Wait(&q, MPI_STATUS_IGNORE);", close)
    case("modes that differ", 2, "GLOBAL:COLLECTIVE:INVALID_PARAMETER", begin % (*all_of_them, "(r ? MPI_MODE_RDWR : MPI_MODE_WRONLY)") + BAD, close)


def threads():
    """The name says the level. The body is that of the thread that begins MPI; `run` starts another one, and `join` awaits it."""
    misuse = "LOCAL:MPI:THREAD_LEVEL"
    for level in ("SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE"):
        wrong = misuse if level in ("SINGLE", "FUNNELED") else ""
        begin = "pthread_t other; pthread_create(&other, NULL, calls_barrier, NULL);"
        case("level %s: another thread" % level, 2, wrong, begin, "pthread_join(other, NULL);")
        case("level %s: another thread waits" % level, 2, wrong, VARIABLES, "MPI_Irecv(b, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &q);",
             "pthread_t other; pthread_create(&other, NULL, calls_wait, &q);", "pthread_join(other, NULL);")
        case("level %s: another thread gets and adds" % level, 2, wrong, "MPI_Win w; pthread_t other;",
             "MPI_Win_create(c, sizeof(c), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_fence(0, w);",
             "pthread_create(&other, NULL, gets_and_adds, &w); pthread_join(other, NULL);", "MPI_Win_fence(0, w); MPI_Win_free(&w);")
        case("level %s: another thread only asks" % level, 2, "", "pthread_t other; pthread_create(&other, NULL, asks_often, NULL);",
             "for (int i = 0; i < 300; i++) {\nMPI_Barrier(MPI_COMM_WORLD);\n}", "pthread_join(other, NULL);")
        case("level %s: another thread only asks while messages come" % level, 2, "", "pthread_t other; pthread_create(&other, NULL, asks_often, NULL);",
             "MPI_Request two[2];\nfor (int i = 0; i < 3000; i++) {\na[0] = i; MPI_Irecv(b, 64, MPI_INT, peer, 3, MPI_COMM_WORLD, &two[0]);",
             "MPI_Isend(a, 64, MPI_INT, peer, 3, MPI_COMM_WORLD, &two[1]);\nMPI_Waitall(2, two, MPI_STATUSES_IGNORE);\n}", "pthread_join(other, NULL);")
        ask = "MPI_Datatype t, old; MPI_Status s; MPI_Type_contiguous(1, MPI_INT, &t); old = t; MPI_Type_free(&t); memset(&s, 0, sizeof(s));"
        case("level %s: this thread asks with a type that is freed" % level, 2, "LOCAL:MPI:CALL_FAILED", ask, "MPI_Get_count(&s, old, a);" + BAD)
        case("level %s: this thread" % level, 2, "", "MPI_Barrier(MPI_COMM_WORLD);")
        case("level %s: two ranks wait for each other" % level, 2, "GLOBAL:DEADLOCK:HARD",
             "MPI_Recv(b, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + BAD)
    waits = "pthread_t other; pthread_create(&other, NULL, calls_send, &r);\nMPI_Recv(b, 1, MPI_INT, r, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    case("level MULTIPLE: a thread sends what another one awaits", 2, "", waits, "pthread_join(other, NULL);")
    begin = "pthread_t other, third; (void)third; pthread_create(&other, NULL, calls_receive, &peer);"
    join, main = "pthread_join(other, NULL);", "MPI_Recv(b + 8, 1, MPI_INT, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    send = "MPI_Send(a, 1, MPI_INT, peer, %d, MPI_COMM_WORLD);"
    late = "pthread_create(&third, NULL, sends_late, &peer);"
    hard = "GLOBAL:DEADLOCK:HARD"
    case("level MULTIPLE: threads wait for messages that do not come", 2, hard, begin, join)
    case("level MULTIPLE: all threads wait", 2, hard, begin, main + BAD, join)
    case("level MULTIPLE: all threads wait, two of three ranks", 3, hard, "if (r < 2) {", begin, main + BAD, join, "}")
    case("level MULTIPLE: a thread waits, in one rank", 2, hard, "if (r) {", begin, join, "} else {",
         "MPI_Recv(b, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);" + BAD, "}")
    case("level MULTIPLE: a message comes late", 2, "", begin, "usleep(1500000);", send % 7, join)
    case("level MULTIPLE: a third thread sends late", 2, "", begin, late, join, "pthread_join(third, NULL);")
    case("level MULTIPLE: a third thread sends late, all others wait", 2, "", begin, "if (r) {", late, main, "} else {", "usleep(1500000);",
         send % 6, send % 7, "}", join, "if (r) {", "pthread_join(third, NULL);", "}")
    case("level SERIALIZED: a thread sends what another one awaits", 2, misuse, waits, "pthread_join(other, NULL);")


def main():
    for part in (arguments, collectives, vectors, communicators, types, deadlocks, profiled, limits, requests, alone, communicators_that_come, collectives_in_use, buffered, objects, strays, windows, window_types, windows_that_wait, parties, conflicts, races, many_windows, windows_with_requests, exchanges, apart, neighbours,
                 between_groups, phases, files, threads):
        part()
    out = ["/* Made by generate.py. */", "#define _GNU_SOURCE", "#include <dlfcn.h>", "#include <mpi.h>", "#include <pthread.h>", "#include <stdint.h>", "#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "#include <sys/mman.h>",
           "#include <unistd.h>",
           "static int a[64], b[64], c[256], d[256], late_us;",
           "/* A message that was announced and is still on its way. */", "int PMPI_Issend(const void *at, int n, MPI_Datatype t, int to, int tag, MPI_Comm with, MPI_Request *q)",
           "{ usleep(late_us); return ((int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *))dlsym(RTLD_NEXT, \"PMPI_Issend\"))(at, n, t, to, tag, with, q); }", "static void add(void *x, void *y, int *n, MPI_Datatype *t)",
           "{ (void)x; (void)y; (void)n; (void)t; }", "static void failed(MPI_Win *w, int *code, ...) { (void)w; (void)code; }", "static void *calls_barrier(void *x)",
           "{ MPI_Barrier(MPI_COMM_WORLD); return x; }" + BAD, "static void *calls_send(void *x)",
           "{ usleep(300000); MPI_Send(a, 1, MPI_INT, *(int *)x, 5, MPI_COMM_WORLD); return x; }" + BAD, "static void *calls_receive(void *x)",
           "{ MPI_Recv(b, 1, MPI_INT, *(int *)x, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); return x; }" + BAD,
           "static void *calls_wait(void *x)", "{ MPI_Wait(x, MPI_STATUS_IGNORE); return x; }" + BAD,
           "static void *gets_and_adds(void *x)",
           "{ MPI_Get_accumulate(a, 1, MPI_INT, b, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, *(MPI_Win *)x); return x; }" + BAD,
           "static void *asks_often(void *x)", "{ MPI_Status s; int n; memset(&s, 0, sizeof(s)); for (int i = 0; i < 300000; i++) { MPI_Get_count(&s, MPI_INT, &n); } return x; }",
           "static void *sends_late(void *x)", "{ usleep(1500000); MPI_Send(a, 1, MPI_INT, *(int *)x, 7, MPI_COMM_WORLD); return x; }"]
    shared = ",".join(str(sum(text.count("\n") + 1 for text in out[:i + 1])) for i, line in enumerate(out) if BAD in line)
    levels = []
    listed = []
    for number, (name, ranks, found, body) in enumerate(CASES):
        out.append("static void case_%d(int r, int n)\n{\nint peer = r ^ 1; (void)peer; (void)n; (void)add; (void)d;" % number)
        lines = []
        for line in body:
            out.append(line)
            if BAD in line:
                lines.append(sum(text.count("\n") + 1 for text in out))
        out.append("}")
        levels.append("MPI_THREAD_" + name.split()[1].rstrip(":") if name.startswith("level ") else "-1")
        listed.append("%d\t%d\t%s\t%s\t%s" % (number, ranks, found or "correct", ",".join(map(str, lines)) or (shared if "pthread" in "".join(body) else "0"), name))
    out.append("static void (*const cases[])(int, int) = { %s };" % ", ".join("case_%d" % i for i in range(len(CASES))))
    out.append("static const int levels[] = { %s };" % ", ".join(levels))
    out.append("int main(int argc, char **argv)\n{\nint r, n, level = levels[atoi(argv[1])];\nif (level < 0) {\nMPI_Init(&argc, &argv);\n} else {\n"
               "MPI_Init_thread(&argc, &argv, level, &n);\n}\nMPI_Comm_rank(MPI_COMM_WORLD, &r);\n"
               "MPI_Comm_size(MPI_COMM_WORLD, &n);\ncases[atoi(argv[1])](r, n);\nMPI_Finalize();\nreturn 0;\n}")
    with open(sys.argv[1] + "/cases.c", "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")
    with open(sys.argv[1] + "/cases.list", "w", encoding="utf-8") as f:
        f.write("\n".join(listed) + "\n")


main()
