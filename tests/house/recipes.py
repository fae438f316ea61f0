# SPDX-License-Identifier: BSD-3-Clause
"""recipes.py TOP: what does not fit in the recipes of packages: another version than configure.ac has, a library that configure
looks for and a recipe does not name, a library that a pkg-config file requires and the package of it does not bring, a recipe that
cannot be parsed. Prints one line each."""
import ast
import pathlib
import re
import sys

TOP = pathlib.Path(sys.argv[1])
# name in configure.ac: as Debian, RPM, Spack, EasyBuild, Guix call it; "": it has no package there, or comes with another
LIBRARIES = {
    "mpi": ("libopenmpi-dev", "openmpi-devel", "mpi", "", "openmpi"),
    "mpi-abi": ("", "", "", "", ""),
    "papi": ("libpapi-dev", "papi-devel", "papi", "PAPI", "papi"),
    "hwloc": ("libhwloc-dev", "hwloc-devel", "hwloc", "hwloc", "hwloc"),
    "gsl": ("libgsl-dev", "gsl-devel", "gsl", "GSL", "gsl"),
    "otf2": ("libopen-trace-format2-dev", "otf2-devel", "otf2", "OTF2", "otf2"),
    "otf": ("libopen-trace-format-dev", "", "", "", ""),
    "zstd": ("libzstd-dev", "libzstd-devel", "zstd", "zstd", "zstd"),
    "libdw": ("libdw-dev", "elfutils-devel", "elfutils", "elfutils", "elfutils"),
    "zlib": ("zlib1g-dev", "zlib-devel", "zlib-api", "zlib", "zlib"),
    "sqlite": ("libsqlite3-dev", "sqlite-devel", "sqlite", "SQLite", "sqlite"),
    "ncurses": ("libncurses-dev", "ncurses-devel", "ncurses", "ncurses", "ncurses"),
    "xxhash": ("libxxhash-dev", "xxhash-devel", "xxhash", "xxHash", "xxhash"),
    "microhttpd": ("libmicrohttpd-dev", "libmicrohttpd-devel", "libmicrohttpd", "", "libmicrohttpd"),
    "zmq": ("libzmq3-dev", "zeromq-devel", "libzmq", "ZeroMQ", "zeromq"),
    "jansson": ("libjansson-dev", "jansson-devel", "jansson", "Jansson", "jansson"),
    "uthash": ("uthash-dev", "uthash-devel", "uthash", "uthash", "uthash"),
}


def read(name):
    return (TOP / name).read_text(encoding="utf-8")


def debian():
    words = re.search(r"^Build-Depends: (.*)$", read("debian/control"), re.M).group(1)
    return re.search(r"\((.*?)\)", read("debian/changelog")).group(1), re.findall(r"[a-z0-9.+-]+", words)


def rpm():
    text = read("contrib/recipes/tickmark.spec")
    words = " ".join(re.findall(r"^BuildRequires: (.*)$", text, re.M))
    return re.search(r"^Version: (.*)$", text, re.M).group(1), re.findall(r"[\w.+-]+", words)


def spack():
    versions, words = [], []
    for node in ast.walk(ast.parse(read("contrib/recipes/package.py"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            if node.func.id == "version":
                versions.append(node.args[0].value)
            elif node.func.id == "depends_on":
                words.append(node.args[0].value.split("@")[0])
    return versions[0], words


def easybuild():
    values = {}
    for node in ast.parse(read("contrib/recipes/Tickmark.eb")).body:
        values[node.targets[0].id] = ast.literal_eval(node.value)
    return values["version"], [d[0] for d in values["dependencies"] + values["builddependencies"]]


def guix():
    text = re.sub(r";.*", "", read("contrib/recipes/tickmark.scm"))
    bare = re.sub(r'"[^"]*"', "", text)
    if bare.count("(") != bare.count(")"):
        raise ValueError("brackets do not match")
    words = re.findall(r"inputs \(list ([^)]*)\)", text)
    return re.search(r'\(version "(.*?)"\)', text).group(1), " ".join(words).split()


def check_required(configure):
    """What pkg-config reads for a .pc file, --cflags too, comes with the package that has the file. RPM finds it by itself."""
    brings = re.findall(r"^Package: libtickmark-dev$.*?^Depends: (.*?)$", read("debian/control"), re.M | re.S)[0].split(", ")
    for file in sorted(TOP.glob("*/**/*.pc.in")):
        for line in re.findall(r"^Requires.*?: (.*)$", file.read_text(encoding="utf-8"), re.M):
            line = re.sub(r"@(\w+)@", lambda m: " ".join(re.findall(m[1] + r"=([\w ]+)", configure)), line)
            for word in line.split():
                name = re.findall(r"^TM_WITH\(\[(.*?)\].*TM_CHECK_PKG\(\[\w+\], \[" + word + r"\b", configure, re.M)
                package = LIBRARIES[name[0]][0] if name else f"the package of {word}"
                if package not in brings:
                    print(f"debian: {file.name} requires {word}, but libtickmark-dev does not depend on {package}")


def main():
    configure = read("configure.ac")
    version = re.search(r"AC_INIT\(\[Tickmark\], \[(.*?)\]", configure).group(1)
    names = re.findall(r"^TM_WITH\(\[(.*?)\]", configure, re.M) + ["uthash"]
    for name in names:
        if name not in LIBRARIES:
            print(f"configure.ac looks for {name}: its packages are not in tests/house/recipes.py")
    for column, recipe in enumerate((debian, rpm, spack, easybuild, guix)):
        try:
            found, words = recipe()
        except (ValueError, SyntaxError, AttributeError, KeyError, IndexError) as e:
            print(f"{recipe.__name__}: {e}")
            continue
        if found != version:
            print(f"{recipe.__name__}: version {found}, configure.ac has {version}")
        for name in names:
            word = LIBRARIES.get(name, [""] * 5)[column]
            if word and word not in words:
                print(f"{recipe.__name__}: {word} is missing")
    check_required(configure)
    minor = re.findall(r"#define STF_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", read("include/stf.h"))
    for file, has in (("include/stf.h", ".".join(minor)), ("NEWS", read("NEWS").split()[1])):
        if has != version:
            print(f"{file}: version {has}, configure.ac has {version}")


main()
