/* Browse: the contexts there are, and the memories of one or of all, as many as one scrolls. */

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { listContexts, listItems } from "../api.js";
import { ContextField } from "../parts/contexts.js";
import { Answer, Empty, ProblemNote, useAnswer } from "../parts/load.js";
import { routeTo } from "../parts/route.js";
import { Facts, ItemLink, Stored, Time, count, counted } from "../parts/show.js";

const PAGE = 50;
const ORDERS = [["told", "told"], ["happened", "happened"], ["arrival", "stored"], ["importance", "importance"]];

function Contexts() {
  const answer = useAnswer((signal) => listContexts({ limit: 100 }, signal), []);
  return html`<${Answer} of=${answer}>${({ contexts }) =>
    contexts.length === 0
      ? html`<${Empty} title="Nothing is stored yet">
          <p>An application stores by <code>POST /ingest</code>, a person by <code>vicw ingest FOLDER</code>.</p>
        <//>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Contexts"><table>
          <thead><tr><th scope="col">Context</th><th scope="col">Memories</th><th scope="col">Domains</th><th scope="col">First</th><th scope="col">Last</th></tr></thead>
          <tbody>
            ${contexts.map(
              (one) => html`<tr key=${one.context}>
                <th scope="row"><a href=${routeTo("browse", [], { context: one.context })} dir="auto">${one.context}</a></th>
                <td class="number">${count(one.items)}</td>
                <td>${Object.keys(one.domains).join(", ")}</td>
                <td><${Time} at=${one.first} onlyDay /></td>
                <td><${Time} at=${one.last} onlyDay /></td>
              </tr>`,
            )}
          </tbody>
        </table></div>`}<//>`;
}

function Filters({ fields }) {
  const change = (name) => (event) => {
    location.hash = routeTo("browse", [], { ...fields, [name]: event?.target ? event.target.value : event });
  };
  const field = (name, label, more = {}) =>
    html`<label>${label} <input value=${fields[name] || ""} onChange=${change(name)} ...${more} /></label>`;
  return html`<form class="fields" onSubmit=${(event) => event.preventDefault()}>
    <${ContextField} value=${fields.context || ""} onInput=${change("context")} />
    ${field("speaker", "Speaker")} ${field("tag", "Tag")} ${field("since", "Since", { type: "date" })} ${field("until", "Until", { type: "date" })}
    <label>Order <select value=${fields.order || "told"} onChange=${change("order")}>
      ${ORDERS.map(([value, title]) => html`<option value=${value}>${title}</option>`)}
    </select></label>
    <label>Direction <select value=${fields.direction || "desc"} onChange=${change("direction")}>
      <option value="desc">latest first</option><option value="asc">earliest first</option>
    </select></label>
  </form>`;
}

/** The days of the form as points in time of the reader's zone. */
function days({ since, until }) {
  const at = (day, time) => (day ? new Date(`${day}T${time}`).toISOString() : undefined);
  return { since: at(since, "00:00:00"), until: at(until, "23:59:59") };
}

/** Pages of memories, each asked for when the end of the list comes near. */
function Items({ fields }) {
  const [state, setState] = useState({ items: [], next: null, done: false });
  const end = useRef(null);
  const control = useRef(new AbortController());
  const asking = useRef(false);
  const more = async (cursor) => {
    if (asking.current) return;
    asking.current = true;
    try {
      const page = await listItems(
        { order: "told", direction: "desc", ...fields, ...days(fields), limit: PAGE, cursor },
        control.current.signal,
      );
      setState((before) => ({ items: [...before.items, ...page.items], next: page.next, done: page.next === null }));
    } catch (problem) {
      if (problem.name !== "AbortError") setState((before) => ({ ...before, problem }));
    } finally {
      asking.current = false;
    }
  };
  useEffect(() => {
    more(null);
    return () => control.current.abort();
  }, []);
  useEffect(() => {
    if (!state.next || !end.current) return undefined;
    const watch = new IntersectionObserver(([entry]) => entry.isIntersecting && more(state.next), { rootMargin: "800px" });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [state.next]);
  const again = () => {
    setState((before) => ({ ...before, problem: undefined }));
    more(state.next);
  };
  return html`
    <ol class="cards" aria-label="Memories">
      ${state.items.map(
        (item) => html`<li class="card" key=${item.uid}>
          <h2><${ItemLink} item=${item} /></h2>
          <${Facts} item=${item} />
          <${Stored} text=${item.text} lines />
        </li>`,
      )}
    </ol>
    ${state.problem && html`<${ProblemNote} problem=${state.problem} again=${again} />`}
    <p ref=${end} role="status" class="faint">
      ${state.done ? (state.items.length ? `${counted(state.items.length, "memory", "memories")}; that is all.` : "Nothing stored fits this.") : state.problem ? "" : "Loading …"}
    </p>
  `;
}

export function Screen({ query }) {
  const isList = Object.keys(query).length > 0;
  return html`
    <h1>Browse</h1>
    ${isList
      ? html`<p><a href="#/browse">All contexts</a></p><${Filters} fields=${query} /><${Items} key=${JSON.stringify(query)} fields=${query} />`
      : html`<p><a href=${routeTo("browse", [], { order: "told" })}>All memories</a></p><${Contexts} />`}
  `;
}
