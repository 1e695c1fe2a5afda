/* The graph around a node: a picture that is widened by a click, its causes from left to right, and the two orders. */

import { html, useEffect, useMemo, useState } from "../vendor/preact-htm.js";
import { graphWalk } from "../api.js";
import { Empty, ProblemNote, useModule } from "../parts/load.js";
import { replaceRoute, routeTo } from "../parts/route.js";
import { Time, counted, titleOf } from "../parts/show.js";

const MOST = 300;
const STEP = 60;
const CAUSES = ["CAUSED", "ENABLED"];
const ORDERS = [["NEXT", "What follows in its flow"], ["HAPPENED_AFTER", "What happened before it"]];
const VIEWS = [["around", "Around it"], ["causes", "Causes"], ["order", "Order"]];

/** Where a node is shown whole: a name has a page of its own, and a statement is shown with the memory that states it. */
function pageOf(node) {
  if (node.id) return routeTo("item", [node.uid]);
  if (node.label === "Entity" || node.label === "Concept") return routeTo("entity", [node.uid]);
  return routeTo("item", [node.source_item || node.uid]);
}

function requestOf(uid, view, asOf) {
  const types = { around: {}, causes: { include: CAUSES }, order: { include: ORDERS.map(([type]) => type) } }[view];
  return { start: [uid], hops: view === "around" ? 1 : 6, limit: STEP, types, as_of: asOf ? `${asOf}T23:59:59Z` : undefined };
}

/** The nodes and edges that are shown, and what widens them. */
function useWalk(uid, view, asOf) {
  const [state, setState] = useState({ nodes: new Map(), edges: new Map(), opened: new Set(), complete: true });
  const widen = (from) =>
    graphWalk(requestOf(from, view, asOf)).then(
      (found) =>
        setState((before) => {
          const nodes = new Map(before.nodes);
          found.nodes.forEach((node) => nodes.size < MOST && nodes.set(node.uid, { ...nodes.get(node.uid), ...node }));
          const edges = new Map(before.edges);
          found.edges.forEach((edge) => nodes.has(edge.source) && nodes.has(edge.target) && edges.set(edge.id, edge));
          return { nodes, edges, opened: new Set([...before.opened, from]), complete: before.complete && found.complete, ready: true };
        }),
      (problem) => setState((before) => ({ ...before, problem })),
    );
  useEffect(() => {
    if (uid) widen(uid);
  }, []);
  return { ...state, widen };
}

function Picture({ walk, uid, chosen, choose, view }) {
  const drawing = useModule("drawing", () => import("../parts/drawing.js"));
  if (drawing.failed) return html`<p class="problem">The picture did not load. The list has all of it.</p>`;
  const { module } = drawing;
  return module && html`<${module.Drawing} nodes=${walk.nodes} edges=${walk.edges} ...${{ uid, chosen, choose, view }} />`;
}

function Steps({ walk }) {
  return html`<div class="lanes">
    ${ORDERS.map(([type, title]) => {
      const edges = [...walk.edges.values()].filter((edge) => edge.type === type);
      const order = type === "NEXT" ? (edge) => [edge.source, edge.target] : (edge) => [edge.target, edge.source];
      const uids = new Set(edges.flatMap(order));
      const nodes = [...uids].map((uid) => walk.nodes.get(uid)).sort((one, two) => (one.timestamp || "").localeCompare(two.timestamp || ""));
      return html`<section key=${type} aria-label=${type}>
        <h2>${title}</h2>
        ${nodes.length === 0 ? html`<p class="faint">Nothing.</p>` : html`<ol>${nodes.map((node) => html`<li><${Time} at=${node.timestamp} /> <a href=${pageOf(node)} dir="auto">${titleOf(node)}</a></li>`)}</ol>`}
      </section>`;
    })}
  </div>`;
}

function List({ walk, chosen, choose, view }) {
  const nodes = [...walk.nodes.values()];
  return html`<section aria-label="What is shown">
    <h2>${counted(nodes.length, "node")}, ${counted(walk.edges.size, "edge")}${walk.complete ? "" : ", in part"}</h2>
    ${nodes.length >= MOST && html`<p class="faint">No more than ${MOST} are shown. Begin at another one to see more.</p>`}
    <ul class="nodes">${nodes.map((node) => html`<li key=${node.uid} class=${node.uid === chosen ? "chosen" : ""}>
      <span class=${`dot ${node.label.toLowerCase()}`} aria-hidden="true"></span>
      <a href=${pageOf(node)} dir="auto">${titleOf(node)}</a> <span class="faint">${node.label}, ${node.subtype}</span>
      ${view === "around" && !walk.opened.has(node.uid) && html` <button type="button" aria-label=${`Widen from ${titleOf(node)}`} onClick=${() => choose(node.uid)}>Widen</button>`}
    </li>`)}</ul>
    ${view === "causes" && html`<ul>${[...walk.edges.values()].map((edge) => html`<li>${titleOf(walk.nodes.get(edge.source))} <span aria-hidden="true">→</span> <span class="faint">${edge.type.toLowerCase()}</span> ${titleOf(walk.nodes.get(edge.target))}</li>`)}</ul>`}
  </section>`;
}

function Walk({ uid, view, asOf }) {
  const walk = useWalk(uid, view, asOf);
  const [chosen, setChosen] = useState(uid);
  const choose = (node) => {
    setChosen(node);
    if (view === "around" && !walk.opened.has(node)) walk.widen(node);
  };
  if (walk.problem) return html`<${ProblemNote} problem=${walk.problem} />`;
  if (!walk.ready) return html`<p class="busy" role="status">Loading …</p>`;
  if (walk.edges.size === 0) return html`<${Empty} title="Nothing is joined to it this way"><p>Choose another view, or a later day.</p><//>`;
  return html`<div>
    ${view === "order" ? html`<${Steps} walk=${walk} />` : html`<${Picture} ...${{ walk, uid, chosen, choose, view }} />`}
    ${view !== "order" && html`<${List} ...${{ walk, chosen, choose, view }} />`}
  </div>`;
}

export function Screen({ path, query }) {
  const [uid] = path;
  const [view, setView] = useState(query.view || "around");
  const [asOf, setAsOf] = useState(query.as_of || "");
  const shown = useMemo(() => JSON.stringify([uid, view, asOf]), [uid, view, asOf]);
  useEffect(() => {
    if (uid) replaceRoute("graph", [uid], { view: view === "around" ? "" : view, as_of: asOf });
  }, [view, asOf]);
  if (!uid) {
    return html`<h1>Graph</h1><${Empty} title="Where shall it begin?">
      <p>Choose a memory in <a href="#/browse">Browse</a> or somebody in <a href="#/people">People</a>, then “Show in the graph”.</p>
    <//>`;
  }
  return html`
    <h1>Graph</h1>
    <div class="row">
      <div class="row" role="group" aria-label="Show">${VIEWS.map(([name, title]) => html`<button type="button" aria-pressed=${view === name} onClick=${() => setView(name)}>${title}</button>`)}</div>
      <label class="short">As it was on <input type="date" value=${asOf} onChange=${(event) => setAsOf(event.target.value)} /></label>
    </div>
    <${Walk} key=${shown} ...${{ uid, view, asOf }} />
  `;
}
