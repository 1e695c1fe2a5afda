/* Erasure: first how much would go, then a word to type, then its progress and the proof. */

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { erase, getErasure } from "../api.js";
import { ContextField } from "./contexts.js";
import { Dialog } from "./dialog.js";
import { ProblemNote } from "./load.js";
import { Time, counted } from "./show.js";

const LOOK_MS = 700;
const WORD = "erase";

function Outcome({ erasure }) {
  if (erasure.status === "running") {
    return html`<p role="status" class="busy">Erasing: ${erasure.step || "beginning"} (${counted(erasure.done, "node")}) …</p>`;
  }
  const { proof } = erasure;
  return html`<div class="card" role="status">
    <h3>${proof?.proven ? "Erased, and proven" : "Erased, but not proven"}</h3>
    <p>${proof
      ? `${counted(Object.values(proof.nodes).reduce((sum, number) => sum + number, 0), "node")} went. ${counted(proof.read, "byte")} of files were searched for them.`
      : erasure.error}</p>
    ${proof?.found.length > 0 && html`<p>Still found in:</p><ul>${proof.found.map((place) => html`<li>${place}</li>`)}</ul>`}
    <p class="faint">Begun <${Time} at=${erasure.created_at} />.</p>
  </div>`;
}

function Question({ wanted, selected, onErase, onClose }) {
  const [typed, setTyped] = useState("");
  return html`<${Dialog} title="Erase for good?" onClose=${onClose}>
    <form onSubmit=${(event) => (event.preventDefault(), onErase())}>
      <p>${counted(selected.items, "memory", "memories")} ${wanted} will be gone from every file of this server, and a search proves it. It cannot be undone. Exports and backups elsewhere keep what they have.</p>
      <label>Type <code>${WORD}</code> to go on <input autocomplete="off" value=${typed} onInput=${(event) => setTyped(event.target.value)} /></label>
      <div class="row"><button type="submit" class="main" disabled=${typed !== WORD}>Erase</button><button type="button" onClick=${onClose}>Cancel</button></div>
    </form>
  <//>`;
}

export function Erasing() {
  const [context, setContext] = useState("");
  const [user, setUser] = useState("");
  const [selected, setSelected] = useState(null);
  const [erasure, setErasure] = useState(null);
  const [problem, setProblem] = useState(null);
  const body = user ? { user } : { context };
  const wanted = user ? `of the user ${user}` : `of the context ${context}`;
  const refuse = (error) => (setSelected(null), setProblem(error));
  const select = (event) => {
    event.preventDefault();
    setProblem(null);
    erase({ ...body, dry_run: true }).then((answer) => setSelected(answer.selected), refuse);
  };
  const run = () => (setSelected(null), erase({ ...body, wait: false }).then(setErasure, refuse));
  useEffect(() => {
    if (erasure?.status !== "running") return undefined;
    const timer = setTimeout(() => getErasure(erasure.erasure).then(setErasure, refuse), LOOK_MS);
    return () => clearTimeout(timer);
  }, [erasure]);
  return html`<section>
    <h2>Erase</h2>
    <form onSubmit=${select}>
      <div class="fields">
        <${ContextField} value=${context} onInput=${setContext} label="All of a context" hint="" />
        <label>or all of a user <input value=${user} onInput=${(event) => setUser(event.target.value)} /></label>
      </div>
      <button type="submit" disabled=${!context && !user}>See how much it is</button>
    </form>
    ${problem?.status === 403
      ? html`<p class="faint">This key lacks the right <code>erase</code>.</p>`
      : problem && html`<${ProblemNote} problem=${problem} />`}
    ${selected && html`<${Question} ...${{ wanted, selected }} onErase=${run} onClose=${() => setSelected(null)} />`}
    ${erasure && html`<${Outcome} erasure=${erasure} />`}
  </section>`;
}
