"""Stack traces are read as their programs print them, whole and with what brought them about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_ingest.extraction.code.trace_mapper import parse_traces
from vicw_ingest.extraction.code.traces.model import FailureLink, StackTrace

PYTHON = """It died again:
2024-05-01 ERROR app: Traceback (most recent call last):
  File "/srv/app/db.py", line 12, in connect
    sock = make(
        host, port)
           ^^^^
  File "/usr/lib/python3.12/socket.py", line 3, in make
    raise X
ConnectionRefusedError: [Errno 111] Connection refused

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/app/main.py", line 7, in start
    run()
  [Previous line repeated 3 more times]
app.errors.StartError: no database

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/main.py", line 9, in stop
KeyError
Then we gave up.
"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: could not start
 for good
\tat com.acme.App.start(App.java:42)
\tat java.base/java.lang.Thread.run(Thread.java:833)
\tSuppressed: java.io.IOException: closed
\t\tat com.acme.X.close(X.java:1)
Caused by: com.acme.DbException: no db
\tat com.acme.Db.<init>(Db.java:7) ~[app.jar:1.0]
\t... 12 more
Caused by: java.net.ConnectException: refused
\tat java.base/sun.nio.ch.Net.pollConnect(Native Method)
\t... 14 common frames omitted
"""
NODE = """TypeError: Cannot read properties of undefined (reading 'id')
    at new User (/srv/app/src/user.js:10:15)
    at async Promise.all (index 0)
    at Object.<anonymous> (/srv/app/node_modules/x/index.js:1:1)
    at node:internal/main/run_main:28:49 {
  code: 'E_X',
  [cause]: Error: no row
      at query (/srv/app/src/db.js:4:9)
}
"""
BROWSER = "Uncaught Error: boom\nrender@http://localhost/js/main.js:12:5\n@http://localhost/x.js:1:2\n"
DOTNET = """Unhandled exception. System.InvalidOperationException: outer
 ---> System.NullReferenceException: Object reference not set
   at Acme.Db.Get(String id, Int32 n) in C:\\src\\Db.cs:line 12
   --- End of inner exception stack trace ---
   at Acme.Service.Run() in C:\\src\\S.cs:Zeile 40
--- End of stack trace from previous location ---
   at System.Threading.Tasks.Task.Execute()
"""
GO = """panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4]

goroutine 1 [running]:
panic({0x1, 0x2})
\t/usr/local/go/src/runtime/panic.go:884 +0x212
main.(*Store).Get(0x0, {0x4, 0x5})
\t/home/me/app/store.go:12 +0x1d
created by main.main in goroutine 1
\t/home/me/app/main.go:9 +0x5
exit status 2
"""
RUST = """thread 'main' panicked at src/store.rs:4:5:
index out of bounds: the len is 3
stack backtrace:
   0: rust_begin_unwind
             at /rustc/abc123/library/std/src/panicking.rs:595:5
   1: app::store::Store::get::h0123456789abcdef
             at ./src/store.rs:4:5
   2: app::main
             at ./src/main.rs:10:5
