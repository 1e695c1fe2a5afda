"""Syntax of recent years: it is understood, or what stands around it is read all the same."""

from __future__ import annotations

import pytest

from vicw_core.code.code_analysis import DEFAULT_BOUNDS, analyse_in_process
from vicw_core.code.model import CodeAnalysis

_CPP = """\
module;
#include <vector>
export module shop.cart;
import std;
import :detail;
export namespace shop {
template <typename T>
concept Priced = requires(T t) { { t.price() } -> std::convertible_to<double>; };
class Cart {
public:
    auto total() const -> double { return 1.0; }
    auto operator<=>(const Cart&) const = default;
    template <Priced T> void add(T&& t) requires std::copyable<T> { items.push_back(t); }
};
auto sum(Priced auto const& x) { return x.price(); }
co::task<int> fetch(int id) { co_return co_await get(id); }
}
export template <class T> auto make(T t) -> std::unique_ptr<T> { return nullptr; }
export int plain() { return 1; }
"""
_JAVA = '''\
import module java.base;
public sealed interface Shape permits Circle, Square {}
record Circle(double r) implements Shape {
    Circle { if (r < 0) throw new IllegalArgumentException(); }
}
non-sealed class Square implements Shape {}
class A {
    static final String TEXT = """
        Hello "world"
        """;
    String describe(Object o) {
        return switch (o) {
            case null -> "null";
            case Circle(double r) when r > 1 -> "big";
            case Integer i -> { yield "int"; }
            default -> "x";
        };
    }
    boolean isBig(Object o) { return o instanceof Circle(var r) && r > 0; }
}
void main() { IO.println("hi"); }
'''
_GO = """\
package shop
import "iter"
type Number interface { ~int | ~float64 }
type Set[T comparable] struct{ m map[T]struct{} }
type Alias[T any] = Set[T]
func (s *Set[T]) All() iter.Seq[T] {
    return func(yield func(T) bool) { for v := range s.m { if !yield(v) { return } } }
}
func Map[T, U any](xs []T, f func(T) U) []U { for i := range 10 { _ = i }; return nil }
"""
_RUST = """\
pub trait Lend { type Item<'a> where Self: 'a; async fn go(&self) -> u32; }
impl<T> Lend for Vec<T> { type Item<'a> = &'a T where Self: 'a; async fn go(&self) -> u32 { 1 } }
fn parse(s: &str) -> Option<u32> {
    let Some((a, b)) = s.split_once(':') else { return None; };
    let f = async |x: u32| x + 1;
    if let Some(x) = a.parse().ok() && x > 3 { return Some(x); }
    Some(1)
}
trait Both = Clone + Send;
unsafe extern "C" { pub safe fn sqrt(x: f64) -> f64; }
impl const Default for Both2 { fn default() -> Self { Both2 } }
fn it() -> impl Iterator<Item = u32> + use<'_> { std::iter::empty() }
"""
_PHP = """\
<?php
#[Attribute(Attribute::TARGET_CLASS)]
final readonly class Point { public function __construct(private int $x = 0) {} }
enum Suit: string {
    case Hearts = 'H'; const Wild = self::Hearts;
    public function label(): string { return match($this) { self::Hearts => 'h' }; }
}
class User {
    public string $name { get => ucfirst($this->name); set(string $v) { $this->name = $v; } }
    public private(set) string $email;
    final public const string TYPE = 'u';
    #[Pure] public function pick(A&B $x, (A&B)|null $y): never { $f = strlen(...); throw new E; }
}
"""


def analysis_of(text: str, path: str) -> CodeAnalysis:
    found = analyse_in_process(text, path, None, DEFAULT_BOUNDS)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        (
            "a.cppm",
            _CPP,
            "shop shop.Priced shop.Cart shop.Cart.total shop.Cart.operator<=> shop.Cart.add "
            "shop.sum shop.fetch make plain",
        ),
        ("A.java", _JAVA, "Shape Circle Circle.Circle Square A A.TEXT A.describe A.isBig main"),
        ("a.go", _GO, "Number Set Alias Set.All Map"),
        ("a.rs", _RUST, "Lend Lend.go Vec.Item Vec.go parse sqrt Both2.default it"),
        ("a.php", _PHP, "Point Point.__construct Suit Suit.Wild Suit.label User User.TYPE User.pick"),
    ],
)
def test_current_syntax_is_understood(path: str, text: str, names: str) -> None:
    found = analysis_of(text, path)
    assert [symbol.qualified for symbol in found.symbols] == names.split()
    assert found.wrong == ()


@pytest.mark.parametrize(
    ("path", "before", "failed", "after"),
    [
        ("a.cpp", "int before() { return 1; }", "int bad() { return @@; }", "int after() { return 2; }"),
        ("a.cpp", "int before() { return 1; }", "auto bad = ^^[: int :] ;", "int after() { return 2; }"),
        ("A.java", "class Before { void f() {} }", "class Bad { int x = @@ ; }", "class After { void g() {} }"),
        ("a.go", "package p\nfunc Before() {}", "func Bad() { x := @@ }", "func After() {}"),
        ("a.rs", "fn before() {}", "fn bad() { let x = @@; }", "fn after() {}"),
        ("a.php", "<?php\nfunction before() {}", "function bad() { $x = @@ ; }", "function after() {}"),
    ],
)
def test_what_lies_outside_the_failed_part_is_read(path: str, before: str, failed: str, after: str) -> None:
    text = f"{before}\n{failed}\n{after}\n"
    found = analysis_of(text, path)
    names = [symbol.qualified.lower() for symbol in found.symbols]
    assert "before" in names
    assert "after" in names
    assert text.count("\n", 0, found.wrong[0].start) == before.count("\n") + 1
