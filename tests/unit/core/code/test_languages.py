"""In each language, definitions, what holds them, imports, calls and bases are what a reader sees."""

from dataclasses import dataclass

import pytest

from vicw_core.code.languages import LANGUAGES
from vicw_core.code.model import CodeAnalysis
from vicw_core.code.worker_process import analyse_code


@dataclass(frozen=True)
class Case:
    path: str
    text: str
    symbols: dict[str, str]
    containers: dict[str, str | None]
    docs: dict[str, str]
    imports: dict[str, str | None]
    calls: set[tuple[str | None, str, str | None, str | None]]
    bases: set[tuple[str, str, str | None]]


CASES = {
    "python": Case(
        "shop/orders/basket.py",
        '''"""Baskets."""
import os.path
from ..stock import reserve as hold
from . import prices

LIMIT = 20

class Base: ...

@registered
class Basket(Base, prices.Listed):
    """What is bought.

    More."""
    def add(self, item):
        hold(item)
        self.check()
        total([item])
    def check(self):
        return os.path.join("a", "b")

# Sums up.
def total(items):
    def one(i): return prices.of(i)
    return sum(one(i) for i in items)
''',
        {"LIMIT": "constant", "Base": "class", "Basket": "class", "Basket.add": "method", "Basket.check": "method",
         "total": "function", "total.one": "function"},
        {"Basket": None, "Basket.add": "Basket", "total.one": "total"},
        {"Basket": "What is bought.", "total": "Sums up."},
        {"os.path": None, "..stock": "shop/stock", ".": "shop/orders"},
        {("Basket.add", "hold", None, "..stock"), ("Basket.add", "self.check", "Basket.check", None),
         ("Basket.add", "total", "total", None), ("Basket.check", "os.path.join", None, "os.path"),
         ("total.one", "prices.of", None, "."), ("total", "one", "total.one", None)},
        {("Basket", "Base", "Base"), ("Basket", "prices.Listed", None)},
    ),
    "javascript": Case(
        "web/src/cart.js",
        '''import Store, { save as keep } from "../store.js";
const fs = require("fs");
/** The cart. */
export class Cart extends Store {
  total = () => this.sum();
  sum() { keep(this); return [].map(x => x.price()); }
}
// Opens it.
const open = async () => { new Cart(); fs.readFile("a"); };
exports.close = function () { open(); };
''',
        {"Cart": "class", "Cart.total": "method", "Cart.sum": "method", "open": "function", "close": "function"},
        {"Cart.sum": "Cart", "open": None},
        {"Cart": "The cart.", "open": "Opens it."},
        {"../store.js": "web/store.js", "fs": None},
        {("Cart.total", "this.sum", "Cart.sum", None), ("Cart.sum", "keep", None, "../store.js"),
         ("open", "Cart", "Cart", None), ("open", "fs.readFile", None, "fs"), ("close", "open", "open", None)},
        {("Cart", "Store", None)},
    ),
    "typescript": Case(
        "web/src/user.ts",
        '''import * as api from "./api";
export interface Named { name(): string }
type Id = string | number;
enum Role { Admin }
namespace Rights { export function may(r: Role) { return api.ask(r); } }
export const HOME = "/";
abstract class Person<T> implements Named, api.Kept<T> { abstract name(): string; load(): void { this.name(); } }
''',
        {"Named": "interface", "Named.name": "method", "Id": "type", "Role": "type", "Rights": "module",
         "Rights.may": "function", "HOME": "constant", "Person": "class", "Person.name": "method",
         "Person.load": "method"},
        {"Rights.may": "Rights"},
        {},
        {"./api": "web/src/api"},
        {("Rights.may", "api.ask", None, "./api"), ("Person.load", "this.name", "Person.name", None)},
        {("Person", "Named", "Named"), ("Person", "api.Kept", None)},
    ),
    "tsx": Case(
        "web/src/app.tsx",
        '''import { Card } from "./card";
export function App(p: Props) { return <div><Card x={p.x}/><Row/></div>; }
const Row = () => <b>row</b>;
''',
        {"App": "function", "Row": "function"},
        {},
        {},
        {"./card": "web/src/card"},
        {("App", "Card", None, "./card"), ("App", "Row", "Row", None)},
        set(),
    ),
    "java": Case(
        "src/Basket.java",
        '''package shop.orders;
import java.util.List;
/** Holds what is bought. */
@Kept
public class Basket<T> extends Base<T> implements Priced {
    static final int LIMIT = 20;
    /**
     * Makes <b>one</b>.
     */
    Basket() { check(); List.of(1); new Line(2); }
    private void check() { this.store.put(1).flush(); }
    record Line(int n) {}
    interface Inner extends Priced {}
}
''',
        {"Basket": "class", "Basket.LIMIT": "constant", "Basket.Basket": "method", "Basket.check": "method",
         "Basket.Line": "class", "Basket.Inner": "interface"},
        {"Basket.Line": "Basket"},
        {"Basket": "Holds what is bought.", "Basket.Basket": "Makes one."},
        {"java.util.List": None},
        {("Basket.Basket", "check", "Basket.check", None), ("Basket.Basket", "List.of", None, "java.util.List"),
         ("Basket.Basket", "Line", "Basket.Line", None), ("Basket.check", ".flush", None, None)},
        {("Basket", "Base", None), ("Basket", "Priced", None), ("Basket.Inner", "Priced", None)},
    ),
    "go": Case(
        "store/store.go",
        '''package store

import (
	"fmt"
	db "example.org/x/database"
)

const Limit = 3

// Store keeps things.
type Store struct {
	Base
	n int
}

type Reader interface {
	Read(p []byte) int
}

// Get finds one.
func (s *Store) Get(k string) string { open(); return fmt.Sprint(db.Find(k)) }

func open() *Store { return &Store{} }
''',
        {"Limit": "constant", "Store": "class", "Reader": "interface", "Reader.Read": "method", "Store.Get": "method",
         "open": "function"},
        {"Store.Get": "Store", "open": None},
        {"Store": "Store keeps things.", "Store.Get": "Get finds one."},
        {"fmt": None, "example.org/x/database": None},
        {("Store.Get", "open", "open", None), ("Store.Get", "fmt.Sprint", None, "fmt"),
         ("Store.Get", "db.Find", None, "example.org/x/database"), ("open", "Store", "Store", None)},
        {("Store", "Base", None)},
    ),
    "rust": Case(
        "src/store.rs",
        '''use std::{io, fmt::Display as Shown};
mod disk;
/// Keeps things.
#[derive(Debug)]
pub struct Store<T> { inner: T }
pub trait Keeps: Send { fn keep(&self); }
impl<T> Keeps for Store<T> {
    fn keep(&self) { self.flush(); io::stdout(); disk::write::<u8>(1); }
}
impl<T> Store<T> { fn flush(&self) { println!("x"); } }
const LIMIT: usize = 3;
fn open() -> Store<u8> { Store { inner: 1 } }
''',
        {"Store": "class", "Keeps": "interface", "Keeps.keep": "method", "Store.keep": "method",
         "Store.flush": "method", "LIMIT": "constant", "open": "function"},
        {"Store.keep": "Store"},
        {"Store": "Keeps things."},
        {"std": None, "std::fmt": None, "disk": "src/store/disk"},
        {("Store.keep", "self.flush", "Store.flush", None), ("Store.keep", "io::stdout", None, "std"),
         ("Store.keep", "disk::write", None, "disk"), ("Store.flush", "println", None, None),
         ("open", "Store", "Store", None)},
        {("Store", "Keeps", "Keeps"), ("Keeps", "Send", None)},
    ),
    "c": Case(
        "src/store.c",
        '''#include <stdio.h>
#include "disk.h"
#define LIMIT 3
/* A store. */
struct store { int n; };
typedef struct { int a; } pair_t;
enum mode { OPEN };
int declared(void);
static char *get(struct store *s) { declared(); s->ops->read(1); return get(s); }
''',
        {"LIMIT": "constant", "store": "class", "pair_t": "class", "mode": "type", "declared": "function",
         "get": "function"},
        {},
        {"store": "A store."},
        {"stdio.h": None, "disk.h": "src/disk.h"},
        {("get", "declared", "declared", None), ("get", "s->ops->read", None, None), ("get", "get", "get", None)},
        set(),
    ),
    "cpp": Case(
        "src/store.h",
        '''#include "base.hpp"
namespace shop {
/// Keeps things.
template <class T> class Store : public Base, private ns::Kept<T> {
  int size() const { return this->count(); }
  int count();
  ~Store() {}
};
using Id = int;
}
int shop::Store::count() { return std::move(1); }
bool operator==(const Id& a, const Id& b) { return true; }
''',
        {"shop": "module", "shop.Store": "class", "shop.Store.size": "method", "shop.Store.count": "method",
         "shop.Store.~Store": "method", "shop.Id": "type", "operator==": "function"},
        {"shop.Store": "shop", "shop.Store.count": "shop.Store"},
        {"shop.Store": "Keeps things."},
        {"base.hpp": "src/base.hpp"},
        {("shop.Store.size", "this->count", "shop.Store.count", None), ("shop.Store.count", "std::move", None, None)},
        {("shop.Store", "Base", None), ("shop.Store", "ns::Kept", None)},
    ),
    "csharp": Case(
        "src/Store.cs",
        '''using System;
using Q = Shop.Queue;
namespace Shop.Orders {
  /// <summary>
  /// Keeps things.
  /// </summary>
  [Serializable]
  public class Store<T> : Base<T>, IKept {
    const int Limit = 3;
    void Put() { Check(); this.Check(); Q.Add<int>(1); new Line(); log?.Write(); }
    void Check() {}
    struct Line {}
    enum Mode { A }
  }
}
''',
        {"Shop.Orders": "module", "Shop.Orders.Store": "class", "Shop.Orders.Store.Limit": "constant",
         "Shop.Orders.Store.Put": "method", "Shop.Orders.Store.Check": "method", "Shop.Orders.Store.Line": "class",
         "Shop.Orders.Store.Mode": "type"},
        {"Shop.Orders.Store": "Shop.Orders"},
        {"Shop.Orders.Store": "Keeps things."},
        {"System": None, "Shop.Queue": None},
        {("Shop.Orders.Store.Put", "Check", "Shop.Orders.Store.Check", None),
         ("Shop.Orders.Store.Put", "Q.Add", None, "Shop.Queue"),
         ("Shop.Orders.Store.Put", "Line", "Shop.Orders.Store.Line", None),
         ("Shop.Orders.Store.Put", "log?.Write", None, None)},
        {("Shop.Orders.Store", "Base", None), ("Shop.Orders.Store", "IKept", None)},
    ),
    "ruby": Case(
        "lib/shop/store.rb",
        '''require "json"
require_relative "../disk"
# A shop.
module Shop
  LIMIT = 3
  # Keeps things.
  class Store < Disk::Base
    include Comparable
    def put(x) = check(x)
    def check(x)
      JSON.parse(x)
    end
    def self.open; Store.new; end
  end
end
''',
        {"Shop": "module", "Shop.LIMIT": "constant", "Shop.Store": "class", "Shop.Store.put": "method",
         "Shop.Store.check": "method", "Shop.Store.open": "method"},
        {"Shop.Store": "Shop"},
        {"Shop": "A shop.", "Shop.Store": "Keeps things."},
        {"json": None, "../disk": "lib/disk"},
        {("Shop.Store.put", "check", "Shop.Store.check", None), ("Shop.Store.check", "JSON.parse", None, None),
         ("Shop.Store.open", "Store.new", None, None)},
        {("Shop.Store", "Disk::Base", None), ("Shop.Store", "Comparable", None)},
    ),
    "php": Case(
        "src/Store.php",
        r'''<?php
namespace Shop\Orders;
use Shop\Queue as Q;
use Shop\{Line, Mode as M};
require __DIR__ . '/disk.php';
const LIMIT = 3;
/** Keeps things. */
#[Kept]
class Store extends Base implements IKept {
  use Counts;
  /** Puts one. */
  public function put() { $this->check(); Q::add(1); new Line(); helper(); $this->db->row()->close(); }
  private function check() {}
}
function helper() {}
''',
        {"LIMIT": "constant", "Store": "class", "Store.put": "method", "Store.check": "method", "helper": "function"},
        {"Store.put": "Store"},
        {"Store": "Keeps things.", "Store.put": "Puts one."},
        {r"Shop\Queue": None, r"Shop\Line": None, r"Shop\Mode": None, "/disk.php": "src/disk.php"},
        {("Store.put", "$this->check", "Store.check", None), ("Store.put", "Q::add", None, r"Shop\Queue"),
         ("Store.put", "Line", None, r"Shop\Line"), ("Store.put", "helper", "helper", None),
         ("Store.put", ".close", None, None)},
        {("Store", "Base", None), ("Store", "IKept", None), ("Store", "Counts", None)},
    ),
    "bash": Case(
        "bin/run.sh",
        '''#!/usr/bin/env bash
source ./lib.sh
. "$HOME/x.sh"
readonly LIMIT=3
# Starts it.
start() { check a | tee log; }
function check { echo "$1"; }
start
''',
        {"LIMIT": "constant", "start": "function", "check": "function"},
        {},
        {"start": "Starts it."},
        {"./lib.sh": "bin/lib.sh", "$HOME/x.sh": None},
        {("start", "check", "check", None), ("start", "tee", None, None), (None, "start", "start", None)},
        set(),
    ),
}  # fmt: skip


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Case, CodeAnalysis]:
    case = CASES[request.param]
    reading = analyse_code(case.text, path=case.path)
    assert reading
    assert reading.language == request.param
    assert reading.broken == 0
    return case, reading


