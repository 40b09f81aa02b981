// The conversations of a space, newest first, and what the space holds.
import { h, fill, link, time, count, number, paged } from "../dom.js";
import { api } from "../api.js";

export async function render(root, { space, query }) {
  const stats = await api.stats(space);
  const wanted = query.get("q") ?? "";
  const search = h("input", { type: "search", name: "q", value: wanted, placeholder: "Search messages",
    "aria-label": "Search the messages of this space" });
  const form = h("form.searchbar", { role: "search", onsubmit: (event) => {
    event.preventDefault();
    location.hash = link([space, "sessions"], { q: search.value.trim() });
  } }, search, h("button", { type: "submit" }, "Search"));
  fill(root, h("h1", {}, "Conversations"), figures(stats), form);
  root.append(wanted ? await found(space, wanted) : await listing(space));
}

function figures(stats) {
  const pending = stats.pending + stats.leased;
  return h("p.figures", {},
    [[stats.messages, "messages"], [stats.sessions, "sessions"], [stats.entities, "entities"], [stats.triples, "facts"]]
      .map(([value, name]) => h("span", {}, h("strong", {}, number(value)), " ", name)),
    pending ? h("span.badge", {}, `${number(pending)} in the queue`) : null,
    stats.failed ? h("span.badge.warning", {}, `${number(stats.failed)} failed`) : null);
}

async function listing(space) {
  const list = h("ul.rows");
  const pages = paged(list, (cursor) => api.sessions(space, { cursor, limit: 50 }), (session) => h("li", {},
    h("a.row", { href: link([space, "conversation", session.id]) },
      h("span.row-head", {}, h("strong", {}, session.id), time(session.started_at), h("small", {}, count(session.messages, "message"))),
      session.summary ? h("span.row-text", {}, session.themes.map((theme) => theme.title).filter(Boolean).join(" · ") || session.summary) : null,
      session.keys.length ? h("span.keys", {}, session.keys.slice(0, 8).map((key) => h("span.key", {}, key))) : null)),
    { empty: "No conversations yet." });
  await pages.ready;
  return pages.element;
}

async function found(space, question) {
  const result = await api.search(space, { question, k: 30 });
  return h("section", {}, h("p", {}, count(result.hits.length, "message"), " for ", h("q", {}, question), ". ",
    h("a", { href: link([space, "ask"], { q: question }) }, "See how they were ranked")),
    h("ul.rows", {}, result.hits.map((hit) => h("li", {}, h("a.row", { href: link([space, "conversation", hit.session], { m: hit.id }) },
      h("span.row-head", {}, h("strong", {}, hit.speaker ?? hit.role ?? "?"), time(hit.at), h("small", {}, hit.session)),
      h("span.row-text", {}, hit.text))))));
}
