"""Fragments, broken code, hostile input and code in an unknown language."""

import json
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vicw_core.code.code_analysis import analyse_in_process
from vicw_core.code.languages import LANGUAGES
from vicw_core.code.model import Bounds
from vicw_core.code.worker_process import IN_PROCESS_CHARACTERS, analyse_code


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("def area(r):\n    return math.pi * r ** 2\n", "python"),
        ("    def area(self):\n        return self.w * self.h\n", "python"),
        ("const area = (r) => Math.PI * r ** 2;\n", "javascript"),
        ("function area(r: number): number { return r * r; }", "typescript"),
        ('public class Main { public static void main(String[] a) { System.out.println("x"); } }', "java"),
        ("public class Store { private readonly string name; public string Name { get; set; } }", "csharp"),
        ("func Area(r float64) float64 {\n\treturn math.Pi * r * r\n}\n", "go"),
        ("pub fn area(r: f64) -> f64 { PI * r * r }", "rust"),
        ("#include <stdio.h>\nint main(void) { return 0; }\n", "c"),
        ("template <class T> T twice(T x) { return x + x; }", "cpp"),
        ("def area(r)\n  Math::PI * r ** 2\nend\n", "ruby"),
        ("<?php function area($r) { return $r * $r; }", "php"),
    ],
)
def test_the_language_of_a_code_fragment_is_detected_from_its_syntax(text: str, language: str) -> None:
    reading = analyse_code(text)
    assert reading
    assert reading.language == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n ",
        "Use the import wizard, then call the class from the module.",
        "from now on we import everything; he said so = yes",
        "She had three options: (a) leave; (b) stay.",
        "{ 'a': 1 }",
        "x = 1",
        "\x00\x01\x02 def f(): pass \x00\x03\x04\x05",
        "a" * 30_000 + " def f(): pass",
    ],
)
def test_prose_and_ambiguous_text_are_not_analysed_as_code(text: str) -> None:
    assert analyse_code(text) is None


@pytest.mark.parametrize(
    ("path", "language", "text", "told"),
    [
        ("a/Rakefile", None, "task :x", "ruby"),
        ("A.PY", None, "x = 1", "python"),
        ("C:\\src\\a.go", None, "package a", "go"),
        (None, "py", "x = 1", "python"),
        (None, "{.python .line-numbers}", "x = 1", "python"),
        (None, "C++", "int x;", "cpp"),
        (None, "ts title=a.ts", "let x = 1", "typescript"),
        (None, None, "#!/usr/bin/env -S python3 -u\nx = 1", "python"),
        (None, None, "#!/bin/sh\nx", "bash"),
        ("run", None, "#!/usr/bin/node\nx", "javascript"),
    ],
)
def test_the_language_is_taken_from_the_path_fence_label_or_shebang(
    path: str | None, language: str | None, text: str, told: str
) -> None:
    reading = analyse_code(text, path=path, language=language)
    assert reading
    assert (reading.language, reading.path) == (told, path)


def test_code_in_an_unknown_language_is_not_analysed() -> None:
    assert analyse_code("def f(): pass", path="a.sql") is None
    assert analyse_code("def f(): pass", language="cobol") is None


def test_a_wrong_language_label_is_overridden_by_the_syntax() -> None:
    reading = analyse_code("package main\n\nfunc Run(a int) error {\n\treturn stop(a)\n}\n", language="python")
    assert reading
    assert reading.language == "go"


def test_a_file_with_syntax_errors_yields_its_valid_symbols_and_imports() -> None:
    reading = analyse_code(
        "import os\ndef whole():\n    os.getcwd()\n\ndef broken(:\n    pass\n\nclass Also:\n    pass\n", path="a.py"
    )
    assert reading
    assert 0 < reading.broken < 1
    assert {"whole", "Also"} <= {symbol.qualified.rpartition(".")[2] for symbol in reading.symbols}
    assert [one.module for one in reading.imports] == ["os"]


def test_code_spans_count_characters_not_bytes() -> None:
    text = '# "😀" 漢字\ndef größe(x):\n    "Ä."\n    länge(x)\n'
    reading = analyse_code(text, path="a.py")
    assert reading
    (symbol,) = reading.symbols
    assert text[symbol.span.start : symbol.span.end].startswith("def größe")
    assert (symbol.doc, text[reading.calls[0].span.start : reading.calls[0].span.end]) == ("Ä.", "länge")


def test_a_lone_surrogate_does_not_shift_code_spans() -> None:
    text = "# \ud800\ndef f(): pass\n"
    reading = analyse_code(text, path="a.py")
    assert reading
    assert text[reading.symbols[0].span.start :] == "def f(): pass\n"


