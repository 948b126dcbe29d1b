#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""lint.py: reads the recipes for Spack and conda as far as that goes without building them. Versions are those of CMakeLists.txt, options of CMake and files
exist, and what CMake looks for is there to be found. Spack's runs against stand-ins of Spack's directives. With rattler-build's package for Python
(scripts/recipes.sh) conda's is also rendered, which checks each key of it; nothing is built."""
import re
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CMAKE = "\n".join(path.read_text() for pattern in ("CMakeLists.txt", "[!b]*/CMakeLists.txt", "cmake/*.cmake") for path in sorted(ROOT.glob(pattern)))
VERSION = re.search(r"project\(quire VERSION (\S+)", CMAKE).group(1)
OPTIONS = set(re.findall(r"^(?:option|set)\((QUIRE_\w+) ", CMAKE, flags=re.M))
# What CMake looks for: in the recipes of Spack and conda by these names.
NEEDED = {"ucx": "ucx", "fmt": "fmt", "CLI11": "cli11", "nlohmann_json": "nlohmann"}


class Wrong(Exception):
    """A sentence on a recipe."""


def require(right, sentence):
    if not right:
        raise Wrong(sentence)


# ---- Spack ------------------------------------------------------------------------------------------------------------------

def spack_stand_ins(told):
    """A module spack.package whose directives write down what they are given."""
    module = types.ModuleType("spack.package")

    def directive(name):
        return lambda *words, **more: told.setdefault(name, []).append((words, more))
    for name in ("license", "version", "variant", "depends_on", "extends", "conflicts"):
        setattr(module, name, directive(name))
    module.run_after = lambda *words, **more: lambda function: function
    module.join_path = lambda *words: "/".join(words)
    module.python_platlib = "/prefix/lib/python"
    module.install_tree = lambda source, target: told.setdefault("copied", []).append(source)
    module.install = module.install_tree
    module.CMakePackage = type("CMakePackage", (), {"define": staticmethod(lambda name, value: (name, value))})
    module.__all__ = [name for name in vars(module) if not name.startswith("_")]
    return module


class Spec:
    """A concrete spec with some variants."""

    def __init__(self, variants):
        self._variants = variants

    def satisfies(self, what):
        return what in self._variants

    def __contains__(self, name):
        return True

    def __getitem__(self, name):
        return types.SimpleNamespace(command=types.SimpleNamespace(path="/usr/bin/python3"), prefix=types.SimpleNamespace(lib=f"/{name}/lib"))


def lint_spack():
    told = {}
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), spack_stand_ins(told)
    path = HERE / "spack" / "packages" / "quire" / "package.py"
    scope = {"__file__": str(path), "__name__": "package"}
    exec(compile(path.read_text(), path, "exec"), scope)
    depends = [words[0] for words, _ in told["depends_on"]]
    for found, name in NEEDED.items():
        require(found.lower() in CMAKE.lower(), f"CMake does not look for {found} any more")
        require(any(word.startswith(name) for word in depends), f"Spack's recipe does not depend on {name}")
    least = re.search(r"cmake_minimum_required\(VERSION (\S+)\)", CMAKE).group(1)
    require(f"cmake@{least}:" in depends, f"Spack's recipe asks for another CMake than {least}")
    variants = {words[0] for words, _ in told["variant"]}
    asked = {when for rows in told.values() for row in rows if isinstance(row, tuple) for when in re.findall(r"\+(\w+)", row[1].get("when", ""))}
    require(asked <= variants, f"Spack's recipe asks for variants that it has not: {asked - variants}")
    for chosen in ((), ("+python",)):
        package = scope["Quire"]()
        package.spec, package.stage, package.build_directory = Spec(chosen), types.SimpleNamespace(source_path=str(ROOT)), "build"
        defined = {name for name, _ in package.cmake_args()}
        require(defined <= OPTIONS, f"Spack's recipe defines options that CMake has not: {defined - OPTIONS}")
    package.install_python()
    for source in told["copied"]:
        require(source.startswith("build/") or Path(source).exists(), f"Spack's recipe copies {source}, which is not there")
    package.setup_run_environment(types.SimpleNamespace(append_path=lambda name, value: require(name == "LD_LIBRARY_PATH", name)))
    require(told["license"][0][0] == ("BSD-3-Clause",), "the license of Spack's recipe is another one")


# ---- conda ------------------------------------------------------------------------------------------------------------------

def lint_conda():
    text = (HERE / "conda" / "recipe.yaml").read_text()
    require(f'version: "{VERSION}"' in text, f"the version of conda's recipe is not {VERSION}")
    defined = set(re.findall(r"-D(QUIRE_\w+)=", text))
    require(defined and defined <= OPTIONS, f"conda's recipe defines options that CMake has not: {defined - OPTIONS}")
    for name in NEEDED.values():
        require(re.search(rf"^    - {name}", text, flags=re.M), f"conda's recipe does not depend on {name}")
    require((ROOT / re.search(r"license_file: (\S+)", text).group(1)).exists(), "the license of conda's recipe is no file")
    for header in re.findall(r"^ *- (quire/\S+\.h)$", text, flags=re.M):
        require((ROOT / "include" / header).exists(), f"conda's recipe tests for {header}, which is not there")
    require("Untested" in text.splitlines()[1], "conda's recipe does not say that it is untested")


def render_conda():
    import rattler_build
    path = HERE / "conda" / "recipe.yaml"
    variants = {"c_compiler": ["gcc"], "cxx_compiler": ["gxx"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.28"]}
    configuration = rattler_build.VariantConfig(variants)
    linux = rattler_build.RenderConfig(rattler_build.PlatformConfig(target_platform="linux-64", build_platform="linux-64", host_platform="linux-64"))
    rendered = rattler_build.Stage0Recipe.from_file(str(path)).render(configuration, linux)
    require(len(rendered) == 1, f"conda renders {len(rendered)} variants")
    package = rendered[0].recipe.package
    require((package.name, str(package.version)) == ("quire", VERSION), f"conda renders {package.name} {package.version}")


def main():
    try:
        require(f'version = "{VERSION}"' in (ROOT / "python" / "pyproject.toml").read_text(), f"the version of the wheel is not {VERSION}")
        lint_spack()
        lint_conda()
        if "--render" in sys.argv[1:]:
            render_conda()
    except Wrong as error:
        sys.exit(f"lint: {error}")
    print("the recipes of Spack and conda were read; nothing was built")


if __name__ == "__main__":
    main()
