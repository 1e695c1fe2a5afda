/* The picture of a graph on a canvas. All that it shows stands in the list beside it, too. */

import "../vendor/force-graph.js";
import { html, useEffect, useRef } from "../vendor/preact-htm.js";
import { titleOf } from "./show.js";

const LABELS = ["Event", "Entity", "Concept", "Chunk", "Context"];
const CATEGORIES = {
  causal: ["CAUSED", "ENABLED"],
  order: ["NEXT", "HAPPENED_AFTER", "SUPERSEDES"],
};
const NAMES_FROM = 1.2; // at this scale and larger, every node shows its name

const categoryOf = (type) => Object.keys(CATEGORIES).find((name) => CATEGORIES[name].includes(type)) || "other";

function colours(element) {
  const style = getComputedStyle(element);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    ink: of("--ink"),
    faint: of("--line"),
    labels: Object.fromEntries(LABELS.map((label) => [label, of(`--node-${label.toLowerCase()}`)])),
    edges: { causal: of("--edge-causal"), order: of("--edge-order"), other: of("--control") },
  };
}

const shortName = (node) => {
  const name = titleOf(node);
  return name.length > 32 ? `${name.slice(0, 31)}…` : name;
};

export function Drawing({ nodes, edges, uid, chosen, choose, view }) {
  const place = useRef(null);
  const graph = useRef(null);
  const wish = useRef({});
  wish.current = { chosen, choose };
  useEffect(() => {
    const colour = colours(place.current);
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    // Labels are drawn, never given as HTML: they are stored text.
    graph.current = ForceGraph()(place.current)
      .width(place.current.clientWidth)
      .height(place.current.clientHeight)
      .nodeId("uid")
      .nodeLabel(() => "")
      .linkLabel(() => "")
      .linkColor((edge) => colour.edges[categoryOf(edge.type)])
      .linkWidth((edge) => (categoryOf(edge.type) === "causal" ? 2 : 1))
      .linkDirectionalArrowLength(4)
      .linkDirectionalArrowRelPos(1)
      .cooldownTime(isStill ? 0 : 4000)
      .warmupTicks(isStill ? 120 : 20)
      .onNodeClick((node) => wish.current.choose(node.uid))
      .nodeCanvasObject((node, context, scale) => {
        const isChosen = node.uid === wish.current.chosen;
        context.beginPath();
        context.arc(node.x, node.y, isChosen ? 6 : 4, 0, 2 * Math.PI);
        context.fillStyle = colour.labels[node.label] || colour.ink;
        context.fill();
        if (isChosen) {
          context.strokeStyle = colour.ink;
          context.stroke();
        }
        if (isChosen || scale >= NAMES_FROM || nodes.size <= 30) {
          context.font = `${11 / scale}px system-ui, sans-serif`;
          context.fillStyle = colour.ink;
          context.textAlign = "center";
          context.fillText(shortName(node), node.x, node.y + 6 + 10 / scale);
        }
      });
    if (view === "causes") graph.current.dagMode("lr").dagLevelDistance(90).onDagError(() => {});
    const watch = new ResizeObserver(() => graph.current.width(place.current.clientWidth));
    watch.observe(place.current);
    return () => {
      watch.disconnect();
      graph.current._destructor();
    };
  }, []);
  useEffect(() => {
    const known = new Map(graph.current.graphData().nodes.map((node) => [node.uid, node]));
    graph.current.graphData({
      nodes: [...nodes.values()].map((node) => Object.assign(known.get(node.uid) || {}, node)),
      links: [...edges.values()].map((edge) => ({ ...edge })),
    });
  }, [nodes, edges]);
  return html`<figure>
    <div ref=${place} class="drawing" role="img" aria-label=${`Picture of ${nodes.size} nodes around ${shortName(nodes.get(uid) || { uid })}. The list below has them all.`}></div>
    <figcaption class="row legend">
      ${LABELS.map((label) => html`<span><span class=${`dot ${label.toLowerCase()}`} aria-hidden="true"></span> ${label}</span>`)}
      <span><span class="dash causal" aria-hidden="true"></span> cause</span> <span><span class="dash order" aria-hidden="true"></span> order</span>
    </figcaption>
  </figure>`;
}
