/* People and things: the entities that the memories of a context speak of. */

import { html } from "../vendor/preact-htm.js";
import { listContexts, listEntities } from "../api.js";
import { ContextField } from "../parts/contexts.js";
import { Answer, Empty, useAnswer } from "../parts/load.js";
import { routeTo } from "../parts/route.js";
import { count } from "../parts/show.js";

const MOST = 200;

function Entities({ query }) {
  const answer = useAnswer((signal) => listEntities({ ...query, limit: MOST }, signal), [JSON.stringify(query)]);
  return html`<${Answer} of=${answer}>${({ entities, next }) =>
    entities.length === 0
      ? html`<${Empty} title="Nobody and nothing is named here"><p>Names come from what is stored: <a href="#/add">add something</a>, or choose another context.</p><//>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Entities"><table>
          <thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Also called</th><th scope="col">Edges</th></tr></thead>
          <tbody>${entities.map((one) => html`<tr key=${one.uid}>
            <th scope="row"><a href=${routeTo("entity", [one.uid])} dir="auto">${one.name}</a></th>
            <td>${one.subtype}</td><td dir="auto">${one.aliases.join(", ")}</td><td class="number">${count(one.degree)}</td>
          </tr>`)}</tbody>
        </table>${next && html`<p class="faint">There are more. Begin to type a name.</p>`}</div>`}<//>`;
}

export function Screen({ query }) {
  const first = useAnswer((signal) => (query.context ? null : listContexts({ limit: 1 }, signal)), []);
  const context = query.context || first.value?.contexts[0]?.context || "";
  const change = (name) => (event) => {
    location.hash = routeTo("people", [], { ...query, context, [name]: event?.target ? event.target.value : event });
  };
  return html`
    <h1>People and things</h1>
    <form class="fields" onSubmit=${(event) => event.preventDefault()}>
      <${ContextField} value=${context} onInput=${change("context")} />
      <label>Name begins with <input value=${query.prefix || ""} onChange=${change("prefix")} /></label>
      <label>Kind <input value=${query.subtype || ""} placeholder="person" onChange=${change("subtype")} /></label>
    </form>
    ${context && html`<${Entities} query=${{ ...query, context }} />`}
  `;
}
