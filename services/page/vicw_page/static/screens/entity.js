/* A person or thing: its names, what is known of it, and which others it is the same as. */

import { html, useState } from "../vendor/preact-htm.js";
import { getEntity, getProfile, mergeEntities, renameEntity, splitEntities } from "../api.js";
import { Dialog } from "../parts/dialog.js";
import { Answer, ProblemNote, useAnswer } from "../parts/load.js";
import { notify } from "../parts/notices.js";
import { routeTo } from "../parts/route.js";
import { Time, counted } from "../parts/show.js";

const EntityLink = ({ entity }) => html`<a href=${routeTo("entity", [entity.uid])} dir="auto">${entity.name}</a>`;

/** A dialog with one field. */
function OneField({ title, label, value = "", button, send, onClose }) {
  const [text, setText] = useState(value);
  const [problem, setProblem] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    send(text.trim()).then(onClose, setProblem);
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form onSubmit=${submit}>
      <label>${label} <input required value=${text} onInput=${(event) => setText(event.target.value)} /></label>
      ${problem && html`<${ProblemNote} problem=${problem} />`}
      <div class="row"><button type="submit" class="main">${button}</button><button type="button" onClick=${onClose}>Cancel</button></div>
    </form>
  <//>`;
}

function Actions({ entity, again }) {
  const [open, setOpen] = useState("");
  const [problem, setProblem] = useState(null);
  const close = () => setOpen("");
  const rename = (name) =>
    renameEntity(entity.uid, { name }).then(() => {
      again();
      notify("Renamed.", () => renameEntity(entity.uid, { name: entity.name }).then(again, setProblem));
    });
  const merge = (other) => {
    const into = other.replace(/^.*#\/entity\//, "");
    return mergeEntities({ entity: entity.uid, into }).then(() => {
      again();
      notify("They are one now.", () => splitEntities({ entity: entity.uid }).then(again, setProblem));
    });
  };
  return html`
    <div class="row">
      <button type="button" onClick=${() => setOpen("rename")}>Rename</button>
      <button type="button" onClick=${() => setOpen("merge")}>Same as …</button>
      <a class="button" href=${routeTo("graph", [entity.uid])}>Show in the graph</a>
    </div>
    ${problem && html`<${ProblemNote} problem=${problem} />`}
    ${open === "rename" && html`<${OneField} title="Rename" label="Name" value=${entity.name} button="Save" send=${rename} onClose=${close} />`}
    ${open === "merge" && html`<${OneField} title="Which one is it the same as?" label="Its uid, or the address of its page" button="Merge" send=${merge} onClose=${close} />`}
  `;
}

function Merged({ entity, again }) {
  const [problem, setProblem] = useState(null);
  const split = (uid, name) =>
    splitEntities({ entity: uid }).then(() => {
      again();
      notify(`${name} is apart again.`, () => mergeEntities({ entity: uid, into: entity.uid }).then(again, setProblem));
    }, setProblem);
  const parts = entity.merged;
  if (!entity.merged_into && parts.length === 0) return null;
  return html`<section>
    <h2>The same</h2>
    ${problem && html`<${ProblemNote} problem=${problem} />`}
    ${entity.merged_into && html`<p>Part of <${EntityLink} entity=${entity.merged_into} /> <button type="button" onClick=${() => split(entity.uid, entity.name)}>Split</button></p>`}
    <ul>${parts.map((one) => html`<li key=${one.uid}><${EntityLink} entity=${one} />${one.guess && html` <span class="mark">a guess</span>`} <button type="button" aria-label=${`Split ${one.name}`} onClick=${() => split(one.uid, one.name)}>Split</button></li>`)}</ul>
  </section>`;
}

function Profile({ entity }) {
  const answer = useAnswer((signal) => getProfile(entity.uid, { limit: 100 }, signal), [entity.uid]);
  return html`<section>
    <h2>What is known</h2>
    <${Answer} of=${answer}>${(profile) =>
      profile.statements.length === 0
        ? html`<p class="faint">Nothing was said of ${entity.name}.</p>`
        : html`<ul>${profile.statements.map((one) => html`<li><a href=${routeTo("item", [one.item])} dir="auto">${one.text}</a> <span class="faint">${one.topic}, <${Time} at=${one.told_at} onlyDay />${one.ended ? ", no longer so" : ""}</span></li>`)}</ul>`}<//>
  </section>`;
}

function Whole({ entity, again }) {
  return html`
    <p><a href=${routeTo("people", [], { context: entity.context })}>All of ${entity.context}</a></p>
    <h1 dir="auto">${entity.name}</h1>
    <p class="facts"><span>${entity.label}</span> <span>${entity.subtype}</span> <span>${counted(entity.degree, "edge")}</span></p>
    ${entity.description && html`<p dir="auto">${entity.description}</p>`}
    <${Actions} entity=${entity} again=${again} />
    ${entity.aliases.length > 0 && html`<section><h2>Also called</h2><ul>${entity.aliases.map((name) => html`<li dir="auto">${name}</li>`)}</ul></section>`}
    <${Merged} entity=${entity} again=${again} />
    ${entity.subtype === "person" && html`<${Profile} entity=${entity} />`}
  `;
}

export function Screen({ path }) {
  const [uid] = path;
  const answer = useAnswer((signal) => (uid ? getEntity(uid, signal) : null), [uid]);
  return html`<${Answer} of=${answer}>${(entity) => html`<${Whole} key=${entity.uid} entity=${entity} again=${answer.again} />`}<//>`;
}