def test_every_supported_language_has_a_test_case() -> None:
    assert set(CASES) == set(LANGUAGES)


def test_definitions_are_found_by_name_and_kind(case: tuple[Case, CodeAnalysis]) -> None:
    told, reading = case
    assert {symbol.qualified: symbol.kind.value for symbol in reading.symbols} == told.symbols


def test_definitions_name_the_symbol_that_contains_them(case: tuple[Case, CodeAnalysis]) -> None:
    told, reading = case
    containers = {symbol.qualified: symbol.container for symbol in reading.symbols}
    assert {name: containers[name] for name in told.containers} == told.containers


def test_a_definition_keeps_the_first_line_of_its_doc_comment(case: tuple[Case, CodeAnalysis]) -> None:
    told, reading = case
    assert {symbol.qualified: symbol.doc for symbol in reading.symbols if symbol.doc} == told.docs


def test_imports_are_kept_as_written_and_relative_ones_resolved(case: tuple[Case, CodeAnalysis]) -> None:
    told, reading = case
    assert {one.module: one.resolved for one in reading.imports} == told.imports


def test_calls_have_their_caller_and_their_target_or_module(case: tuple[Case, CodeAnalysis]) -> None:
    told, reading = case
    calls = [(call.caller, call.callee, call.target, call.module) for call in reading.calls]
    assert told.calls <= set(calls)
    assert len(set(calls)) == len(calls)


def test_base_classes_and_interfaces_are_found(case: tuple[Case, CodeAnalysis]) -> None:
    told, reading = case
    assert {(base.symbol, base.name, base.target) for base in reading.bases} == told.bases


def test_spans_of_definitions_and_calls_contain_their_names(case: tuple[Case, CodeAnalysis]) -> None:
    told, reading = case
    for symbol in reading.symbols:
        assert symbol.qualified.rpartition(".")[2] in told.text[symbol.span.start : symbol.span.end]
    for call in reading.calls:
        assert call.callee.split(".")[-1].split("::")[-1].split("->")[-1] in told.text[call.span.start : call.span.end]
    for one in reading.imports:
        assert one.span.start < one.span.end
