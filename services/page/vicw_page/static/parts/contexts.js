/* A field for a context that offers those there are. */

import { html } from "../vendor/preact-htm.js";
import { listContexts } from "../api.js";
import { useAnswer } from "./load.js";

export function ContextField({ value, onInput, label = "Context", hint = "all of them" }) {
  const known = useAnswer((signal) => listContexts({ limit: 100 }, signal), []);
  return html`<label>${label}
    <input list="contexts" value=${value} placeholder=${hint} onInput=${(event) => onInput(event.target.value)} />
    <datalist id="contexts">${(known.value?.contexts || []).map(({ context }) => html`<option value=${context} />`)}</datalist>
  </label>`;
}
