# SPDX-License-Identifier: BSD-3-Clause
"""Untested: nobody has built Quire by Spack yet. The sources are those of this file's clone."""
import os

from spack.package import *

CLONE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))


class Quire(CMakePackage):
    """One shared memory for threads on many machines: distributed shared memory for Linux."""

    git = "file://" + CLONE

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("pmix", default=True, description="Start under Slurm, Open MPI and PRRTE")
    variant("mount", default=False, description="Containers as files (quire run --mount)")
    variant("python", default=False, description="The Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("fmt")
    depends_on("ucx@1.13:")
    depends_on("pmix@4:", when="+pmix")
    depends_on("libfuse@3.11:", when="+mount")

    extends("python@3.11:", when="+python")
    depends_on("py-numpy@1.24:", when="+python", type=("build", "run"))
    depends_on("py-cloudpickle@2:", when="+python", type=("build", "run"))

    conflicts("platform=darwin", msg="Quire is for Linux")
    conflicts("platform=windows", msg="Quire is for Linux")

    def cmake_args(self):
        with_python = self.spec.satisfies("+python")
        return [
            self.define("QUIRE_BUILD_TESTS", False),
            self.define("QUIRE_BUILD_APPS", False),
            self.define("QUIRE_PYTHON", self.spec["python"].command.path if with_python else "NO"),
        ]

    @run_after("install", when="+python")
    def install_python(self):
        destination = join_path(python_platlib, "quire")
        install_tree(join_path(self.stage.source_path, "python", "quire"), destination)
        install(join_path(self.build_directory, "python", "quire", "_native.abi3.so"), destination)

    def setup_run_environment(self, env):
        # Quire loads UCX and PMIx when it needs them, so no path in the library leads there.
        for name in ("ucx", "pmix"):
            if name in self.spec:
                env.append_path("LD_LIBRARY_PATH", self.spec[name].prefix.lib)
