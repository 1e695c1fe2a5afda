/* The frame of the page: its screens, found by what follows "#/" in the address, and what all of them share. */

import { html, render, useEffect, useState } from "./vendor/preact-htm.js";
import { key } from "./api.js";
import { useModule } from "./parts/load.js";
import { Notices } from "./parts/notices.js";
import { nextTheme, theme } from "./parts/theme.js";
import { parseRoute } from "./parts/route.js";

/* A screen is loaded when it is first opened. `entry` says under which entry of the menu it is. */
const SCREENS = {
  ask: { title: "Ask", load: () => import("./screens/ask.js") },
  browse: { title: "Browse", load: () => import("./screens/browse.js") },
  graph: { title: "Graph", load: () => import("./screens/graph.js") },
  people: { title: "People", load: () => import("./screens/people.js") },
  entity: { title: "Entity", entry: "people", load: () => import("./screens/entity.js") },
  night: { title: "Night", load: () => import("./screens/night.js") },
  add: { title: "Add", load: () => import("./screens/add.js") },
  state: { title: "State", load: () => import("./screens/state.js") },
  item: { title: "Memory", entry: "browse", load: () => import("./screens/item.js") },
};
const MENU = Object.keys(SCREENS).filter((name) => !SCREENS[name].entry);

function useRoute() {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", follow);
    follow(); // it may have changed since the first drawing
    return () => removeEventListener("hashchange", follow);
  }, []);
  return SCREENS[route.screen] ? route : { screen: "ask", path: [], query: {} };
}

function Menu({ current }) {
  return html`<nav aria-label="Screens">
    ${MENU.map(
      (name) => html`<a href=${`#/${name}`} aria-current=${name === current ? "page" : undefined}>${SCREENS[name].title}</a>`,
    )}
  </nav>`;
}

function Tools() {
  const [hasKey, setHasKey] = useState(Boolean(key.get()));
  const [shown, setShown] = useState(theme());
  useEffect(() => key.watch(() => setHasKey(Boolean(key.get()))), []);
  return html`<div class="tools">
    <button type="button" class="quiet" onClick=${() => setShown(nextTheme())} aria-label=${`Colours: ${shown}. Change`}>
      ${shown === "dark" ? "Dark" : shown === "light" ? "Light" : "Auto"}
    </button>
    ${hasKey && html`<button type="button" class="quiet" onClick=${() => key.set("")}>Forget key</button>`}
  </div>`;
}

/** Asks for a key once the server wants one. */
function KeyKeeper() {
  const [why, setWhy] = useState("");
  const { module } = useModule(why ? "key" : "", why && (() => import("./parts/key-dialog.js")));
  useEffect(() => key.onWanted(setWhy), []);
  return why && module && html`<${module.KeyDialog} why=${why} onClose=${() => setWhy("")} />`;
}

function App() {
  const route = useRoute();
  const screen = SCREENS[route.screen];
  const { module, failed } = useModule(route.screen, screen.load);
  useEffect(() => {
    document.title = `${screen.title} – VICW`;
  }, [route.screen]);
  return html`
    <a class="skip" href="#main" onClick=${(event) => (event.preventDefault(), document.getElementById("main").focus())}>
      Skip to the content
    </a>
    <header>
      <a class="brand" href="#/ask">VICW</a>
      <${Menu} current=${screen.entry || route.screen} />
      <${Tools} />
    </header>
    <main id="main" tabindex="-1">
      ${failed && html`<p class="problem" role="alert">This part of the page did not load. Reload the page.</p>`}
      ${module && html`<${module.Screen} key=${[route.screen, ...route.path].join("/")} path=${route.path} query=${route.query} />`}
    </main>
    <${Notices} />
    <${KeyKeeper} />
  `;
}

const place = document.getElementById("app");
place.textContent = "";
render(html`<${App} />`, place);
