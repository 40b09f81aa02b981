// One conversation: its turns, beside each the facts that come from it, and its episodes as bands.
import { h, fill, link, time, append, number, action, copyable } from "../dom.js";
import { api } from "../api.js";
import { fact } from "../facts.js";
import { written } from "../text.js";

const PAGE = 100;

export async function render(root, { space, rest: [session], query, announce }) {
  const expected = query.get("m");
  const [info, facts, episodes] = await Promise.all([
    api.summary(space, session), api.triples(space, { session }), api.episodes(space, session),
  ]);
  const bySource = new Map();
  for (const triple of facts) for (const source of triple.sources) {
    if (source.session !== session) continue;
    if (!bySource.has(source.id)) bySource.set(source.id, []);
    bySource.get(source.id).push(triple);
  }
  fill(root, h("p.crumbs", {}, h("a", { href: link([space]) }, "Conversations")), h("h1", {}, session));
  if (info) root.append(overview(info));
  const turns = h("ol.turns");
  const more = h("button", { type: "button", onclick: () => next() }, "Show later messages");
  root.append(turns, more);
  const bands = new Map(episodes.flatMap((episode, index) => (episode.messages ?? []).map((id) => [id, [episode, index]])));
  let cursor = null, shown = null;
  async function next() {
    more.disabled = true;
    const page = await api.messages(space, { session, cursor, limit: PAGE });
    for (const message of page.items) {
      const [episode, index] = bands.get(message.id) ?? [];
      if (episode && episode !== shown) turns.append(band(episode, index));
      if (episode) shown = episode;
      turns.append(turn({ space, announce }, message, bySource.get(message.id) ?? [], index));
    }
    cursor = page.next;
    more.hidden = !cursor;
    more.disabled = false;
  }
  await next();
  // The message that a link names may lie pages below.
  while (expected && cursor && !find(turns, expected)) await next();
  const target = expected && find(turns, expected);
  if (target) {
    target.classList.add("wanted");
    setTimeout(() => target.scrollIntoView({ block: "center" }));
  }
}

const find = (turns, id) => [...turns.children].find((item) => item.dataset.id === id);

function overview(info) {
  return h("details.panel", { open: info.themes.length <= 3 }, h("summary", {}, "Summary ", h("small", {}, `by ${info.extractor}, revision ${number(info.version)}`)),
    info.themes.length ? info.themes.map((theme) => h("p", {}, theme.title ? [h("strong", {}, theme.title), ". "] : null, theme.summary))
      : h("p.empty", {}, "Not summarised yet."),
    h("p.keys", {}, info.keys.map((key) => h("span.key", {}, key))));
}

function band(episode, index) {
  return h(`li.band.band-${index % 6}`, {}, h("strong", {}, episode.title || "Episode"), " ",
    h("small", {}, time(episode.started_at), episode.reason ? ` · ${episode.reason}` : ""));
}

function turn({ space, announce }, message, facts, index) {
  const forgetting = h("div");
  const forget = action("forget", async () => {
    const { preview } = await import("./forget.js");
    await preview(forgetting, space, { message: message.id, session: message.session }, () => {
      item.remove();
      announce("Forgotten");
    });
  }, ".quiet");
  forget.setAttribute("aria-label", "See what forgetting this message would remove");
  const item = h("li.turn", { tabIndex: -1 },
    h("div.said", {},
      h("p.meta", {}, h("strong", {}, message.speaker ?? message.role ?? "?"), message.role ? h("span.badge", {}, message.role) : null, message.written_by ? h("small", {}, `by ${message.written_by}`) : null,
        time(message.at, { withClock: true }),
        h("a.quiet", { href: link([space, "ask"], { expected: message.id }), "aria-label": "Ask why this message is found, or is not" }, "why?"), forget, copyable(message.id, announce)),
      h("div.text", {}, written(message.text)),
      message.tags?.length ? h("p.keys", {}, message.tags.map((tag) => h("span.key", {}, tag))) : null, forgetting),
    h("ul.facts", { "aria-label": "Facts from this message" }, facts.map((triple) => h("li", {}, fact(space, triple)))));
  item.dataset.id = message.id;
  if (index !== undefined) item.classList.add(`band-${index % 6}`);
  return item;
}
