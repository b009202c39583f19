"""Docstrings of public names have sections as numpydoc reads them, and name what there is."""

import dataclasses
import importlib
import inspect
import re

import pytest

from dpaudit.mechanisms import ExampleMechanism

SECTIONS = {
    "Parameters",
    "Attributes",
    "Returns",
    "Raises",
    "Warns",
    "Notes",
    "References",
    "Examples",
}
ROOMS = (
    "",
    ".adapters",
    ".datasets",
    ".errors",
    ".exact",
    ".laws",
    ".mechanisms",
    ".mechanisms.broken",
    ".mechanisms.textbook",
    ".neighbours",
    ".one_run",
    ".papers",
    ".papers.printed",
    ".power",
    ".report",
    ".run",
    ".scoring",
    ".testing",
)
HEADING = re.compile(r"^(\S.*)\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(\*\*\w+|\w+(?:, \w+)* : \S.*)\n {4}\S", re.MULTILINE)


def sections(docstring):
    """The text of each section by its heading."""
    parts = HEADING.split(docstring)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def named(docstring, section):
    """The names that a section describes, each with a type (but **options) and a text."""
    entries = ENTRY.findall(sections(docstring).get(section, ""))
    names = [entry.split(" : ")[0].lstrip("*") for entry in entries]
    return [name for several in names for name in several.split(", ")]


def lines_without_indent(text):
    return [line for line in text.splitlines() if re.match(r"\S", line)]


def is_public(name):
    return not name.startswith("_")


def public_names(room):
    module = importlib.import_module(f"dpaudit{room}")
    names = getattr(module, "__all__", None) or filter(is_public, vars(module))
    for name in names:
        thing = getattr(module, name)
        if str(getattr(thing, "__module__", "")).startswith("dpaudit") and callable(thing):
            yield name, thing


def with_methods(name, thing):
    """A callable, and what a class defines itself: methods and properties."""
    yield name, thing
    if not inspect.isclass(thing):
        return
    for key, member in vars(thing).items():
        member = getattr(member, "func", getattr(member, "fget", member))
        member = getattr(member, "__func__", member)
        if is_public(key) and inspect.isfunction(member):
            yield f"{name}.{key}", member


def excused(thing):
    """Example mechanisms have parameters that their base class describes by kind."""
    return issubclass(thing, ExampleMechanism)


def faults_of(thing):
    docstring = inspect.getdoc(thing) or ""
    found = sections(docstring)
    if unknown := found.keys() - SECTIONS:
        yield f"unknown sections {unknown}"
    if (">>> " in docstring) != ("Examples" in found):
        yield "examples stand in a section Examples"
    for section in {"Parameters", "Attributes"} & found.keys():
        if len(lines_without_indent(found[section])) > len(ENTRY.findall(found[section])):
            yield f"{section} has an entry that is not 'name : type' with a text below"
    if "Parameters" in found:
        taken = [
            name for name in inspect.signature(thing).parameters if name not in ("self", "cls")
        ]
        if named(docstring, "Parameters") != taken:
            yield f"Parameters names {named(docstring, 'Parameters')}, it takes {taken}"
    if inspect.isclass(thing) and dataclasses.is_dataclass(thing) and not excused(thing):
        described = {*named(docstring, "Parameters"), *named(docstring, "Attributes")}
        if missing := {f.name for f in dataclasses.fields(thing) if is_public(f.name)} - described:
            yield f"does not name {missing}"


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: f"dpaudit{room}")
def test_sections_name_every_parameter_and_attribute(room):
    faults = [
        f"{name}: {fault}"
        for public, thing in public_names(room)
        for name, member in with_methods(public, thing)
        for fault in faults_of(member)
    ]
    assert faults == []


def test_a_wrong_docstring_is_noticed():
    def taken(one, two):
        """Sum.

        Parameters
        ----------
        one : int, the first. two : int

        >>> 1
        1
        """

    assert len(list(faults_of(taken))) == 3


def test_no_description_is_a_letter_which_pages_would_number():
    """A line "D." is the fourth item of a list to docutils."""
    for room in ROOMS:
        for name, thing in public_names(room):
            for full, part in with_methods(name, thing):
                text = inspect.getdoc(part) or ""
                assert not re.search(r"^\s*[A-Za-z]\.$", text, re.MULTILINE), f"{room}.{full}"
