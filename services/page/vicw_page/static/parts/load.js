/* What a screen asks the server for, and what it shows meanwhile and instead. */

import { html, useCallback, useEffect, useState } from "../vendor/preact-htm.js";
import { key } from "../api.js";

/**
 * Ask the server when `inputs` change, and again when the key does. `ask(signal)` returns a promise, or null to ask nothing.
 * Returns { value, problem, busy, again }; the former value stays until the next one is there.
 */
export function useAnswer(ask, inputs) {
  const [state, setState] = useState({ busy: true });
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((number) => number + 1), []);
  useEffect(() => key.watch(again), []);
  useEffect(() => {
    const control = new AbortController();
    const asked = ask(control.signal);
    if (!asked) {
      setState({ busy: false });
      return undefined;
    }
    setState((before) => ({ ...before, busy: true }));
    asked.then(
      (value) => control.signal.aborted || setState({ value, busy: false }),
      (problem) => control.signal.aborted || setState({ problem, busy: false }),
    );
    return () => control.abort();
  }, [...inputs, turn]);
  return { ...state, again };
}

/** Load a module when it is first needed; returns { module }, or { failed } if it did not come. `name` says which it is. */
export function useModule(name, load) {
  const [loaded, setLoaded] = useState({});
  useEffect(() => {
    if (!load) return undefined;
    let open = true;
    load().then(
      (module) => open && setLoaded({ name, module }),
      () => open && setLoaded({ name, failed: true }),
    );
    return () => (open = false);
  }, [name]);
  return loaded.name === name ? loaded : {};
}

/** Say what went wrong and how to go on. */
export function ProblemNote({ problem, again }) {
  return html`<div class="problem" role="alert">
    <p><strong>${problem.title || "That did not work"}.</strong> ${problem.message}</p>
    ${problem.errors?.length > 0 &&
    html`<ul>${problem.errors.map((error) => html`<li><code>${error.field}</code>: ${error.message}</li>`)}</ul>`}
    ${problem.fix && html`<p>${problem.fix}</p>`}
    ${problem.requestId && html`<p class="faint">Request ${problem.requestId}</p>`}
    ${again && html`<button type="button" onClick=${again}>Try again</button>`}
  </div>`;
}

/** Show an answer by `children(value)`, that it is awaited, or the problem. */
export function Answer({ of, children }) {
  if (of.problem) return html`<${ProblemNote} problem=${of.problem} again=${of.again} />`;
  if (of.value === undefined) return of.busy ? html`<p class="busy" role="status">Loading …</p>` : null;
  return html`<div>${children(of.value)}</div>`; // one element: what follows stays in its place when it comes
}

/** What stands where there is nothing yet: what to do next. */
export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}
