#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""generate.py FOLDER: writes programs with known mistakes, each beside a correct one, from the calls of the MPI standard.

FOLDER/cases.c gets all of them: ./cases N runs the N-th. FOLDER/cases.list says what is wrong with each: number, ranks, class that
libVTmc must report or "correct", line of the mistake or 0, name. Each call is combined with each mistake that it can have.
"""
import sys

SEND = ["Send", "Ssend", "Isend", "Issend", "Send_init", "Ssend_init"]
RECEIVE = ["Recv", "Irecv", "Recv_init"]
TYPES = [("MPI_INT", "int"), ("MPI_FLOAT", "float"), ("MPI_DOUBLE", "double"), ("MPI_CHAR", "char"), ("MPI_LONG", "long"),
         ("MPI_SHORT", "short"), ("MPI_UNSIGNED", "unsigned"), ("MPI_BYTE", "unsigned char")]
CASES = []


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
                    change, text = "MPI_Datatype one = r == n - 1 ? MPI_FLOAT : MPI_INT;", given.replace("MPI_INT", "one", 1)
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


def requests():
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
        case(call + " persistent", 2, "", both("%s\nMPI_Start(&q);\n%s\nMPI_Request_free(&q);" % (start, done)))
    case("two receives in one buffer", 2, "LOCAL:MEMORY:OVERLAP", pair(
        "MPI_Send(a, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);\nMPI_Send(a, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);",
        "MPI_Request w[2];\nMPI_Irecv(b, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &w[0]);\n"
        "MPI_Irecv(b, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &w[1]);%s\nMPI_Waitall(2, w, MPI_STATUSES_IGNORE);" % BAD))
    case("answer into the buffer that is sent", 2, "LOCAL:MEMORY:OVERLAP", pair(
        "MPI_Irecv(a, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &q);\nMPI_Ssend(a, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);" + BAD +
        "\nMPI_Wait(&q, MPI_STATUS_IGNORE);",
        "MPI_Recv(b, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\nb[0] += 7;\n"
        "MPI_Rsend(b, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);"))
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
    case("leak of a type", 2, "LOCAL:DATATYPE:NOT_FREED", "MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t);" + BAD, "MPI_Type_commit(&t);")
    case("freed type", 2, "", "MPI_Datatype t; MPI_Type_contiguous(2, MPI_INT, &t);", "MPI_Type_commit(&t);", "MPI_Type_free(&t);")
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


def main():
    for part in (arguments, collectives, vectors, communicators, types, deadlocks, requests, buffered, objects, windows):
        part()
    out = ["/* Made by generate.py. */", "#include <mpi.h>", "#include <stdlib.h>", "#include <string.h>",
           "static int a[64], b[64], c[256], d[256];", "static void add(void *x, void *y, int *n, MPI_Datatype *t)",
           "{ (void)x; (void)y; (void)n; (void)t; }"]
    listed = []
    for number, (name, ranks, found, body) in enumerate(CASES):
        out.append("static void case_%d(int r, int n)\n{\nint peer = r ^ 1; (void)peer; (void)n; (void)add; (void)d;" % number)
        lines = []
        for line in body:
            out.append(line)
            if BAD in line:
                lines.append(sum(text.count("\n") + 1 for text in out))
        out.append("}")
        listed.append("%d\t%d\t%s\t%s\t%s" % (number, ranks, found or "correct", ",".join(map(str, lines)) or "0", name))
    out.append("static void (*const cases[])(int, int) = { %s };" % ", ".join("case_%d" % i for i in range(len(CASES))))
    out.append("int main(int argc, char **argv)\n{\nint r, n;\nMPI_Init(&argc, &argv);\nMPI_Comm_rank(MPI_COMM_WORLD, &r);\n"
               "MPI_Comm_size(MPI_COMM_WORLD, &n);\ncases[atoi(argv[1])](r, n);\nMPI_Finalize();\nreturn 0;\n}")
    with open(sys.argv[1] + "/cases.c", "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")
    with open(sys.argv[1] + "/cases.list", "w", encoding="utf-8") as f:
        f.write("\n".join(listed) + "\n")


main()
