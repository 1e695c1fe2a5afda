/* Asks for a key when the server wants one. */

import { html, useState } from "../vendor/preact-htm.js";
import { key } from "../api.js";
import { Dialog } from "./dialog.js";

export function KeyDialog({ why, onClose }) {
  const [token, setToken] = useState("");
  const send = (event) => {
    event.preventDefault();
    onClose();
    key.set(token.trim());
  };
  return html`<${Dialog} title="A key is needed" onClose=${onClose}>
    <form onSubmit=${send}>
      <p>${why} It is kept until this tab is closed, and sent to this server alone.</p>
      <label>Key <input type="password" autocomplete="off" required value=${token} onInput=${(e) => setToken(e.target.value)} /></label>
      <p class="faint">Whoever runs the server makes one by <code>vicw keys create</code>.</p>
      <div class="row"><button type="submit" class="main">Use this key</button></div>
    </form>
  <//>`;
}
