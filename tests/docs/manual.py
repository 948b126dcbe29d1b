# SPDX-License-Identifier: BSD-3-Clause
"""What must hold of the documents: snippets are parts of programs that the tests run, commands and options exist, links and paths lead
somewhere, names are those of the headers, no measured figure is typed by hand, quire(1) has all options. Each check takes text and
gives a list of complaints; manual_test.py applies them to the tree, and to texts with mistakes.
"""
import re
import shlex
import subprocess
from pathlib import Path

COMMANDS = ("run", "exec", "info", "config", "bench page-update", "bench multiview", "bench plurix", "bench kerrighed", "bench network", "agent",
            "report", "predict", "top", "leave", "clean")
WITH_ARGUMENT = ("report", "top", "leave")  # and options after it
SOURCES = ("src", "docs", "examples", "bench", "tests", "sim", "apps", "include", "scripts", "tools", "cmake", "program", "fortran", "python", "packaging")
GENERATED = ("docs/results.md", "docs/design/model-results.md", "docs/machines.md",  # of make bench, make model and make machines,
             "docs/python_programs.md", "docs/stock_programs.md",  # of bench/programs,
             "docs/predictions.md",  # of bench/predict,
             "docs/litmus.md",       # of tests/litmus/table.py,
             "docs/check_overhead.md",  # of bench/check/overhead.py,
             "docs/host_frames.md",     # of bench/python/host_frames_table.py,
             "docs/mutations.md",    # of scripts/mutations/run.py,
             "docs/simulated.md",    # of scripts/soak/run.py --steps,
             "docs/guide/from-python.md", "docs/guide/porting.md", "docs/guide/programs.md")  # and of pages' own scripts
COMMON_OPTIONS = ("-h", "--help", "--help-all")


# ---- Documents ---------------------------------------------------------------------------------------------------------

def documents(root):
    """All documents but the history: [(name, text)]."""
    paths = [p for p in root.glob("*.md") if p.name != "CHANGELOG.md"]
    for folder in SOURCES:
        paths += sorted((root / folder).rglob("*.md"))
    return [(str(p.relative_to(root)), p.read_text()) for p in paths]


def for_users(name):
    return name == "README.md" or name.startswith("docs/guide/")


def blocks(text):
    """Fenced blocks: [(language, [lines])]."""
    found, lines, language = [], None, ""
    for line in text.splitlines():
        fence = re.match(r"\s*```\s*(\w*)\s*$", line)
        if fence and lines is None:
            lines, language = [], fence.group(1)
        elif fence:
            found.append((language, lines))
            lines = None
        elif lines is not None:
            lines.append(line)
    return found


def without_blocks(text):
    return re.sub(r"^\s*```.*?^\s*```\s*$", "", text, flags=re.M | re.S)


# ---- Snippets ----------------------------------------------------------------------------------------------------------

SNIPPETS = ("cpp", "c", "python", "fortran")
MARKER = re.compile(r"\s*(?://|/\*|#|!)\s*\[(/?)([\w-]+)\]\s*(?:\*/)?\s*$")


def bare(lines):
    """Lines up to leading whitespace, without empty ones at the ends."""
    stripped = [line.strip() for line in lines if not MARKER.match(line)]
    while stripped and not stripped[0]:
        stripped.pop(0)
    while stripped and not stripped[-1]:
        stripped.pop()
    return tuple(stripped)


def regions(program):
    """The whole program, and what stands between `// [name]` and `// [/name]`: {name: lines}; the whole is ''."""
    lines = program.splitlines()
    found, begun = {"": bare(lines)}, {}
    for number, line in enumerate(lines):
        marker = MARKER.match(line)
        if marker and not marker.group(1):
            begun[marker.group(2)] = number
        elif marker:
            found[marker.group(2)] = bare(lines[begun.pop(marker.group(2)):number])
    if begun:
        raise ValueError(f"regions without an end: {', '.join(begun)}")
    return found


def check_snippets(name, text, programs):
    """`programs`: {path: text}. Blocks in SNIPPETS are regions of programs; others hold neither, and differences are generated."""
    known = {lines for program in programs.values() for lines in regions(program).values()}
    wrong = []
    for language, lines in blocks(text):
        if language in SNIPPETS:
            if bare(lines) not in known:
                wrong.append(f"{name}: no program in examples/guide and examples/fortran has this region:\n" + "\n".join(lines))
        elif language == "diff" and name in GENERATED:
            continue
        elif any(line.rstrip().endswith((";", "{")) for line in lines):
            wrong.append(f"{name}: this block looks like C or C++, and does not say so:\n" + "\n".join(lines))
    return wrong


