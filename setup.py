"""Builds the wheel: the Python files of python/sinew, and the C library inside, for every Python from 3.9.

SINEW_LIBRARY names a libsinew_c.so that is built already, or a sinew_c.dll for the wheel for Windows; without it CMake compiles one
without optional libraries and with the C++ runtime inside, so that it runs with glibc 2.28 and later. SINEW_BUILD names the folder to compile in, which may be used again.
"""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"project\(sinew VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
FOR_WINDOWS = os.environ.get("SINEW_LIBRARY", "").endswith(".dll")
# Libraries of every Linux; all others that the library needs travel with it.
OF_THE_SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so|ld-linux|linux-vdso")


def compiled(work):
    """Compiles libsinew_c.so in the folder `work`."""
    configure = ["cmake", "-S", ROOT, "-B", work, "-DCMAKE_BUILD_TYPE=Release", "-DSINEW_GL=OFF",
                 "-DSINEW_ASSIMP=OFF", "-DSINEW_PNG=OFF", "-DSINEW_BUILD_CLI=OFF", "-DSINEW_BUILD_TESTS=OFF",
                 "-DSINEW_WERROR=OFF", "-DSINEW_OLD_GLIBC=ON", "-DSINEW_UNITY=ON", "-DCMAKE_INSTALL_RPATH=$ORIGIN", "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    subprocess.run(configure, check=True)
    subprocess.run(["cmake", "--build", work, "--target", "sinew_c", "--parallel", os.environ.get("JOBS", "2")],
                   check=True)
    return work / "capi/libsinew_c.so"


def companions(library):
    """The shared libraries that it needs and that a system may not have."""
    said = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout
    for name, path in re.findall(r"(\S+) => (/\S+)", said):
        if not OF_THE_SYSTEM.match(name):
            yield name, path


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            return
        given = os.environ.get("SINEW_LIBRARY")
        library = pathlib.Path(given) if given else \
            compiled(pathlib.Path(os.environ.get("SINEW_BUILD", ROOT / "build/python")))
        package = pathlib.Path(self.build_lib) / "sinew"
        package.mkdir(parents=True, exist_ok=True)
        shutil.copy(library.resolve(), package / ("sinew_c.dll" if FOR_WINDOWS else "libsinew_c.so"))
        if not given:
            for name, path in companions(library):
                shutil.copy(path, package / name)


class AnyPython(bdist_wheel):
    """One wheel for every Python of a platform: the library is found at run time, by ctypes."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", "win_amd64" if FOR_WINDOWS else super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True  # the wheel belongs to a platform


setup(version=VERSION, distclass=WithLibrary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython})
