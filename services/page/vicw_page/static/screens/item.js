/* A memory: all that is known of it, and what a person may change of it. */

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { getEntity, getItem, patchItem, retractItems, supersedeItem } from "../api.js";
import { Dialog } from "../parts/dialog.js";
import { Answer, ProblemNote, useAnswer } from "../parts/load.js";
import { notify } from "../parts/notices.js";
import { routeTo } from "../parts/route.js";
import { Facts, ItemLink, Stored, Tags, Time, counted, titleOf } from "../parts/show.js";

/** Edit the text, tags and importance; if somebody else has changed it meanwhile, say so and offer a choice. */
function Edit({ item, onDone, onClose }) {
  const [draft, setDraft] = useState({ text: item.text || "", tags: item.tags.join(", "), importance: item.importance ?? "" });
  const [problem, setProblem] = useState(null);
  const set = (name) => (event) => setDraft({ ...draft, [name]: event.target.value });
  const body = {
    ...(draft.text !== item.text && { text: draft.text }),
    tags: draft.tags.split(",").map((tag) => tag.trim()).filter(Boolean),
    ...(draft.importance !== "" && { importance: Number(draft.importance) }),
  };
  const save = (version) =>
    patchItem(item.uid, version, body).then((answer) => onDone(answer), setProblem);
  return html`<${Dialog} title="Edit this memory" onClose=${onClose}>
    <form onSubmit=${(event) => (event.preventDefault(), save(item.version))}>
      <label>Text <textarea rows="8" dir="auto" value=${draft.text} onInput=${set("text")} required></textarea></label>
      <label>Tags <input value=${draft.tags} onInput=${set("tags")} /></label>
      <label>Importance <input type="number" min="0" max="1" step="0.05" value=${draft.importance} onInput=${set("importance")} /></label>
      ${problem?.status === 412
        ? html`<div class="problem" role="alert">
            <p>This memory was changed while you had it open. Yours would replace that change.</p>
            <div class="row">
              <button type="button" onClick=${() => save(null)}>Save mine all the same</button>
              <button type="button" onClick=${() => onDone(null)}>Show me the other</button>
            </div>
          </div>`
        : problem && html`<${ProblemNote} problem=${problem} />`}
      <div class="row"><button type="submit" class="main">Save</button><button type="button" onClick=${onClose}>Cancel</button></div>
    </form>
  <//>`;
}

const visit = (uid) => {
  location.hash = routeTo("item", [uid]);
};

/** The uid of the latest version of a memory. */
const newest = (item) => item.versions.reduce((last, one) => (one.version > last.version ? one : last), item).uid;

function Actions({ item, again }) {
  const [open, setOpen] = useState("");
  const [problem, setProblem] = useState(null);
  const close = () => setOpen("");
  const edited = (answer) => {
    close();
    if (!answer) getItem(item.uid).then((now) => visit(newest(now)), setProblem);
    else if (answer.item.uid !== item.uid) visit(answer.item.uid);
    else again();
    if (answer) {
      const back = { text: item.text, tags: item.tags, importance: item.importance };
      notify("Saved as a new version.", () =>
        patchItem(answer.item.uid, null, back).then((undone) => visit(undone.item.uid), setProblem));
    }
  };
  const retract = () =>
    retractItems({ uids: [item.uid] }).then(() => (close(), again(), notify("Taken back. It is no longer found; its text stays until it is erased.")), setProblem);
  return html`
    <div class="row">
      <button type="button" onClick=${() => setOpen("edit")}>Edit</button>
      <button type="button" onClick=${() => setOpen("retract")}>Take back</button>
      <button type="button" onClick=${() => setOpen("supersede")}>Replaced by …</button>
      <a class="button" href=${routeTo("graph", [item.uid])}>Show in the graph</a>
    </div>
    ${problem && html`<${ProblemNote} problem=${problem} />`}
    ${open === "edit" && html`<${Edit} item=${item} onDone=${edited} onClose=${close} />`}
    ${open === "supersede" && html`<${Supersede} item=${item} again=${again} onClose=${close} />`}
    ${open === "retract" &&
    html`<${Dialog} title="Take this memory back?" onClose=${close}>
      <p>Questions no longer find it. Its text stays in the store, as part of its history, until it is erased.</p>
      <div class="row"><button type="button" class="main" onClick=${retract}>Take back</button><button type="button" onClick=${close}>Cancel</button></div>
    <//>`}
  `;
}

/** Say that another memory replaces this one. */
function Supersede({ item, again, onClose }) {
  const [by, setBy] = useState("");
  const [problem, setProblem] = useState(null);
  const send = (event) => {
    event.preventDefault();
    const body = { new: by.trim().replace(/^.*#\/item\//, ""), old: item.uid };
    supersedeItem(body).then(() => {
      onClose();
      again();
      notify("It is now the former state of the other.", () => supersedeItem({ ...body, undo: true }).then(again, setProblem));
    }, setProblem);
  };
  return html`<${Dialog} title="Which memory replaces this one?" onClose=${onClose}>
    <form onSubmit=${send}>
      <label>Its uid, or the address of its page <input required value=${by} onInput=${(event) => setBy(event.target.value)} /></label>
      ${problem && html`<${ProblemNote} problem=${problem} />`}
      <div class="row"><button type="submit" class="main">Replace</button><button type="button" onClick=${onClose}>Cancel</button></div>
    </form>
  <//>`;
}

