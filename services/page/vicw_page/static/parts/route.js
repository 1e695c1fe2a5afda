/* Addresses inside the page: `#/screen/part/part?name=value`. */

/** Return { screen, path, query } of the part of an address after "#". */
export function parseRoute(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [screen = "", ...parts] = path.split("/");
  return { screen: screen || "ask", path: parts.filter(Boolean).map(decoded), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** Return the address of a screen; empty values of the query are left out. */
export function routeTo(screen, path = [], query = {}) {
  const values = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const text = new URLSearchParams(values).toString();
  return `#/${[screen, ...path.map(encodeURIComponent)].join("/")}${text ? `?${text}` : ""}`;
}

/** Change the address without a new step of the browser's history. */
export function replaceRoute(screen, path, query) {
  history.replaceState(null, "", routeTo(screen, path, query));
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
