/* Asks for a key when the server wants one. */

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { call, key } from "../api.js";
import { Dialog } from "./dialog.js";

/** Return why a key is asked for, or "" if none is needed. */
async function needed() {
  try {
    await call("GET", "/contexts", { query: { limit: 1 } });
    return "";
  } catch (problem) {
    if (problem.status !== 401) return "";
    return key.get() ? "The server does not know this key, or it was revoked." : "This server asks for a key.";
  }
}

export function KeyDialog() {
  const [why, setWhy] = useState("");
  const [token, setToken] = useState("");
  const check = () => needed().then(setWhy);
  useEffect(() => {
    check();
    return key.watch(check);
  }, []);
  if (!why) return null;
  const send = (event) => {
    event.preventDefault();
    setWhy("");
    setToken("");
    key.set(token.trim());
  };
  return html`<${Dialog} title="A key is needed" onClose=${() => setWhy("")}>
    <form onSubmit=${send}>
      <p>${why} It is kept until this tab is closed, and sent to this server alone.</p>
      <label>Key <input type="password" autocomplete="off" required value=${token} onInput=${(e) => setToken(e.target.value)} /></label>
      <p class="faint">Whoever runs the server makes one by <code>vicw keys create</code>.</p>
      <div class="row"><button type="submit" class="main">Use this key</button></div>
    </form>
  <//>`;
}
