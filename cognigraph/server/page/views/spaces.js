// All spaces that the key may read.
import { h, fill, link, number } from "../dom.js";
import { api } from "../api.js";

export async function render(root) {
  const spaces = await api.spaces();
  if (spaces.length === 1) return location.replace(link([spaces[0]]));
  fill(root, h("h1", {}, "Spaces"));
  if (!spaces.length) {
    root.append(h("p.empty", {}, "No messages are stored yet. Try ", h("code", {}, "cognigraph demo"), " or ",
      h("code", {}, "cognigraph import FILE"), ", then load this page again."));
    return;
  }
  const search = h("input", { type: "search", placeholder: "Filter by name", "aria-label": "Filter spaces by name" });
  const list = h("ul.cards");
  const draw = () => {
    const wanted = search.value.toLowerCase();
    const matching = spaces.filter((name) => name.toLowerCase().includes(wanted));
    const SHOWN = 200;
    fill(list, matching.slice(0, SHOWN).map((name) => h("li", {}, h("a.card", { href: link([name]) }, h("strong", {}, name)))));
    if (matching.length > SHOWN) list.append(h("li", {}, `${number(matching.length - SHOWN)} more: type a part of the name`));
  };
  search.addEventListener("input", draw);
  draw();
  root.append(search, list);
}
