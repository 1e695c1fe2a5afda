/* Light and dark: as the system says, unless somebody chose. */

const CHOICE = "vicw.theme";
const ORDER = ["auto", "light", "dark"];

export function theme() {
  const chosen = localStorage.getItem(CHOICE);
  return ORDER.includes(chosen) ? chosen : "auto";
}

function show() {
  document.documentElement.dataset.theme = theme();
}

/** Go on to the next of auto, light and dark; returns it. */
export function nextTheme() {
  localStorage.setItem(CHOICE, ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length]);
  show();
  return theme();
}

show();
