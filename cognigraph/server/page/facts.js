// How a fact is written everywhere: subject, relation, object, since when, and what became of it.
import { h, link, time } from "./dom.js";

export function fact(space, triple, { links = true } = {}) {
  const name = (value) => (links ? h("a", { href: link([space, "entity", value]) }, value) : value);
  const over = triple.status !== "current";
  return h(`span.fact${over ? ".over" : ""}`, {},
    name(triple.subject), " ", h("span.relation", {}, triple.negated ? `not: ${triple.relation}` : triple.relation), " ", name(triple.object),
    validity(triple), over ? h("span.badge.warning", { title: triple.reason ?? "" }, triple.status) : null);
}

/** When a fact began, or null: that it was said at a time does not say since when it is true. */
export function began(triple) {
  return triple.valid_from === triple.first_observed ? null : triple.valid_from;
}

export function validity(triple) {
  const from = began(triple);
  if (triple.when && triple.status === "current" && (triple.valid_to || !from)) return h("small", {}, ` ${triple.when}`);
  if (from || triple.valid_to) {
    return h("small", {}, from ? [" since ", time(from)] : null, triple.valid_to ? [" until ", time(triple.valid_to)] : null);
  }
  return triple.when ? h("small", {}, ` ${triple.when}`) : null;
}

/** The messages that a fact rests on. */
export function sources(space, triple) {
  return h("span.sources", {}, triple.sources.map((source) =>
    h("a", { href: link([space, "conversation", source.session], { m: source.id }), title: source.id }, time(source.at), source.said_by ? ` (${source.said_by})` : "")));
}

/** What was said about one slot of an entity, oldest first, and what ended each. */
export function timeline(space, history) {
  return h("ol.timeline", {}, history.triples.map((triple) => h("li", {}, fact(space, triple),
    triple.superseded_at ? h("small", {}, " — superseded ", time(triple.superseded_at), triple.reason ? `: ${triple.reason}` : "") : null, " ", sources(space, triple))));
}
