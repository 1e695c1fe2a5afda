/* Short messages about what was done, with a way back where there is one. */

import { html, useEffect, useState } from "../vendor/preact-htm.js";

const SHOWN_MS = 12_000;
let notices = [];
let redraw = () => {};
let last = 0;

function remove(id) {
  notices = notices.filter((notice) => notice.id !== id);
  redraw();
}

/** Say `text`; `undo`, if given, is called by its button. */
export function notify(text, undo) {
  const id = ++last;
  notices = [...notices.slice(-2), { id, text, undo }];
  redraw();
  setTimeout(remove, SHOWN_MS, id);
}

export function Notices() {
  const [, setTurn] = useState(0);
  useEffect(() => {
    redraw = () => setTurn((turn) => turn + 1);
  }, []);
  return html`<div class="notices" role="status" aria-live="polite">
    ${notices.map(
      ({ id, text, undo }) => html`<p key=${id}>
        ${text}
        ${undo && html`<button type="button" onClick=${() => (remove(id), undo())}>Undo</button>`}
        <button type="button" class="quiet" aria-label="Close this message" onClick=${() => remove(id)}>✕</button>
      </p>`,
    )}
  </div>`;
}
