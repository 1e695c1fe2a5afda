/* State: whether all works, how much there is, keys, erasure, and the record of changes. */

import { html } from "../vendor/preact-htm.js";
import { getStats, listChanges, readyz } from "../api.js";
import { Answer, useAnswer } from "../parts/load.js";
import { Allowed } from "../parts/refused.js";
import { Time, bytes, count, counted } from "../parts/show.js";
import { Erasing } from "../parts/erasing.js";
import { KeyList } from "../parts/key-list.js";

const DAYS = 30;

function Health() {
  const answer = useAnswer((signal) => readyz(signal), []);
  return html`<section>
    <h2>Health</h2>
    <${Answer} of=${answer}>${(state) => html`
      <p>${state.failing ? html`<span class="mark">Part of it does not work</span>` : "All of it works"}: ${state.dependencies.join(", ")}.</p>
      ${state.failing && html`<ul>${Object.entries(state.failing).map(([name, reason]) => html`<li><b>${name}</b>: ${reason}</li>`)}</ul>`}
      ${state.model && html`<p>Model: ${typeof state.model === "string" ? state.model : state.model.name || state.model.model}</p>`}`}<//>
  </section>`;
}

/** The last days, of UTC as the server counts them, also those on which nothing was stored. */
function lastDays(days) {
  const stored = new Map(days.map(({ day, items }) => [day, items]));
  return Array.from({ length: DAYS }, (_, place) => {
    const day = new Date(Date.now() - (DAYS - 1 - place) * 86_400_000).toISOString().slice(0, 10);
    return { day, items: stored.get(day) || 0 };
  });
}

/** Memories stored on each of the last days; each bar's title says how many. */
function Days({ days }) {
  const most = Math.max(1, ...days.map((day) => day.items));
  return html`<figure>
    <svg class="days" viewBox=${`0 0 ${days.length * 10} 60`} preserveAspectRatio="none" role="img" aria-label="Memories stored by day">
      ${days.map((day, place) => html`<rect x=${place * 10 + 1} width="8" y=${60 - (58 * day.items) / most} height=${(58 * day.items) / most}><title>${day.day}: ${day.items}</title></rect>`)}
    </svg>
    <figcaption class="faint">Memories stored on each of the last ${DAYS} days, at most ${count(most)} on one.</figcaption>
  </figure>`;
}

function Amounts() {
  const answer = useAnswer((signal) => getStats({ days: DAYS }, signal), []);
  return html`<section>
    <h2>What is stored</h2>
    <${Answer} of=${answer}>${(stats) => html`
      <dl>
        <dt>Memories</dt><dd>${count(stats.items)}, in ${counted(stats.contexts, "context")}; ${count(stats.retired)} former</dd>
        <dt>Passages</dt><dd>${count(stats.passages)}, ${count(stats.chars)} characters</dd>
        <dt>Vectors</dt><dd>${count(stats.vectors)}; ${count(stats.waiting)} wait</dd>
        ${stats.queue && html`<dt>Queue</dt><dd>${count(stats.queue.waiting)} waiting, ${count(stats.queue.failing)} failing, ${count(stats.queue.dead)} given up</dd>`}
        ${stats.disk_bytes !== null && stats.disk_bytes !== undefined && html`<dt>Disk</dt><dd>${bytes(stats.disk_bytes)}</dd>`}
      </dl>
      ${stats.days.length > 0 && html`<${Days} days=${lastDays(stats.days)} />`}`}<//>
  </section>`;
}

function Changes() {
  const answer = useAnswer((signal) => listChanges({ limit: 50 }, signal), []);
  return html`<section>
    <h2>Changes</h2>
    <${Allowed} of=${answer} right="audit">${({ records }) =>
      records.length === 0
        ? html`<p class="faint">Nothing was changed or erased yet.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Changes"><table>
            <thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Key</th><th scope="col">How many</th></tr></thead>
            <tbody>${records.map((one) => html`<tr key=${one.id}><td><${Time} at=${one.at} /></td><td>${one.kind}</td><td>${one.key || html`<span class="faint">the owner</span>`}</td><td class="number">${count(one.count)}</td></tr>`)}</tbody>
          </table></div>`}<//>
  </section>`;
}

export function Screen() {
  return html`<h1>State</h1><${Health} /><${Amounts} /><${KeyList} /><${Erasing} /><${Changes} />`;
}
