from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_readers.code.definitions import analysed, definitions_of
from vicw_readers.code.outline import Definition, outline
from vicw_readers.paths import read_paths
from vicw_readers.plain.text import sections
from vicw_readers.records import Noted, SourceItem
from vicw_shared.text import lines_of, visible

_PYTHON = [
    "import os",
    "# about f\ndef f(): pass",
    "@cache\n@other(\n  1)\ndef g(x):\n    # in\n\n    return x\n# tail",
    "class A:\n    '''Doc.'''\n    x = 1\n    # about m\n    @property\n    def m(self):\n        return 1\n\n"
    "    async def n(self): ...\n\n    class B:\n        def o(self): ...\n    y = 2",
    "",
    "   ",
    "\x0c",
    "x = '''\ndef no(): pass\n\n'''",
    "if x:\n    def h(): ...",
    "s = '\\d'",
    "def broken(:",
]
_OTHER = [
    "// about f",
    "func F(a int) error {",
    "\treturn nil",
    "}",
    "func (s *Server) Start() {}",
    "type T struct {",
    "export class C {",
    "const f = async (x) => {",
    "};",
    "pub(crate) async fn go() {",
    "impl<T> Foo for Bar<T> {",
    "public final class Main {",
    "  fun inner() = 1",
    "int main(void)",
    "{",
    "def ruby",
    "end",
    "",
    "import x",
]


def defined(text: str, suffix: str) -> list[Definition]:
    analysis = analysed(text, f"m{suffix}")
    return definitions_of(analysis, text, lines_of(text)) if analysis else []


def text_of(pieces: list[str], end: str) -> str:
    return end.join(pieces).replace("\n", end)


_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
_FILES = st.builds(text_of, st.lists(st.sampled_from(_PYTHON)), _ENDS) | st.builds(
    text_of, st.lists(st.sampled_from(_OTHER)), _ENDS
)


@given(_FILES, st.sampled_from([".py", ".go", ".ts", ".rs", ".java", ".c", ".rb", ".php", ".sh"]))
def test_the_code_outline_has_every_line_in_exactly_one_part(text: str, suffix: str) -> None:
    text += "\n"
    lines = lines_of(text)
    definitions = defined(text, suffix)
    if not definitions:
        return
    parts = outline(lines, definitions)
    assert sorted(line for part in parts for line in lines_of(part.text)) == sorted(lines)
    assert sum(len(part.text) for part in parts) == len(text)
    assert all(visible(part.text) for part in parts)


@given(st.lists(st.sampled_from(["word ", "\n", "\n\n", "\r\n", "x" * 30, "\x0b"])).map("".join), st.integers(1, 60))
def test_plain_sections_concatenate_to_the_text(text: str, size: int) -> None:
    found = sections(text, size)
    assert "".join(found) == text
    assert all(visible(part) for part in found) or not visible(text)
    assert all(part.endswith(("\n", "\r")) for part in found[:-1])


def read(path: Path) -> list[tuple[str | None, str | None, str]]:
    records = [record for record in read_paths([path]) if not isinstance(record, Noted)]
    assert all(isinstance(r, SourceItem) and r.domain == "coding" for r in records)
    return [(r.item.id, r.item.subtype, r.item.text) for r in records if isinstance(r, SourceItem)]