def test_a_relative_import_that_leaves_the_root_is_not_resolved() -> None:
    reading = analyse_code("from ...a import b\nfrom .c import d\n", path="pkg/m.py")
    assert reading
    assert [one.resolved for one in reading.imports] == [None, "pkg/c"]


def test_the_span_of_a_symbol_includes_its_decorator() -> None:
    text = "@outer\nclass A:\n    @inner\n    def last(self):\n        pass"
    reading = analyse_code(text, path="a.py")
    assert reading
    assert [text[symbol.span.start :][:6] for symbol in reading.symbols] == ["@outer", "@inner"]


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("help", {"help"}),
        ("x = help", {"help"}),
        ("run(help) if help", {"help"}),
        ("help.to_s", {"help"}),
        ("help = 1\n    help", set()),
        ("[1].each { |help| help }", set()),
        ("other", set()),
    ],
)
def test_bare_ruby_names_are_method_calls_unless_shadowed_by_a_variable(body: str, calls: set[str]) -> None:
    reading = analyse_code(f"class A\n  def go\n    {body}\n  end\n  def help\n  end\nend\n", path="a.rb")
    assert reading
    assert {call.callee for call in reading.calls if call.target == "A.help"} == calls
    assert "other" not in {call.callee for call in reading.calls}


def test_code_analysis_keeps_the_bounds_on_symbols_calls_and_imports() -> None:
    bounds = Bounds(characters=2_000, symbols=5, calls=7, imports=3)
    reading = analyse_code(
        "import a\n" * 50 + "".join(f"def f{n}(): g{n}()\n" for n in range(500)), path="a.py", bounds=bounds
    )
    assert reading
    assert (len(reading.symbols), len(reading.calls), len(reading.imports)) == (5, 7, 3)


def test_definitions_nested_too_deep_are_left_out() -> None:
    text = "".join(f"{' ' * n}class C{n}:\n" for n in range(500)) + " " * 500 + "pass\n"
    reading = analyse_code(text, path="a.py")
    assert reading
    assert len(reading.symbols) == Bounds().depth + 1


def test_code_analysis_without_time_left_returns_none() -> None:
    assert analyse_code("a.b(c)\n" * 50, path="a.py", bounds=Bounds(seconds=0)) is None


def test_a_long_file_is_analysed_as_by_in_process_analysis() -> None:
    text = "import os\n" + "".join(f"def f{n}():\n    os.read({n})\n" for n in range(1_000))
    reading = analyse_code(text, path="a.py")
    assert reading
    assert reading == analyse_in_process(text, "a.py", None, Bounds())
    assert len(reading.symbols) == len(reading.calls) == 1_000


@pytest.mark.parametrize("unit", [".a()", "a=>"])
def test_a_parser_that_exceeds_its_time_limit_is_stopped(unit: str) -> None:
    start = time.monotonic()
    assert analyse_code(unit * 50_000, path="a.java", bounds=Bounds(seconds=1)) is None
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("unit", ["(", "{", "a(", "a<", ".a()", "[1,2],", "if a:\n ", "class A {", "<<E ", "/*", "in "])
@pytest.mark.parametrize("language", LANGUAGES)
def test_analysis_of_hostile_code_ends_in_bounded_time(unit: str, language: str) -> None:
    start = time.monotonic()
    analyse_in_process(unit * (IN_PROCESS_CHARACTERS // len(unit)), None, language, Bounds(seconds=1))
    assert time.monotonic() - start < 15


SIGNS = "def |class |import |function |use |{|}|(|)|::|.|a|B|\n|    |=|\"|'|<|>|#|/*|*/|@|é|😀|\ud800|;"
CODE = st.lists(st.sampled_from(SIGNS.split("|"))).map("".join)


@settings(max_examples=60, deadline=None)
@given(text=CODE, language=st.sampled_from([*LANGUAGES, None]))
def test_code_analysis_of_any_text_keeps_spans_inside_the_text(text: str, language: str | None) -> None:
    reading = analyse_code(text, language=language, path=None)
    if reading:
        assert 0 <= reading.broken <= 1
        spans = [one.span for one in reading.symbols] + [one.span for one in reading.imports]
        for span in spans + [one.span for one in reading.calls]:
            assert 0 <= span.start <= span.end <= len(text)


def test_a_grammar_is_loaded_only_when_its_language_is_analysed() -> None:
    program = (
        "import json, sys; from vicw_core.code.worker_process import analyse_code; "
        "before = [m for m in sys.modules if m.startswith('tree_sitter')]; analyse_code('x = 1', path='a.py'); "
        "print(json.dumps([before, sorted(m for m in sys.modules if m.startswith('tree_sitter_') and '.' not in m)]))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == [[], ["tree_sitter_python"]]
