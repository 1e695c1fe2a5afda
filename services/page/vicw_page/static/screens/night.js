/* Night: what maintenance does by itself, what it did and refused, and what of it can be undone. */

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { getCheck, getSleep, runSleepJob, undoSleepStep } from "../api.js";
import { ProblemNote, useAnswer } from "../parts/load.js";
import { notify } from "../parts/notices.js";
import { Allowed } from "../parts/refused.js";
import { routeTo } from "../parts/route.js";
import { Time, count } from "../parts/show.js";

const RUNNABLE = ["consolidation", "dream", "resolve"];
const TASKS = ["consolidate", "dream", "resolve", "forget", "expire"];
const LOOK_MS = 2000;
const LOOKS = 10; // how often to look whether a job that was started has ended

function Jobs({ state, again }) {
  const [problem, setProblem] = useState(null);
  const run = (job) => runSleepJob({ job }).then(() => (setProblem(null), notify(`Started: ${job}.`), again()), setProblem);
  return html`<section>
    <h2>Jobs</h2>
    ${problem && html`<${ProblemNote} problem=${problem} />`}
    <div class="scroll" tabindex="0" role="region" aria-label="Jobs"><table>
      <thead><tr><th scope="col">Job</th><th scope="col">State</th><th scope="col">Last run</th><th scope="col">Next</th><th scope="col"><span class="hidden">Run</span></th></tr></thead>
      <tbody>
        ${state.jobs.map(
          (job) => html`<tr key=${job.job}>
            <th scope="row">${job.job}</th>
            <td>${job.running ? "running" : job.stopped_by ? html`stopped by <code>${job.stopped_by}</code>` : "waiting"}${job.error && html`<br /><span class="mark">${job.error}</span>`}</td>
            <td>${job.at ? html`<${Time} at=${job.at} />` : "not yet"}</td>
            <td>${job.next_at ? html`<${Time} at=${job.next_at} />` : job.stopped_by ? "–" : "when there is work"}</td>
            <td>${RUNNABLE.includes(job.job) && !job.stopped_by && html`<button type="button" disabled=${job.running} onClick=${() => run(job.job)} aria-label=${`Run ${job.job} now`}>Run now</button>`}</td>
          </tr>`,
        )}
      </tbody>
    </table></div>
  </section>`;
}

function Step({ step, again }) {
  const [problem, setProblem] = useState(null);
  const canUndo = step.outcome === "done" && step.undo_until && new Date(step.undo_until) > new Date();
  const undo = () => undoSleepStep({ step: step.id }).then(() => (notify("Undone."), again()), setProblem);
  return html`<li class="card">
    <p class="facts">
      <b>${step.task}</b> <span>${step.outcome}</span> <${Time} at=${step.at} />
      ${step.context && html`<a href=${routeTo("browse", [], { context: step.context })} dir="auto">${step.context}</a>`}
      <a href=${routeTo("item", [step.subject])}>what it made</a>
    </p>
    ${step.reason && html`<p dir="auto">${step.reason}</p>`}
    ${canUndo && html`<button type="button" onClick=${undo} aria-label=${`Undo this step of ${step.task}`}>Undo</button> <span class="faint">until <${Time} at=${step.undo_until} /></span>`}
    ${problem && html`<${ProblemNote} problem=${problem} />`}
  </li>`;
}

function Steps({ state, task, again }) {
  const choose = (event) => (location.hash = routeTo("night", [], { task: event.target.value }));
  return html`<section>
    <h2>What it did</h2>
    <label>Steps of <select value=${task} onChange=${choose}>
      <option value="">all jobs</option>${TASKS.map((name) => html`<option value=${name}>${name}</option>`)}
    </select></label>
    ${state.steps.length === 0
      ? html`<p class="faint">Nothing yet. Old events are summed up once there are enough of them.</p>`
      : html`<ol class="cards">${state.steps.map((step) => html`<${Step} key=${step.id} ...${{ step, again }} />`)}</ol>`}
    ${state.next && html`<p class="faint">These are the latest. <code>vicw sleep log</code> shows all.</p>`}
  </section>`;
}

function Drift() {
  const answer = useAnswer((signal) => getCheck(signal), []);
  return html`<section>
    <h2>Do graph and index agree?</h2>
    <${Allowed} of=${answer} right="admin">${(state) => html`
      ${state.rebuilding && html`<p>The index is being rebuilt: ${state.rebuilding}.</p>`}
      ${state.compared
        ? html`<p>Compared <${Time} at=${state.compared.at} />${state.compared.error ? `: ${state.compared.error}` : ""}.
            ${state.drift
              ? html` Last difference, found <${Time} at=${state.drift.at} />: ${count(state.drift.missing)} missing, ${count(state.drift.stale)} stale, ${count(state.drift.orphaned)} orphaned.`
              : " No difference was found."}</p>`
        : html`<p class="faint">Not compared yet.</p>`}
      <p>Passages that wait for the index: ${count(state.passages_waiting)}.</p>`}<//>
  </section>`;
}

export function Screen({ query }) {
  const task = query.task || "";
  const answer = useAnswer((signal) => getSleep({ task, limit: 50 }, signal), [task]);
  const [looks, setLooks] = useState(0);
  const isRunning = answer.value?.jobs.some((job) => job.running);
  useEffect(() => {
    if (!isRunning && !looks) return undefined;
    const look = setTimeout(() => (setLooks(Math.max(looks - 1, 0)), answer.again()), LOOK_MS);
    return () => clearTimeout(look);
  }, [answer.value, looks]);
  const again = () => (setLooks(LOOKS), answer.again());
  return html`
    <h1>Night</h1>
    <p>What the memory does by itself: it sums up old events, finds tags and duplicates, and lets go of what is out of date.</p>
    <${Allowed} of=${answer} right="admin">${(state) => html`<${Jobs} ...${{ state, again }} /><${Steps} ...${{ state, task, again }} />`}<//>
    <${Drift} />
  `;
}