def test_python_is_cut_into_definitions(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(
        '"""Doc."""\n\nimport os\n\n# Why.\n@cache\ndef f():\n    def inner(): ...\n\n\n'
        "class A:\n    x = 1\n\n    def f(self): ...\n\n    @x.setter\n    def f(self): ...\n\n\nX = 1\n"
    )
    assert read(file) == [
        ("m.py", "module", '"""Doc."""\n\nimport os\n\nX = 1\n'),
        ("m.py#f", "function", "# Why.\n@cache\ndef f():\n    def inner(): ...\n\n\n"),
        ("m.py#A", "class", "class A:\n    x = 1\n\n"),
        ("m.py#A.f", "method", "    def f(self): ...\n\n"),
        ("m.py#A.f-1", "method", "    @x.setter\n    def f(self): ...\n\n\n"),
    ]


@pytest.mark.parametrize("text", ["print 'two'\n", "(" * 5000, "x = 1\n"])
def test_python_that_defines_nothing_is_plain_text(tmp_path: Path, text: str) -> None:
    file = tmp_path / "m.py"
    file.write_text(text)
    assert read(file) == [("m.py#1", "document", text)]


@pytest.mark.filterwarnings("error")
def test_an_invalid_escape_gives_no_warning(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("def f(): return '\\d'\n")
    assert read(file) == [("m.py#f", "function", "def f(): return '\\d'\n")]


@pytest.mark.parametrize(
    ("suffix", "text", "name", "kind"),
    [
        (".ts", "export default async function load<T>(x: T) {}", "load", "function"),
        (".ts", "export abstract class Store { put() {} }", "Store", "class"),
        (".ts", "export interface Props { a: string }", "Props", "interface"),
        (".js", "const add = (a, b) => a + b;", "add", "function"),
        (".js", "function* walk() {}", "walk", "function"),
        (".go", "func (s *Server[T]) Start(ctx context.Context) error { return nil }", "Server.Start", "method"),
        (".go", "func main() {}", "main", "function"),
        (".go", "type Config struct { a int }", "Config", "class"),
        (".rs", "pub(crate) async unsafe fn go<T>() {}", "go", "function"),
        (".rs", "impl<T: Clone> Display for Wrapper<T> {\n    fn fmt(&self) {}\n}", "Wrapper.fmt", "method"),
        (".rs", "macro_rules! vec { () => {} }", "vec", "function"),
        (".java", "public final class Main extends Base { void run() {} }", "Main", "class"),
        (".java", "public @interface Marker {}", "Marker", "interface"),
        (".cs", "namespace N {\n    public sealed partial class Repo { }\n}", "Repo", "class"),
        (".c", "static int parse_line(const char *s) { return 0; }", "parse_line", "function"),
        (".cpp", "void Widget::draw(int x) {}", "Widget::draw", "method"),
        (".cpp", "namespace n {\nint go() { return 1; }\n}", "go", "function"),
        (".h", "typedef struct node { int a; } node_t;", "node", "class"),
        (".rb", "module M\n  class Foo < Bar\n    def go; end\n  end\nend", "Foo", "class"),
        (".php", "<?php\nfinal class Foo { function go() {} }", "Foo", "class"),
        (".sh", "build() { true; }", "build", "function"),
    ],
)
def test_definitions_are_recognised_in_other_languages(suffix: str, text: str, name: str, kind: str) -> None:
    (found,) = defined(text, suffix)
    assert (found.name, found.kind) == (name, kind)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".c", "int declared(void);"),
        (".c", "#define MAX(a, b) ({ a > b; })"),
        (".c", "#include <stdio.h>"),
        (".js", "const x = 1;"),
        (".js", "(function () {\n  function inner() {}\n})();"),
        (".go", 'import "fmt"'),
        (".java", "import java.util.List;"),
        (".py", "if x:\n    def h(): ...\n"),
    ],
)
def test_code_without_definitions_gives_none(suffix: str, text: str) -> None:
    assert defined(text, suffix) == []


def test_a_long_python_file_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    function = f'def f():\n    return "{100_000 * "x"}"\n'
    file.write_text(function)
    assert read(file) == [("m.py#f", "function", function)]


def test_python_with_errors_is_cut_at_its_definitions(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("class Old:\n    def go(self):\n        print 'two'\n\ndef broken(:\n")
    assert [name for name, _, _ in read(file)] == ["m.py#Old", "m.py#Old.go", "m.py#broken"]


def test_go_is_cut_into_definitions(tmp_path: Path) -> None:
    file = tmp_path / "m.go"
    function = "// F does.\nfunc F(\n\tx int,\n) error {\n\treturn nil\n}\n\n"
    file.write_text(f"package m\n\n{function}var X = 1\n\ntype T int\n")
    assert read(file) == [
        ("m.go", "module", "package m\n\nvar X = 1\n\n"),
        ("m.go#F", "function", function),
        ("m.go#T", "type", "type T int\n"),
    ]


def test_long_plain_text_is_cut_at_blank_lines(tmp_path: Path) -> None:
    file = tmp_path / "story.txt"
    paragraph = "word " * 500 + "\n\n"
    file.write_text(paragraph * 3)
    records = [r for r in read_paths([file]) if isinstance(r, SourceItem)]
    assert [(r.item.id, r.item.name, r.item.subtype, r.line) for r in records] == [
        ("story.txt#1", "story.txt", "section", 1),
        ("story.txt#2", "story.txt (2)", "section", 3),
        ("story.txt#3", "story.txt (3)", "section", 5),
    ]
    assert [r.domain for r in records] == [None] * 3


def test_a_file_that_the_grammar_does_not_understand_is_named_and_kept(tmp_path: Path) -> None:
    text = "fn before() {}\n\nfn bad() { let x = @@; }\n\nfn after() {}\n"
    (tmp_path / "a.rs").write_text(text, "utf-8")
    note, *items = read_paths([tmp_path])
    assert isinstance(note, Noted)
    assert (note.line, note.reason) == (3, "has what the grammar of rust does not understand: it stays as text")
    found = [one.item for one in items if isinstance(one, SourceItem)]
    assert {"before", "after"} <= {one.name for one in found}
    assert sorted("".join(one.text for one in found)) == sorted(text)
