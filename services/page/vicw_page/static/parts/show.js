/* How dates, numbers and memories are written. */

import { html } from "../vendor/preact-htm.js";
import { routeTo } from "./route.js";

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const whole = new Intl.NumberFormat();
const UNITS = ["B", "KB", "MB", "GB", "TB"];

export const count = (number) => whole.format(number);

/** A number with its noun: "1 memory", "2 memories". */
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export function bytes(number) {
  const unit = number < 1 ? 0 : Math.min(Math.floor(Math.log10(number) / 3), UNITS.length - 1);
  return `${(number / 1000 ** unit).toFixed(unit && number / 1000 ** unit < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

/** A point in time, in the reader's zone; the whole of it is in its title. */
export function Time({ at, onlyDay }) {
  if (!at) return html`<span class="faint">–</span>`;
  const date = new Date(at);
  return html`<time datetime=${at} title=${date.toString()}>${(onlyDay ? day : moment).format(date)}</time>`;
}

/** A stored text. It is only ever text to the browser; its direction is told by its letters. */
export const Stored = ({ text, lines }) => html`<div class=${lines ? "stored cut" : "stored"} dir="auto">${text}</div>`;

/** What a memory is called: its name, else the beginning of its text. A turn of a talk is named by who speaks. */
export function titleOf(item) {
  const named = item.name && item.name !== item.speaker ? item.name : "";
  return named || (item.text || "").slice(0, 80) || item.name || item.id || item.uid;
}

export const ItemLink = ({ item }) => html`<a href=${routeTo("item", [item.uid])} dir="auto">${titleOf(item)}</a>`;

/** What a memory is about itself, in one line. */
export function Facts({ item }) {
  const facts = [
    item.speaker && html`<b>${item.speaker}</b>`,
    item.timestamp && html`<${Time} at=${item.timestamp} />`,
    item.context && html`<a href=${routeTo("browse", [], { context: item.context })}>${item.context}</a>`,
    item.domain,
    item.subtype,
    item.sensitivity && item.sensitivity !== "public" && html`<span class="mark">${item.sensitivity}</span>`,
    item.retired_at && html`<span class="mark">replaced or taken back</span>`,
  ].filter(Boolean);
  return html`<p class="facts">${facts.map((fact) => html`<span>${fact}</span>`)}</p>`;
}

export const Tags = ({ tags }) =>
  tags?.length > 0 && html`<p class="tags">${tags.map((tag) => html`<span class="tag">${tag}</span>`)}</p>`;
