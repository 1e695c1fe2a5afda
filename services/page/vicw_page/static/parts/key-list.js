/* The keys of this tenant: made here, shown once, and revoked. */

import { html, useState } from "../vendor/preact-htm.js";
import { createKey, listKeys, revokeKey } from "../api.js";
import { Dialog } from "./dialog.js";
import { ProblemNote, useAnswer } from "./load.js";
import { notify } from "./notices.js";
import { Allowed } from "./refused.js";
import { Time } from "./show.js";

const RIGHTS = {
  ingest: "store and change",
  retrieve: "ask and read",
  erase: "erase",
  audit: "read the record of changes",
  admin: "run the server",
};

function NewKey({ onMade, onClose }) {
  const [rights, setRights] = useState(["ingest", "retrieve"]);
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState(null);
  const toggle = (right) => setRights(rights.includes(right) ? rights.filter((one) => one !== right) : [...rights, right]);
  const send = (event) => {
    event.preventDefault();
    createKey({ rights, note }).then(onMade, setProblem);
  };
  return html`<${Dialog} title="Make a key" onClose=${onClose}>
    <form onSubmit=${send}>
      <fieldset><legend>It may</legend>
        ${Object.entries(RIGHTS).map(([right, says]) => html`<label class="choice"><input type="checkbox" checked=${rights.includes(right)} onChange=${() => toggle(right)} /> ${says} <code>${right}</code></label>`)}
      </fieldset>
      <label>What it is for <input value=${note} onInput=${(event) => setNote(event.target.value)} /></label>
      ${problem && html`<${ProblemNote} problem=${problem} />`}
      <div class="row"><button type="submit" class="main" disabled=${!rights.length}>Make it</button><button type="button" onClick=${onClose}>Cancel</button></div>
    </form>
  <//>`;
}

export function KeyList() {
  const answer = useAnswer((signal) => listKeys(signal), []);
  const [open, setOpen] = useState(null);
  const [problem, setProblem] = useState(null);
  const close = () => setOpen(null);
  const made = (key) => (setOpen({ made: key }), answer.again());
  const revoke = (id) => revokeKey(id).then(() => (close(), answer.again(), notify("Revoked. Whoever uses it is refused within seconds.")), setProblem);
  return html`<section>
    <h2>Keys</h2>
    ${problem && html`<${ProblemNote} problem=${problem} />`}
    <${Allowed} of=${answer} right="admin">${({ keys }) => html`
      ${keys.length === 0
        ? html`<p class="faint">There are none: whoever reaches this server from its own machine may do everything.</p>`
        : html`<div class="scroll" tabindex="0" role="region" aria-label="Keys"><table>
            <thead><tr><th scope="col">Id</th><th scope="col">For</th><th scope="col">May</th><th scope="col">Made</th><th scope="col">State</th></tr></thead>
            <tbody>${keys.map((key) => html`<tr key=${key.id}>
              <th scope="row"><code>${key.id}</code></th><td dir="auto">${key.note}</td><td>${key.rights.join(", ")}</td><td><${Time} at=${key.created_at} onlyDay /></td>
              <td>${key.revoked_at ? html`revoked <${Time} at=${key.revoked_at} onlyDay />` : html`<button type="button" aria-label=${`Revoke ${key.id}`} onClick=${() => setOpen({ revoke: key.id })}>Revoke</button>`}</td>
            </tr>`)}</tbody>
          </table></div>`}
      <p><button type="button" onClick=${() => setOpen({ new: true })}>Make a key</button></p>`}<//>
    ${open?.new && html`<${NewKey} onMade=${made} onClose=${close} />`}
    ${open?.made && html`<${Dialog} title="The new key" onClose=${close}>
      <p>Copy it now: it is shown this once, and only its digest is stored.</p>
      <p><code class="secret" tabindex="0">${open.made.token}</code></p>
      <div class="row"><button type="button" class="main" onClick=${close}>I have it</button></div>
    <//>`}
    ${open?.revoke && html`<${Dialog} title="Revoke this key?" onClose=${close}>
      <p>Whoever uses <code>${open.revoke}</code> is refused within seconds. It cannot be taken back.</p>
      <div class="row"><button type="button" class="main" onClick=${() => revoke(open.revoke)}>Revoke</button><button type="button" onClick=${close}>Cancel</button></div>
    <//>`}
  </section>`;
}
