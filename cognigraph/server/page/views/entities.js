// The entities of a space, those with the most facts first.
import { h, fill, link, count, paged } from "../dom.js";
import { api } from "../api.js";

export async function render(root, { space, query }) {
  const wanted = query.get("q") ?? "";
  const search = h("input", { type: "search", value: wanted, placeholder: "Name of an entity", "aria-label": "Find entities by name" });
  fill(root, h("h1", {}, "Entities"), h("form.searchbar", { role: "search", onsubmit: (event) => {
    event.preventDefault();
    location.hash = link([space, "entities"], { q: search.value.trim() });
  } }, search, h("button", { type: "submit" }, "Find")));
  const list = h("ul.cards");
  const pages = paged(list, (cursor) => api.entities(space, { text: wanted, cursor, limit: 100 }), (entity) => h("li", {},
    h("a.card", { href: link([space, "entity", entity.name]) }, h("strong", {}, entity.name), " ", h("small", {}, entity.type), h("br"),
      h("small", {}, count(entity.triples, "fact"), entity.aliases.length ? ` · also ${entity.aliases.join(", ")}` : ""))),
    { empty: wanted ? `No entity is called ${wanted}.` : "No entities yet: messages are enriched in the background." });
  root.append(pages.element);
  await pages.ready;
}
