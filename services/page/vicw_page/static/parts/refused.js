/* A part of a screen for which the key lacks the right: said as such, not as an error. */

import { html } from "../vendor/preact-htm.js";
import { Answer } from "./load.js";

export function Allowed({ of, right, children }) {
  if (of.problem?.status === 403) return html`<p class="faint">This key lacks the right <code>${right}</code>.</p>`;
  return html`<${Answer} of=${of}>${children}<//>`;
}
