/* Add: files of every format that the importers know, and pasted text. */

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { cancelImport, getImport, importFiles, ingest } from "../api.js";
import { ContextField } from "../parts/contexts.js";
import { ProblemNote } from "../parts/load.js";
import { notify } from "../parts/notices.js";
import { routeTo } from "../parts/route.js";
import { counted } from "../parts/show.js";

const LOOK_MS = 700;
const SHOWN = 200;

function Unread({ title, entries, kinds }) {
  if (!entries.length) return null;
  return html`<details open=${entries.length <= 20}>
    <summary>${title}: ${Object.entries(kinds).map(([kind, number]) => `${number} ${kind}`).join(", ") || entries.length}</summary>
    <ul>${entries.slice(0, SHOWN).map((entry) => html`<li><b dir="auto">${entry.path}${entry.line ? `:${entry.line}` : ""}</b> ${entry.reason}.${entry.fix && html` <span class="faint">${entry.fix}.</span>`}</li>`)}</ul>
    ${entries.length > SHOWN && html`<p class="faint">… and ${entries.length - SHOWN} more.</p>`}
  </details>`;
}

function Report({ job }) {
  const { report } = job;
  const stored = report.created + report.updated + report.replaced;
  return html`<section class="card" aria-label="Report">
    <h2>${job.status === "done" ? (report.dry_run ? "What would be stored" : "Stored") : `The import is ${job.status}`}</h2>
    ${job.error && html`<p class="problem">${job.error}</p>`}
    <p role="status">${report.dry_run
      ? counted(report.read.reduce((sum, read) => sum + read.items, 0), "memory", "memories")
      : `${counted(stored, "memory", "memories")} stored, ${report.unchanged} unchanged, ${report.private} of them private`}.</p>
    <ul>${report.read.map((read) => html`<li>${read.title}: ${counted(read.files, "file")}, ${counted(read.items, "memory", "memories")}</li>`)}</ul>
    <${Unread} title="Not read" entries=${report.refused} kinds=${report.refused_kinds} />
    <${Unread} title="Passed over" entries=${report.passed_over} kinds=${report.passed_over_kinds} />
    <${Unread} title="Noted" entries=${report.noted} kinds=${report.noted_kinds} />
    ${!report.dry_run && stored > 0 && html`<p>${Object.keys(report.contexts).map((context) => html`<a href=${routeTo("browse", [], { context })} dir="auto">Look at ${context}</a> `)}</p>`}
  </section>`;
}

function Files() {
  const [files, setFiles] = useState([]);
  const [context, setContext] = useState("");
  const [sensitivity, setSensitivity] = useState("");
  const [job, setJob] = useState(null);
  const [problem, setProblem] = useState(null);
  const [over, setOver] = useState(false);
  const isBusy = job && ["sending", "running", "cancelling"].includes(job.status);
  const look = (id) => getImport(id).then(setJob, setProblem);
  useEffect(() => {
    if (!job || !["running", "cancelling"].includes(job.status)) return undefined;
    const timer = setTimeout(look, LOOK_MS, job.job);
    return () => clearTimeout(timer);
  }, [job]);
  const send = (dryRun) => {
    const form = new FormData();
    files.forEach((file) => form.append("files", file, file.webkitRelativePath || file.name));
    setProblem(null);
    setJob({ status: "sending" });
    importFiles(form, { context, sensitivity, dry_run: dryRun || undefined }).then(setJob, (refused) => (setJob(null), setProblem(refused)));
  };
  const drop = (event) => {
    event.preventDefault();
    setOver(false);
    setFiles([...event.dataTransfer.files]);
  };
  return html`<section aria-label="Files">
    <div class=${over ? "drop over" : "drop"} onDragOver=${(event) => (event.preventDefault(), setOver(true))} onDragLeave=${() => setOver(false)} onDrop=${drop}>
      <label>Files to add; or drop them here
        <input type="file" multiple onChange=${(event) => setFiles([...event.target.files])} />
      </label>
      <p class="faint">Exports of assistants and chats, mail, notes, documents, code, and archives of them.</p>
    </div>
    <div class="fields">
      <${ContextField} value=${context} onInput=${setContext} hint="named by the file" />
      <label>Who may see it <select value=${sensitivity} onChange=${(event) => setSensitivity(event.target.value)}>
        <option value="">as its kind suggests</option><option>public</option><option>personal</option><option>sensitive</option>
      </select></label>
    </div>
    <p>${files.length > 0 ? `${counted(files.length, "file")}: ${files.slice(0, 5).map((file) => file.name).join(", ")}${files.length > 5 ? " …" : ""}` : ""}</p>
    <div class="row">
      <button type="button" class="main" disabled=${!files.length || isBusy} onClick=${() => send(false)}>Add them</button>
      <button type="button" disabled=${!files.length || isBusy} onClick=${() => send(true)}>Show what would be stored</button>
      ${job?.status === "running" && html`<button type="button" onClick=${() => cancelImport(job.job).then(setJob, setProblem)}>Stop</button>`}
    </div>
    ${problem && html`<${ProblemNote} problem=${problem} />`}
    ${isBusy && html`<p role="status" class="busy">${job.status === "sending" ? "Sending …" : `Reading … ${job.report ? counted(job.report.read.reduce((sum, read) => sum + read.items, 0), "memory", "memories") : ""}`}</p>`}
    ${job && !isBusy && html`<${Report} job=${job} />`}
  </section>`;
}

function Text() {
  const empty = { text: "", name: "", speaker: "", tags: "" };
  const [draft, setDraft] = useState(empty);
  const [context, setContext] = useState("");
  const [problem, setProblem] = useState(null);
  const set = (name) => (event) => setDraft({ ...draft, [name]: event.target.value });
  const send = (event) => {
    event.preventDefault();
    const tags = draft.tags.split(",").map((tag) => tag.trim()).filter(Boolean);
    const item = { text: draft.text, name: draft.name || undefined, speaker: draft.speaker || undefined, tags };
    ingest({ context, wait: true, items: [item] }).then((answer) => {
      setDraft(empty);
      setProblem(null);
      notify("Stored.");
      location.hash = routeTo("item", [answer.items[0].uid]);
    }, setProblem);
  };
  return html`<form onSubmit=${send} aria-label="Text">
    <label>Text <textarea rows="6" dir="auto" required value=${draft.text} onInput=${set("text")}></textarea></label>
    <div class="fields">
      <${ContextField} value=${context} onInput=${setContext} label="Context it belongs to" hint="my notes" />
      <label>Title <input value=${draft.name} onInput=${set("name")} /></label>
      <label>Said by <input value=${draft.speaker} onInput=${set("speaker")} /></label>
      <label>Tags of it <input value=${draft.tags} onInput=${set("tags")} /></label>
    </div>
    ${problem && html`<${ProblemNote} problem=${problem} />`}
    <button type="submit" class="main" disabled=${!context.trim()}>Store</button>
    ${!context.trim() && html` <span class="faint">It needs a context.</span>`}
  </form>`;
}

export function Screen() {
  return html`<h1>Add</h1><h2>Files</h2><${Files} /><h2>A text</h2><${Text} />`;
}
