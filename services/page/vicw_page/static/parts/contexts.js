/* A field for a context that offers those there are. */

import { html, useMemo } from "../vendor/preact-htm.js";
import { listContexts } from "../api.js";
import { useAnswer } from "./load.js";

let fields = 0;

export function ContextField({ value, onInput, label = "Context", hint = "all of them" }) {
  const known = useAnswer((signal) => listContexts({ limit: 100 }, signal), []);
  const list = useMemo(() => `contexts-${++fields}`, []);
  return html`<label>${label}
    <input list=${list} value=${value} placeholder=${hint} onInput=${(event) => onInput(event.target.value)} />
    <datalist id=${list}>${(known.value?.contexts || []).map(({ context }) => html`<option value=${context} />`)}</datalist>
  </label>`;
}