note: Some details are omitted
"""
RUBY = """app/store.rb:12:in `get': undefined method `x' for nil (NoMethodError)
\tfrom app/run.rb:3:in `block in run'
\tfrom /usr/lib/ruby/gems/3.0/gems/rake/a.rb:1:in `each'
app/db.rb:3:in 'Db#open': refused (Errno::ECONNREFUSED)
\tfrom app/store.rb:10:in 'Store#get'
"""
ALL = (PYTHON, JAVA, NODE, BROWSER, DOTNET, GO, RUST, RUBY)


def parse_single_trace(text: str) -> StackTrace:
    (trace,) = parse_traces(text)
    return trace


def errors(trace: StackTrace) -> list[tuple[str, str, FailureLink | None]]:
    return [(failure.error, failure.message, failure.link) for failure in trace.failures]


def first_own_frames(trace: StackTrace) -> list[tuple[str | None, str | None, int | None] | None]:
    frames = [next((frame for frame in failure.frames if not frame.library), None) for failure in trace.failures]
    return [(frame.function, frame.file, frame.line) if frame else None for frame in frames]


def test_a_python_traceback_is_parsed_with_its_chained_exceptions() -> None:
    trace = parse_single_trace(PYTHON)
    assert errors(trace) == [
        ("KeyError", "", FailureLink.DURING),
        ("app.errors.StartError", "no database", FailureLink.CAUSED),
        ("ConnectionRefusedError", "[Errno 111] Connection refused", None),
    ]
    assert first_own_frames(trace) == [
        ("stop", "/srv/app/main.py", 9),
        ("start", "/srv/app/main.py", 7),
        ("connect", "/srv/app/db.py", 12),
    ]
    assert [frame.function for frame in trace.failures[-1].frames] == ["make", "connect"]
    assert PYTHON[: trace.span.start] == "It died again:\n"
    assert PYTHON[trace.span.end :] == "\nThen we gave up.\n"


def test_a_traceback_that_is_quoted_or_indented_is_read() -> None:
    bare = PYTHON.partition("\n")[2]
    for mark in ("> ", "    ", "\t"):
        assert errors(parse_single_trace("".join(mark + line for line in bare.splitlines(keepends=True)))) == errors(
            parse_single_trace(PYTHON)
        )


def test_an_exception_group_is_parsed_with_its_members() -> None:
    text = """  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in f
  | ExceptionGroup: both (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "b.py", line 5, in g
    | ValueError: 1
    +------------------------------------
"""
    assert [trace.failures[0].error for trace in parse_traces(text)] == ["ExceptionGroup", "ValueError"]


def test_java_causes_are_parsed_and_suppressed_exceptions_are_not() -> None:
    trace = parse_single_trace(JAVA)
    assert trace.language == "java"
    assert errors(trace) == [
        ("java.lang.IllegalStateException", "could not start\nfor good", FailureLink.CAUSED),
        ("com.acme.DbException", "no db", FailureLink.CAUSED),
        ("java.net.ConnectException", "refused", None),
    ]
    assert first_own_frames(trace) == [
        ("com.acme.App.start", "App.java", 42),
        ("com.acme.Db.<init>", "Db.java", 7),
        None,
    ]


def test_a_node_error_cause_is_parsed_from_the_error_properties() -> None:
    trace = parse_single_trace(NODE)
    assert trace.language == "javascript"
    assert errors(trace) == [
        ("TypeError", "Cannot read properties of undefined (reading 'id')", FailureLink.CAUSED),
        ("Error", "no row", None),
    ]
    assert first_own_frames(trace) == [("User", "/srv/app/src/user.js", 10), ("query", "/srv/app/src/db.js", 4)]
    assert [frame.library for frame in trace.failures[0].frames] == [False, True, True, True]


def test_browser_stack_frames_are_parsed() -> None:
    assert first_own_frames(parse_single_trace(BROWSER)) == [("render", "http://localhost/js/main.js", 12)]


@pytest.mark.parametrize(
    "head",
    [
        "Unhandled exception. System.InvalidOperationException: outer\n ---> System.NullReferenceException: Object",
        "System.InvalidOperationException: outer ---> System.NullReferenceException: Object",
    ],
)
def test_a_dotnet_inner_exception_is_parsed_as_the_cause(head: str) -> None:
    trace = parse_single_trace(head + DOTNET[DOTNET.index(" reference") :])
    assert trace.language == "csharp"
    assert errors(trace) == [
        ("System.InvalidOperationException", "outer", FailureLink.CAUSED),
        ("System.NullReferenceException", "Object reference not set", None),
    ]
    assert first_own_frames(trace) == [("Acme.Service.Run", "C:\\src\\S.cs", 40), ("Acme.Db.Get", "C:\\src\\Db.cs", 12)]


def test_a_go_panic_is_read_with_its_goroutine() -> None:
    trace = parse_single_trace(GO)
    assert errors(trace) == [("runtime error", "invalid memory address or nil pointer dereference", None)]
    assert first_own_frames(trace) == [("main.(*Store).Get", "/home/me/app/store.go", 12)]
    assert [frame.function for frame in trace.failures[0].frames] == ["panic", "main.(*Store).Get", "main.main"]


def test_a_rust_panic_is_read_with_and_without_a_backtrace() -> None:
    assert errors(parse_single_trace(RUST)) == [("panic", "index out of bounds: the len is 3", None)]
    assert first_own_frames(parse_single_trace(RUST)) == [("app::store::Store::get", "./src/store.rs", 4)]
    old = parse_single_trace("thread 'w' panicked at 'called `unwrap()` on `None`', src/lib.rs:7:8\n")
    assert errors(old) == [("panic", "called `unwrap()` on `None`", None)]
    assert first_own_frames(old) == [(None, "src/lib.rs", 7)]


def test_a_ruby_cause_is_parsed_after_the_frames_of_the_error() -> None:
    trace = parse_single_trace(RUBY)
    assert errors(trace) == [
        ("NoMethodError", "undefined method `x' for nil", FailureLink.CAUSED),
        ("Errno::ECONNREFUSED", "refused", None),
    ]
    assert first_own_frames(trace) == [("get", "app/store.rb", 12), ("Db#open", "app/db.rb", 3)]


def test_several_traces_of_one_text_are_kept_apart() -> None:
    assert [trace.language for trace in parse_traces("\n\n".join(ALL))] == [
        "python", "java", "javascript", "javascript", "csharp", "go", "rust", "ruby",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Traceback (most recent call last):",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\n\nand so on",
        "panic: at the disco",
        "We met at noon (at the bank.)\nat home",
        "\tat a.b.C(D.java:1)\n",
        "An Error: see below\nin particular this",
    ],
)  # fmt: skip
def test_text_that_is_no_stack_trace_is_not_read_as_one(text: str) -> None:
    assert parse_traces(text) == []


@given(st.lists(st.sampled_from([line + "\n" for text in ALL for line in text.splitlines()]), max_size=30))
def test_any_order_of_trace_lines_keeps_spans_nested_and_ordered(lines: list[str]) -> None:
    text = "".join(lines)
    behind = 0
    for trace in parse_traces(text):
        assert behind <= trace.span.start <= trace.span.end <= len(text)
        behind = trace.span.end
        assert all(trace.span.start <= one.span.start <= one.span.end <= trace.span.end for one in trace.failures)
        assert [one.link is None for one in trace.failures] == [False] * (len(trace.failures) - 1) + [True]


@given(st.text(max_size=200))
def test_any_text_is_parsed_for_stack_traces_without_an_error(text: str) -> None:
    parse_traces(text)
