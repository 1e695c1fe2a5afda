/* Why a result is where it is: its channels, what raised or lowered it, and how it was reached. */

import { html } from "../vendor/preact-htm.js";

const CHANNELS = {
  dense: "similar in meaning",
  bm25: "shares words",
  fulltext: "shares words in the graph",
  graph: "near in the graph",
  tags: "shares tags",
};

const number = (value) => (Math.abs(value) >= 0.01 || value === 0 ? value.toFixed(2) : value.toExponential(1));

export function Why({ result, explain }) {
  const boosts = Object.entries(explain?.boosts?.[result.uid] || {});
  return html`<details class="why">
    <summary>Why · place ${result.rank} · relevance ${number(result.relevance)}</summary>
    ${result.channels.length > 0 &&
    html`<table>
      <caption>Found by</caption>
      <thead><tr><th scope="col">Channel</th><th scope="col">Place</th><th scope="col">Score</th></tr></thead>
      <tbody>
        ${result.channels.map(
          (hit) => html`<tr>
            <td>${CHANNELS[hit.channel]} <span class="faint">${hit.channel}${hit.edge_type ? `, ${hit.edge_type}` : ""}</span></td>
            <td>${hit.rank}</td>
            <td>${number(hit.score)}</td>
          </tr>`,
        )}
      </tbody>
    </table>`}
    <dl>
      <dt>Score</dt><dd>${number(result.score)}</dd>
      ${boosts.map(([name, gain]) => html`<dt>${name.replaceAll("_", " ")}</dt><dd>${gain >= 0 ? "+" : ""}${number(gain)}</dd>`)}
      <dt>Kind</dt><dd>${result.kind === "anchor" ? "an answer to the question" : "what belongs to one"}</dd>
      ${result.via.length > 0 && html`<dt>Reached by</dt><dd>${result.via.map((step) => step.type).join(" → ")}</dd>`}
      ${result.consolidated_into && html`<dt>Summed up in</dt><dd><a href=${`#/item/${result.consolidated_into}`}>its summary</a></dd>`}
    </dl>
  </details>`;
}
