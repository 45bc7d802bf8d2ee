// Single-key shortcuts (WCAG 2.1.4: they can be switched off). They move and open; none of them ever sends a verdict.

const STORE = "oml.single-keys";
const dialog = document.getElementById("keys");
const opener = document.getElementById("show-keys");
const toggle = document.getElementById("switch-keys");

function enabled() {
  try {
    return localStorage.getItem(STORE) !== "off";
  } catch {
    return true;
  }
}

function showSwitch() {
  const on = enabled();
  toggle.setAttribute("aria-pressed", String(on));
  toggle.textContent = `Single-key shortcuts: ${on ? "on" : "off"}`;
}

function rows() {
  return [...document.querySelectorAll("[data-row]")];
}

function move(step) {
  const all = rows();
  if (all.length === 0) {
    return;
  }
  const here = all.findIndex((row) => row.contains(document.activeElement));
  const to = all[Math.min(all.length - 1, Math.max(0, here === -1 ? 0 : here + step))];
  const control = to.querySelector("[data-open]") ?? to;
  if (control === to) {
    to.tabIndex = -1;
  }
  control.focus();
  to.scrollIntoView({ block: "nearest" });
}

function focus(id) {
  const control = document.getElementById(id);
  control?.focus();
  control?.scrollIntoView({ block: "nearest" });
}

const ACTIONS = {
  j: () => move(1),
  k: () => move(-1),
  o: () => rows().find((row) => row.contains(document.activeElement))?.querySelector("[data-open]")?.click(),
  n: () => document.querySelector("[data-next]")?.click(),
  a: () => focus("ratify"),
  r: () => focus("reason_code"),
  "?": () => dialog.showModal(),
};

function typing(target) {
  return target.closest("input, select, textarea, [contenteditable], dialog") !== null;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.activeElement?.classList.contains("moment")) {
    document.activeElement.blur(); // WCAG 1.4.13: what appears on focus can be dismissed
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !enabled() || typing(event.target)) {
    return;
  }
  const act = Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : undefined;
  if (act) {
    event.preventDefault();
    act();
  }
});

opener.hidden = false;
opener.addEventListener("click", () => dialog.showModal());
toggle.addEventListener("click", () => {
  try {
    localStorage.setItem(STORE, enabled() ? "off" : "on");
  } catch {
    // Storage is refused: the shortcuts stay as they are and the label keeps saying so.
  }
  showSwitch();
});
showSwitch();
