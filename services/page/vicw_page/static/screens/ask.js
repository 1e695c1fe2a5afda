/* Ask: a question, its answer as a person reads it and as a model gets it, and why each result is there. */

import { html, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { giveFeedback, retrieve } from "../api.js";
import { ContextField } from "../parts/contexts.js";
import { Answer, Empty, useAnswer, useModule } from "../parts/load.js";
import { notify } from "../parts/notices.js";
import { replaceRoute } from "../parts/route.js";
import { Facts, ItemLink, Stored, Tags, counted } from "../parts/show.js";

const SAYS = {
  likely: "The memories below probably answer this.",
  unsure: "The memories below may have to do with it.",
  nothing: "Nothing stored seems to answer this.",
};

/** The request that the form's fields are. */
function requestOf(fields) {
  const day = (value, time) => (value ? `${value}T${time}Z` : undefined);
  return {
    query: fields.q.trim(),
    context: fields.context || undefined,
    domain: fields.domain || undefined,
    viewer: fields.viewer ? { user: fields.viewer } : undefined,
    as_of: day(fields.as_of, "23:59:59"),
    tags: fields.tags ? { any: fields.tags.split(",").map((tag) => tag.trim()).filter(Boolean) } : undefined,
    limit: Number(fields.limit) || 10,
    explain: true,
  };
}

function Form({ fields, onAsk }) {
  const [draft, setDraft] = useState(fields);
  const question = useRef(null);
  useEffect(() => {
    if (!fields.q) question.current.focus();
  }, []);
  const set = (name) => (event) => setDraft({ ...draft, [name]: event?.target ? event.target.value : event });
  const field = (name, label, more = {}) =>
    html`<label>${label} <input value=${draft[name] || ""} onInput=${set(name)} ...${more} /></label>`;
  const isNarrowed = ["context", "domain", "viewer", "as_of", "tags"].some((name) => fields[name]);
  return html`<form class="ask" role="search" onSubmit=${(event) => (event.preventDefault(), draft.q.trim() && onAsk(draft))}>
    <label class="wide">Question
      <input type="search" name="q" ref=${question} value=${draft.q} onInput=${set("q")} required placeholder="Why was the release moved?" />
    </label>
    <button type="submit" class="main">Ask</button>
    <details open=${isNarrowed}>
      <summary>Narrow it down</summary>
      <div class="fields">
        <${ContextField} value=${draft.context || ""} onInput=${set("context")} />
        ${field("domain", "Domain", { placeholder: "told by the question" })}
        ${field("viewer", "Asked by", { placeholder: "whoever may see everything" })}
        ${field("as_of", "As it was on", { type: "date" })}
        ${field("tags", "Any of the tags", { placeholder: "garden, roof" })}
        ${field("limit", "At most", { type: "number", min: 1, max: 100, placeholder: "10" })}
      </div>
    </details>
  </form>`;
}

function Judge({ result, query }) {
  const [given, setGiven] = useState("");
  const say = (verdict) =>
    giveFeedback({ item: result.uid, verdict, query }).then(
      () => (setGiven(verdict), notify(`Kept: this result was ${verdict}.`)),
      (problem) => notify(problem.message),
    );
  return html`<div class="row" role="group" aria-label="Was this result of use?">
    ${["useful", "wrong"].map(
      (verdict) => html`<button type="button" class="quiet" aria-pressed=${given === verdict} onClick=${() => say(verdict)}>
        ${verdict === "useful" ? "Useful" : "Wrong"}
      </button>`,
    )}
  </div>`;
}

function Result({ result, answer, query, Why }) {
  return html`<li class="card">
    <h2><${ItemLink} item=${result} /></h2>
    <${Facts} item=${result} />
    <${Stored} text=${result.text} lines />
    <${Tags} tags=${result.tags} />
    ${result.changes?.map(
      (change) => html`<p class="faint" dir="auto">${change.relation.replace("_", " ")}: ${change.text}</p>`,
    )}
    ${Why && html`<${Why} result=${result} explain=${answer.explain} />`}
    <${Judge} result=${result} query=${query} />
  </li>`;
}

function Found({ answer, query }) {
  const [view, setView] = useState("results");
  const why = useModule("why", () => import("../parts/why.js"));
  const chains = useModule("chains", () => import("../parts/chains.js"));
  const copy = () =>
    navigator.clipboard.writeText(answer.text).then(
      () => notify("The text is in the clipboard."),
      () => notify("The browser did not let the page copy. Mark the text and copy it."),
    );
  const total = Object.values(answer.took_ms).reduce((sum, part) => Math.max(sum, part), 0);
  return html`<section aria-label="Answer">
    <p role="status">
      ${SAYS[answer.answered]} <span class="faint">${counted(answer.results.length, "result")}, ${Math.round(total)} ms,
      domain ${answer.intent.domain}${answer.intent.filtered ? "" : " (all searched)"}.</span>
    </p>
    ${answer.degraded.length > 0 && html`<p class="problem">Part of the search did not work: ${answer.degraded.join(", ")}.</p>`}
    <div class="row" role="group" aria-label="Show">
      ${[["results", "Results"], ["text", "As a model gets it"], ["causes", `Causes (${answer.graph.chains.length})`]].map(
        ([name, title]) => html`<button type="button" aria-pressed=${view === name} onClick=${() => setView(name)}>${title}</button>`,
      )}
    </div>
    ${view === "results" &&
    html`<ol class="cards">${answer.results.map((result) => html`<${Result} key=${result.uid} ...${{ result, answer, query, Why: why.module?.Why }} />`)}</ol>`}
    ${view === "text" &&
    html`<div class="card"><button type="button" onClick=${copy}>Copy</button><pre class="stored" dir="auto" tabindex="0">${answer.text}</pre></div>`}
    ${view === "causes" && chains.module && html`<${chains.module.Chains} graph=${answer.graph} />`}
  </section>`;
}

export function Screen({ query }) {
  const [fields, setFields] = useState({ q: "", ...query });
  const answer = useAnswer((signal) => (fields.q.trim() ? retrieve(requestOf(fields), signal) : null), [fields]);
  const ask = (draft) => {
    replaceRoute("ask", [], draft);
    setFields({ ...draft });
  };
  return html`
    <h1>Ask</h1>
    <${Form} fields=${fields} onAsk=${ask} />
    ${fields.q.trim()
      ? html`<${Answer} of=${answer}>${(found) => html`<${Found} answer=${found} query=${fields.q.trim()} />`}<//>`
      : html`<${Empty} title="What do you want to know?">
          <p>An answer is the stored evidence itself, with what caused it and what proves it. No language model writes it.</p>
          <p>Nothing stored yet? <a href="#/browse">Look at what there is</a>.</p>
        <//>`}
  `;
}