const Part = ({ title, shown, children }) => (shown ? html`<section><h2>${title}</h2>${children}</section>` : null);

function Properties({ item }) {
  const facts = [
    ["Id", item.id], ["Uid", item.uid], ["Version", item.version], ["Source", item.source], ["Flow", item.flow_id],
    ["Importance", item.importance], ["Told", html`<${Time} at=${item.told_at} />`], ["Stored", html`<${Time} at=${item.created_at} />`],
    ["Expires", item.expires_at && html`<${Time} at=${item.expires_at} />`],
    ["Held until", item.valid_to && html`<${Time} at=${item.valid_to} />`],
    ...Object.entries(item.metadata).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  ];
  return html`<dl class="properties">
    ${facts.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => html`<dt dir="auto">${name}</dt><dd dir="auto">${value}</dd>`)}
  </dl>`;
}

function Whole({ item, again }) {
  const others = item.edges.filter((edge) => edge.other.uid !== item.uid);
  return html`
    <h1 dir="auto">${titleOf(item)}</h1>
    <${Facts} item=${item} />
    <${Tags} tags=${item.tags} />
    ${newest(item) !== item.uid
      ? html`<p class="problem">This is a former version. <a href=${routeTo("item", [newest(item)])}>Show the latest</a></p>`
      : html`<${Actions} item=${item} again=${again} />`}
    <section class="card"><${Stored} text=${item.text || ""} /></section>
    <${Part} title="Properties" shown><${Properties} item=${item} /><//>
    <${Part} title=${counted(item.statements.length, "statement")} shown=${item.statements.length > 0}>
      <ul>${item.statements.map((one) => html`<li dir="auto">${one.text} ${one.timestamp && html`<${Time} at=${one.timestamp} onlyDay />`}</li>`)}</ul>
    <//>
    <${Part} title="Joined to" shown=${others.length > 0}>
      <ul>${others.map((edge) => html`<li><span class="faint">${edge.type.toLowerCase().replaceAll("_", " ")}</span> <${ItemLink} item=${edge.other} />${edge.desc && html` <span dir="auto">– ${edge.desc}</span>`}</li>`)}</ul>
      ${!item.edges_complete && html`<p class="faint">There are more. <a href=${routeTo("graph", [item.uid])}>Show them in the graph</a>.</p>`}
    <//>
    <${Part} title="Versions" shown=${item.versions.length > 1}>
      <ol>${item.versions.map((one) => html`<li><a href=${routeTo("item", [one.uid])} aria-current=${one.uid === item.uid ? "true" : undefined}>Version ${one.version}</a>, stored <${Time} at=${one.created_at} /></li>`)}</ol>
    <//>
    <${Part} title="Sums up" shown=${item.consolidates.length > 0}>
      <ul>${item.consolidates.map((uid) => html`<li><a href=${routeTo("item", [uid])}>${uid}</a></li>`)}</ul>
    <//>
    <${Part} title="Summed up in" shown=${Boolean(item.consolidated_into)}><p><a href=${routeTo("item", [item.consolidated_into])}>its summary</a></p><//>
  `;
}

export function Screen({ path }) {
  const [uid] = path;
  const answer = useAnswer((signal) => (uid ? getItem(uid, {}, signal) : null), [uid]);
  const isNone = answer.problem?.status === 404;
  useEffect(() => {
    // Whoever has a uid alone does not know what it is of.
    if (isNone) getEntity(uid).then((entity) => location.replace(routeTo("entity", [entity.uid])), () => {});
  }, [isNone]);
  if (isNone) {
    return html`<h1>Memory</h1><div class="empty"><h2>There is no such memory</h2><p>It was erased, or it is of another store. <a href="#/browse">Look at what there is</a>.</p></div>`;
  }
  return html`<${Answer} of=${answer}>${(item) => html`<${Whole} key=${item.uid} item=${item} again=${answer.again} />`}<//>`;
}
