/* The public operations, one function each, named as in the OpenAPI document. Nothing else sends a request. */

const KEY = "vicw.key";
const watchers = new Set();
const keepers = new Set();

/** An error answer: an RFC 9457 problem document, or what there is of one. */
export class Problem extends Error {
  constructor(status, document) {
    super(document.detail || document.title || `The server answered ${status}`);
    this.status = status;
    this.title = document.title || "";
    this.code = document.code || document.type || "";
    this.fix = document.fix || "";
    this.requestId = document.request_id || "";
    this.errors = Array.isArray(document.errors) ? document.errors : [];
  }
}

/** The key of this tab: gone with the tab, and never in an address. */
export const key = {
  get: () => sessionStorage.getItem(KEY) || "",
  set(token) {
    if (token) sessionStorage.setItem(KEY, token);
    else sessionStorage.removeItem(KEY);
    watchers.forEach((tell) => tell());
  },
  /** Call `tell` when the key changes; returns what ends that. */
  watch(tell) {
    watchers.add(tell);
    return () => watchers.delete(tell);
  },
  /** Call `tell(why)` when the server wants a key, or another one; returns what ends that. */
  onWanted(tell) {
    keepers.add(tell);
    return () => keepers.delete(tell);
  },
};

function address(path, query) {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") {
        values.append(name, typeof one === "object" ? JSON.stringify(one) : one);
      }
    }
  }
  const text = values.toString();
  return text ? `${path}?${text}` : path;
}

async function problemOf(response) {
  let document = {};
  try {
    document = await response.json();
  } catch {
    // A proxy's page, say: its status has to do.
  }
  return new Problem(response.status, document || {});
}

/** Send a request; returns the answer's JSON, null for an empty one. Throws a Problem; status 0: no server answers. */
export async function call(method, path, { query, body, form, headers, signal } = {}) {
  const sent = { Accept: "application/json", ...headers };
  if (key.get()) sent.Authorization = `Bearer ${key.get()}`;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(address(path, query), {
      method, headers: sent, signal, credentials: "omit", body: form || (body === undefined ? undefined : JSON.stringify(body)),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { title: "No answer", detail: "The server does not answer.", fix: "Is it running? Then try again." });
  }
  if (response.status === 401) {
    const why = key.get() ? "The server does not know this key, or it was revoked." : "This server asks for a key.";
    keepers.forEach((tell) => tell(why));
  }
  if (!response.ok) throw await problemOf(response);
  return response.status === 204 ? null : response.json();
}

const part = encodeURIComponent;

export const retrieve = (body, signal) => call("POST", "/retrieve", { body, signal });
export const giveFeedback = (body) => call("POST", "/feedback", { body });
export const ingest = (body) => call("POST", "/ingest", { body });
export const listContexts = (query, signal) => call("GET", "/contexts", { query, signal });
export const listItems = (query, signal) => call("GET", "/items", { query, signal });
export const getItem = (uid, query, signal) => call("GET", `/items/${part(uid)}`, { query, signal });
export const patchItem = (uid, version, body) =>
  call("PATCH", `/items/${part(uid)}`, { body, headers: version ? { "If-Match": `"${version}"` } : {} });
export const retractItems = (body) => call("POST", "/items/retract", { body });
export const supersedeItem = (body) => call("POST", "/supersede", { body });
export const getTimeline = (context, query, signal) =>
  call("GET", `/contexts/${part(context)}/timeline`, { query, signal });
export const graphWalk = (body, signal) => call("POST", "/graph/walk", { body, signal });
export const graphAbout = (body, signal) => call("POST", "/graph/about", { body, signal });
export const listEntities = (query, signal) => call("GET", "/entities", { query, signal });
export const listMergeCandidates = (query, signal) => call("GET", "/entities/candidates", { query, signal });
export const getEntity = (uid, signal) => call("GET", `/entities/${part(uid)}`, { signal });
export const mergeEntities = (body) => call("POST", "/entities/merge", { body });
export const splitEntities = (body) => call("POST", "/entities/split", { body });
export const renameEntity = (uid, body) => call("POST", `/entities/${part(uid)}/rename`, { body });
export const getProfile = (uid, query, signal) => call("GET", `/people/${part(uid)}/profile`, { query, signal });
export const listUsers = (query, signal) => call("GET", "/users", { query, signal });
export const getSleep = (query, signal) => call("GET", "/sleep", { query, signal });
export const undoSleepStep = (body) => call("POST", "/sleep/undo", { body });
export const runSleepJob = (body) => call("POST", "/sleep/run", { body });
export const getCheck = (signal) => call("GET", "/check", { signal });
export const getStats = (query, signal) => call("GET", "/stats", { query, signal });
export const listKeys = (signal) => call("GET", "/keys", { signal });
export const createKey = (body) => call("POST", "/keys", { body });
export const revokeKey = (id) => call("DELETE", `/keys/${part(id)}`);
export const erase = (body) => call("POST", "/forget", { body });
export const getErasure = (id, signal) => call("GET", `/forget/${part(id)}`, { signal });
export const listChanges = (query, signal) => call("GET", "/audit", { query, signal });
export const importFiles = (form, query, signal) => call("POST", "/import", { form, query, signal });
export const getImport = (job, signal) => call("GET", `/import/${part(job)}`, { signal });
export const cancelImport = (job) => call("DELETE", `/import/${part(job)}`);
export const readyz = (signal) => call("GET", "/readyz", { signal });
