/* Causal chains as a list of steps, cause first: what a screen reader, a narrow screen and a printer can show. */

import { html } from "../vendor/preact-htm.js";
import { Empty } from "./load.js";
import { routeTo } from "./route.js";

function Step({ step, names }) {
  const end = (uid) => html`<a href=${routeTo("item", [uid])} dir="auto">${names.get(uid) || uid}</a>`;
  return html`<li>
    ${end(step.cause)} <span class="arrow" aria-hidden="true">→</span> <span class="faint">${step.type.toLowerCase().replaceAll("_", " ")}</span> ${end(step.effect)}
    <details>
      <summary>certain to ${Math.round(step.certainty * 100)} %</summary>
      ${step.quote ? html`<blockquote dir="auto">${step.quote}</blockquote>` : html`<p class="faint">Nothing was quoted for it.</p>`}
      ${step.source_item && html`<p><a href=${routeTo("item", [step.source_item])}>The memory that says so</a></p>`}
    </details>
  </li>`;
}

export function Chains({ graph }) {
  if (!graph.chains.length) {
    return html`<${Empty} title="No causes are known"><p>None of these memories says what caused what.</p><//>`;
  }
  const names = new Map(graph.nodes.map((node) => [node.uid, node.name || node.text]));
  return html`<ul class="chains">
    ${graph.chains.map(
      (chain) => html`<li class="card">
        <h2>${chain.direction === "back" ? "What led to it" : "What it led to"}${chain.complete ? "" : ", in part"}</h2>
        <ol>${chain.steps.map((step) => html`<${Step} key=${step.edge} ...${{ step, names }} />`)}</ol>
      </li>`,
    )}
  </ul>`;
}
