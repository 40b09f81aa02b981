// Routing: the part of the address after "#" names the view. Every view is one module in views/.
import { h, fill, link } from "./dom.js";
import { api, ApiProblem, setKey } from "./api.js";

const VIEWS = {
  sessions: ["Conversations", () => import("./views/sessions.js")],
  conversation: [null, () => import("./views/conversation.js")],
  facts: ["Facts", () => import("./views/facts.js")],
  entities: ["Entities", () => import("./views/entities.js")],
  entity: [null, () => import("./views/entity.js")],
  graph: ["Graph", () => import("./views/graph.js")],
  ask: ["Playground", () => import("./views/ask.js")],
  cypher: ["Cypher", () => import("./views/cypher.js")],
  duplicates: ["Duplicates", () => import("./views/duplicates.js")],
  import: ["Import", () => import("./views/import.js")],
  work: ["Queue", () => import("./views/work.js")],
  forget: ["Forget", () => import("./views/forget.js")],
};
const main = document.getElementById("main");
const status = document.getElementById("status");
let turn = 0;

export function announce(text) {
  status.textContent = text;
}

function read(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  return { parts, query: new URLSearchParams(search) };
}

async function show() {
  if (location.hash === "#main") return;
  const mine = ++turn;
  const { parts, query } = read(location.hash);
  const [space, name = "sessions", ...rest] = parts;
  const view = space === undefined ? null : VIEWS[name];
  navigation(space, name);
  // While a view loads, the one before stays visible.
  try {
    const root = h("div.view");
    if (space === undefined) {
      await (await import("./views/spaces.js")).render(root);
    } else if (view) {
      await (await view[1]()).render(root, { space, rest, query, announce });
    } else {
      fill(root, h("p.problem", {}, `There is no view called ${name}.`));
    }
    if (mine !== turn) return;
    fill(main, root);
    const title = root.querySelector("h1")?.textContent;
    document.title = title ? `${title} · cognigraph` : "cognigraph";
    main.dispatchEvent(new CustomEvent("shown"));
  } catch (error) {
    if (mine === turn) fill(main, problem(error));
  }
}

function problem(error) {
  if (error instanceof ApiProblem && error.status === 401) return keyForm(error);
  const again = h("button", { type: "button", onclick: show }, "Try again");
  return h("section.problem", { role: "alert" }, h("h1", {}, "That did not work"), h("p", {}, error.message), again);
}

function keyForm(error) {
  const input = h("input", { type: "password", id: "key", autocomplete: "off", required: true });
  const submit = (event) => {
    event.preventDefault();
    setKey(input.value.trim());
    show();
  };
  return h("form.panel", { onsubmit: submit },
    h("h1", {}, "An API key is needed"),
    h("p", {}, error.message),
    h("label", { htmlFor: "key" }, "API key"), input,
    h("p", {}, h("small", {}, "It is kept in this tab only.")),
    h("button.primary", { type: "submit" }, "Continue"));
}

function navigation(space, current) {
  const nav = document.getElementById("nav");
  nav.hidden = space === undefined;
  fill(document.getElementById("space"), space === undefined ? null : h("a", { href: link([space]) }, space));
  if (space === undefined) return;
  const owner = { conversation: "sessions", entity: "entities" }[current] ?? current;
  fill(nav, Object.entries(VIEWS).filter(([, [label]]) => label).map(([name, [label]]) =>
    h("a", { href: link([space, name]), "aria-current": name === owner ? "page" : null }, label)));
}

// Light and dark: the system's choice, unless the reader makes one.
const themeButton = document.getElementById("theme");
function theme(choice) {
  if (choice) document.documentElement.dataset.theme = choice;
  const dark = choice ? choice === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  themeButton.textContent = dark ? "Light" : "Dark";
  return dark;
}
let dark = theme(localStorage.getItem("cognigraph-theme"));
themeButton.addEventListener("click", () => {
  const choice = dark ? "light" : "dark";
  localStorage.setItem("cognigraph-theme", choice);
  dark = theme(choice);
  main.dispatchEvent(new CustomEvent("theme", { bubbles: true }));
});

// Keyboard: "g" and a letter go to a view, "/" to the search field, "?" shows this list.
const SHORTCUTS = { c: "sessions", t: "facts", e: "entities", g: "graph", p: "ask", y: "cypher", d: "duplicates", i: "import", q: "work", f: "forget" };
const dialog = document.getElementById("shortcuts");
fill(dialog,
  h("h2", { id: "shortcuts-title" }, "Shortcuts"),
  h("dl", {}, [["/", "the search field"], ["?", "this list"], ["g s", "all spaces"],
    ...Object.entries(SHORTCUTS).map(([key, name]) => [`g ${key}`, VIEWS[name][0]])]
    .map(([key, meaning]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, meaning)])),
  h("form", { method: "dialog" }, h("button.primary", {}, "Close")));
document.getElementById("keys").addEventListener("click", () => dialog.showModal());
let pending = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const { parts } = read(location.hash);
  if (pending) {
    pending = false;
    if (event.key === "s") location.hash = "#/";
    else if (SHORTCUTS[event.key] && parts[0]) location.hash = link([parts[0], SHORTCUTS[event.key]]);
  } else if (event.key === "g") {
    pending = true;
    setTimeout(() => (pending = false), 1500);
  } else if (event.key === "?") {
    dialog.showModal();
  } else if (event.key === "/") {
    const search = main.querySelector("input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
    }
  }
});

addEventListener("hashchange", () => {
  // A view may have chosen what has the focus.
  show().then(() => main.contains(document.activeElement) || main.focus({ preventScroll: true }));
  scrollTo(0, 0);
});
export { api };
show();