def check_regions_are_shown(programs, texts):
    shown = {bare(lines) for text in texts for language, lines in blocks(text) if language in SNIPPETS}
    return [f"{path}: no document shows the region {name}" for path, program in programs.items()
            for name, lines in regions(program).items() if name and lines not in shown]


# ---- Commands and options ----------------------------------------------------------------------------------------------

def options_in_help(text):
    """{option: whether it takes a value} of a --help."""
    found = {}
    for line in text.splitlines():
        row = re.match(r"  (?:(-\w),)?(--[\w-]+)(\{[^}]*\})?( \S)?", line)
        if row:
            value = row.group(4) is not None and row.group(3) is None
            found.update({name: value for name in row.group(1, 2) if name})
    return found


def help_of(quire):
    """{command: {option: takes a value}}, of all options."""
    def text(command, option):
        return subprocess.run([quire, *command.split(), option], capture_output=True, text=True, check=True, timeout=60).stdout
    found = {command: options_in_help(text(command, "--help")) for command in COMMANDS}
    return {command: options_in_help(text(command, "--help-all")) if "--help-all" in options else options for command, options in found.items()}


def options_for_people(quire):
    """What `quire run --help` has, by long names."""
    told = subprocess.run([quire, "run", "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    return {name for name in options_in_help(told) if name.startswith("--")} - {"--help", "--help-all"}


def commands_of(quire):
    """The first words of what `quire --help` lists."""
    told = subprocess.run([quire, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    return set(re.findall(r"^  ([a-z][\w-]*) ", told.partition("Subcommands:\n")[2].partition("\n\n")[0], flags=re.M))


def commands_in(text):
    """What follows `quire` in shell lines and in code within sentences."""
    lines = [line for language, block in blocks(text) if language not in SNIPPETS for line in block]
    rest = without_blocks(text)
    lines += [line for line in rest.splitlines() if line.startswith("    ")]
    lines += re.findall(r"`([^`\n]+)`", rest)
    found = []
    for line in lines:
        for command in re.findall(r"(?:^|\s|/|\()(?<!-m )(?<!import )quire ([a-z][^|)]*)", line.partition("#")[0]):
            found.append(command.strip())
    return found


def check_command(command, helps, settings):
    """One complaint, or None. `settings`: the names that --set takes."""
    words = shlex.split(command)
    name = words.pop(0)
    if name == "bench" and words and f"bench {words[0]}" in helps:
        name = f"{name} {words.pop(0)}"
    options = helps.get(name)
    if options is None:
        return None if name == "bench" else f"`quire {name}` is not a command"
    while words:
        word = words.pop(0)
        if name in WITH_ARGUMENT and not word.startswith("-"):
            continue
        if not word.startswith("-") or word == "--":
            # A program and its arguments, or a program alone; other commands take none.
            return None if name in ("run", "exec", "predict") or word == "--" or (name == "info" and not words) else f"`quire {name}` takes no {word}"
        option, equals, value = word.partition("=")
        if option not in options:
            return f"`quire {name}` has no option {option}"
        if options[option] and not equals:
            value = words.pop(0) if words else ""
        setting = value.partition("=")[0].upper().replace("-", "_").removeprefix("QUIRE_")
        if option == "--set" and setting != "NAME" and setting not in settings:
            return f"--set knows no {setting.lower()}"
    return None


def check_commands(name, text, helps, settings):
    return [f"{name}: {wrong} (quire {command})" for command in commands_in(text)
            if (wrong := check_command(command, helps, settings)) is not None]


# ---- The manual page -----------------------------------------------------------------------------------------------------

def options_in_manual(page, command):
    """The options that have an entry in the section of a command."""
    title = f'.SH "OPTIONS OF QUIRE {command.upper()}"'.replace("-", "\\-")
    if title not in page:
        return None
    section = page.split(title, 1)[1].split("\n.SH", 1)[0].replace("\\-", "-")
    entries = re.findall(r"^\.TP\n(\.[BI].*)$", section, flags=re.M)
    return {option for entry in entries for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", entry)}


def check_manual(page, helps):
    wrong = []
    for command, options in helps.items():
        told = options_in_manual(page, command)
        if told is None and command in WITH_ARGUMENT:  # its entry and SYNOPSIS have them
            told = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", re.sub(r"\\f[BIR]", "", page.replace("\\-", "-")))) & set(options)
        if told is None:
            wrong.append(f"quire(1) has no section on the options of quire {command}")
            continue
        known, told = set(options) - set(COMMON_OPTIONS), told - set(COMMON_OPTIONS)
        wrong += [f"quire(1) says nothing of {o} of quire {command}" for o in sorted(known - told)]
        wrong += [f"quire(1) tells of {o}, which quire {command} does not have" for o in sorted(told - known)]
    return wrong


def check_few(page, few):
    """What quire(1) tells users to set is what `quire run --help` has, and no more than a screen of it."""
    section = page.partition(".SS What users set\n")[2].partition("\n.S")[0].replace("\\-", "-")
    told = {name for entry in re.findall(r"^\.TP\n(\..*)", section, flags=re.M) for name in re.findall(r"--[a-z][\w-]*", entry)}
    wrong = [f"quire(1) and quire run --help do not agree on {name}" for name in sorted(told ^ few)]
    return wrong + (["quire run --help has more than 15 options"] if len(few) > 15 else [])


def fields_of(struct, header):
    """The names of the fields of a struct of 64-bit numbers, but for its size."""
    body = re.search(rf"typedef struct {struct} {{(.*?)}} {struct};", header, flags=re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return [name for names in re.findall(r"uint64_t\s+([^;]+);", body) for name in re.split(r",\s*", names.strip())]


def check_counters(page, rows, header):
    """`rows`: [{name, meaning}] of the table. COUNTERS of quire(7) has just these, and so has the struct, in order."""
    section = page.split("\n.SH COUNTERS\n", 1)[-1].split("\n.SH", 1)[0].replace("\\-", "-")
    told = re.findall(r"^\.TP\n\.B (\w+)\n(.*)\.$", section, flags=re.M)
    known = [(row["name"], row["meaning"]) for row in rows]
    wrong = [f"quire(7), COUNTERS, does not say: {name}: {meaning}" for name, meaning in known if (name, meaning) not in told]
    wrong += [f"quire(7), COUNTERS, says what the table does not: {name}: {meaning}" for name, meaning in told if (name, meaning) not in known]
    if not wrong and told != known:
        wrong.append("quire(7), COUNTERS, has another order than the table")
    if fields_of("quire_counters", header) != [name for name, _ in known]:
        wrong.append("the fields of quire_counters are not the names of the table, in order")
    return wrong


def check_counter_names(name, text, counters):
    """What stands in the first column of a table of statistics is a counter."""
    return [f"{name}: {word} is no counter" for line in text.splitlines() if line.startswith("| ") and "`" in line.split("|")[1]
            for word in re.findall(r"`([a-z_]+)`", line.split("|")[1]) if word not in counters]


# ---- Invariants --------------------------------------------------------------------------------------------------------

def check_invariants(name, text, sources):
    """A README with rows `| (I1) | ...`, numbered in order; `sources`: {path: text} name none but these, and each of them somewhere."""
    rows = [int(n) for n in re.findall(r"^\| \(I(\d+)\) \|", text, flags=re.M)]
    wrong = [] if rows and rows == list(range(1, len(rows) + 1)) else [f"{name}: invariants are not numbered from 1 on: {rows}"]
    named = {int(n): path for path, source in sources.items() for n in re.findall(r"\bI(\d+)\b", source)}
    wrong += [f"{path} names (I{n}), which {name} does not have" for n, path in sorted(named.items()) if n not in rows]
    return wrong + [f"{name}: no source names (I{n})" for n in rows if n not in named]


# ---- Names, links, figures ---------------------------------------------------------------------------------------------

def check_names(name, text, variables, headers):
    """QUIRE_ words are options or stand in the headers; so do quire::names and quire_calls()."""
    wrong = [f"{name}: {word} is no option, and not in the headers" for word in sorted(set(re.findall(r"\bQUIRE_[A-Z0-9_]*[A-Z0-9]\b", text)))
             if word not in variables and not re.search(rf"\b{word}\b", headers)]
    for call in sorted(set(re.findall(r"\b(quire_\w+)\(\)", text)) | set(re.findall(r"\bquire::(\w+)", text))):
        if not re.search(rf"\b{call}\b", headers):
            wrong.append(f"{name}: {call} is not in the headers")
    return wrong


def check_sections(name, text, pages):
    """`quire(7), DEATHS` names a section of that page. `pages`: {"1": text, "7": text}."""
    text = " ".join(text.split())
    return [f"{name}: quire({page}) has no section {title}" for page, title in re.findall(r"quire\(([17])\), ([A-Z]{3}[A-Z ]*[A-Z])", text)
            if not re.search(rf'^\.SH "?{title}"?$', pages[page], flags=re.M)]


def check_links(root, name, text):
    """Links lead to files, and so do paths in code."""
    wrong, here = [], (root / name).parent
    text = without_blocks(text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path = target.partition("#")[0]
        if path and "://" not in target and not (here / path).exists():
            wrong.append(f"{name}: the link {target} leads nowhere")
    for code in re.findall(r"`([^`\n]+)`", text):
        path = code.split()[0].rstrip(".,:;") if code.split() else ""
        if path.split("/")[0] not in SOURCES or "/" not in path or re.search(r"[*<>{}|,]", path) or path in GENERATED:
            continue
        if not any((base / path).exists() for base in (root, root / "src")) and not list(root.glob(path + ".*")) and not list(root.glob(path + "_*")):
            wrong.append(f"{name}: there is no {path}")
    return wrong


FIGURE = re.compile(r"\b\d[\d.,]* ?(?:us|µs|ns|ms|GB/s|MB/s|Gbit/s|Mbit/s)\b"
                    r"|\b(?:some|several|tens?|hundreds?|thousands?|tenths?) (?:tens |hundreds )?(?:of )?(?:an? )?(?:micro|milli|nano)seconds?\b"
                    r"|\b(?:twice|times|\d+ ?%) (?:as fast|as slow|faster|slower)\b")


def check_figures(name, text):
    """What was measured stands in generated files."""
    if name in GENERATED:
        return []
    prose = re.sub(r"^\s*```c(?:pp)?$.*?^\s*```$", "", text, flags=re.M | re.S)
    return [f"{name}: a figure typed by hand: {figure}" for figure in FIGURE.findall(prose)]


# ---- The guide: one story, and its words ----------------------------------------------------------------------------------

OWN_WORDS = ("copyset", "detector", "diff", "driver", "frame", "home", "interval", "job", "launcher", "linker", "manager", "minipage", "module", "owner",
              "pin", "placement", "pool", "read-ahead", "region", "replica", "twin", "unit", "view", "write notice")
NOT_OF_THE_GUIDE = ("errand", "clerk", "doom", "habit", "withheld", "linger", "handover")


def chain(pages, first="README.md"):
    """The pages in the order in which `Next:` leads, and what is wrong with that. `pages`: {name: text}."""
    order, name = [], first
    while name in pages and name not in order:
        order.append(name)
        found = re.findall(r"^Next: \[[^\]]+\]\(([^)\s#]+)\)", pages[name], flags=re.M)
        if len(found) != 1:
            return order, [f"{name}: has {len(found)} lines that begin with `Next:` and a link"]
        name = found[0]
    wrong = [f"{name}: `Next:` leads back to it"] if name in pages else []
    return order, wrong + [f"{page}: no `Next:` leads to it" for page in sorted(set(pages) - set(order))]


def check_words(pages, glossary):
    """Own words of the guide are rows of its glossary; words of the sources alone are not in it. `pages`: {name: text}; `glossary`: a page with `## Words`."""
    rows = re.findall(r"^\| ([^|]+) \|", glossary.partition("## Words")[2], flags=re.M)
    explained = {word.strip() for row in rows for word in row.split(",")}
    wrong = []
    for name, text in pages.items():
        prose = re.sub(r"`[^`\n]+`|\]\([^)]*\)", " ", without_blocks(text)).lower()
        used = lambda word, prose=prose: re.search(rf"\b{word}s?\b", prose)  # noqa: E731
        wrong += [f"{name}: {word} is not in the glossary" for word in OWN_WORDS if word not in explained and used(word)]
        wrong += [f"{name}: {word} is a word of the sources" for word in NOT_OF_THE_GUIDE if used(word)]
    return wrong
