// All facts of a space: filtered, stated, corrected, taken back and restored, each with its history.
import { h, fill, append, link, field, time, paged, action, copyable, problem, values, workForm } from "../dom.js";
import { api, endOf } from "../api.js";
import { began, fact, sources, timeline } from "../facts.js";

const PART = "2026, 2026-05 or 2026-05-20";

export async function render(root, { space, query, announce }) {
  const get = (name) => query.get(name) ?? "";
  const filter = {
    entity: get("entity"), slot: get("slot"), text: get("text"), status: get("status"),
    as_of: get("as_of") && endOf(get("as_of")), valid_at: get("valid_at") && endOf(get("valid_at")),
  };
  const list = h("ul.rows");
  const pages = paged(list, (cursor) => api.facts(space, { ...filter, cursor, limit: 100 }), (triple) => row(context, triple),
    { empty: Object.values(filter).some(Boolean) ? "No fact meets all of these." : "No facts yet." });
  const context = { space, filter, list, place: pages.element, announce };
  fill(root, h("h1", {}, "Facts"), filters(space, get), stating(context), pages.element);
  await pages.ready;
}

function filters(space, get) {
  const status = h("select", { name: "status" }, ["", "current", "superseded", "retracted"].map((value) => h("option", { value, selected: get("status") === value }, value || "any")));
  const form = h("form.panel", { role: "search", onsubmit: (event) => {
    event.preventDefault();
    location.hash = link([space, "facts"], values(form));
  } }, h("div.fields", {},
    field("Words", h("input", { type: "search", name: "text", value: get("text") }), "A part of the fact, such as its relation."),
    field("Entity", h("input", { name: "entity", value: get("entity") }), "A whole name or alias."),
    field("Slot", h("input", { name: "slot", value: get("slot") }), "What it is about: home, work."),
    field("Status", status),
    field("Known at", h("input", { type: "date", name: "as_of", value: get("as_of") }), "Only what had been said by then."),
    field("True at", h("input", { type: "date", name: "valid_at", value: get("valid_at") }), "Only what was true then.")),
    h("button.primary", { type: "submit" }, "Filter"), " ", h("a.quiet", { href: link([space, "facts"]) }, "Show all"));
  return form;
}

/** A form that states a fact, and shows what has become of it. */
function stating(context) {
  const input = (name, more) => h("input", { name, ...more });
  const output = h("div", { role: "status" });
  const work = async (given, form) => {
    const triple = await state(context, { ...given, negated: given.negated === "on", replaces: given.replaces === "on" });
    form.reset();
    fill(output, h("p", {}, "Stated: ", fact(context.space, triple)));
    await renew(context, triple.subject, triple.uid);
  };
  const form = workForm("State this fact", work, h("div.fields", {},
    field("Subject", input("subject", { required: true, placeholder: "Ann" })), field("Relation", input("relation", { required: true, placeholder: "lives in" })),
    field("Object", input("object", { required: true, placeholder: "Oslo" })), field("True from", input("valid_from"), PART), field("True until", input("valid_to"), PART),
    field("Source", input("source"), "Where you have it from."),
    h("div.field", {}, h("label", {}, input("replaces", { type: "checkbox" }), " It takes the place of all other objects"),
      h("label", {}, input("negated", { type: "checkbox" }), " It is denied"))));
  return h("details.panel", {}, h("summary", {}, "State a fact"), form, output);
}

/** Store a fact, wait until it is read, and return it. */
async function state({ space }, given) {
  const { ids: [id] } = await api.addFact(space, given);
  try {
    await api.flush(space);
  } catch (error) {
    throw new Error(`It is stored as ${id}, and will be a fact when the queue has been read. ${error.message}`);
  }
  const found = (await api.triples(space, { entity: given.subject })).find((triple) => triple.sources.some((source) => source.id === id));
  if (!found) throw new Error(`It is stored as ${id}, but has not become a fact. The queue may say why.`);
  return found;
}

function row(context, triple) {
  const more = h("div.why");
  const details = h("details", { ontoggle: () => details.open && !more.children.length && append(more, [about(context, triple)]) },
    h("summary", {}, h("span.row-head", {}, fact(context.space, triple, { links: false }), h("small", {}, "said ", time(triple.last_observed)))), more);
  const item = h("li.row", {}, details);
  item.dataset.uid = triple.uid;
  return item;
}

function about(context, triple) {
  const { space, filter: { as_of }, announce } = context;
  const decided = async (what, ...uids) => {
    announce(what);
    await renew(context, triple.subject, ...uids, triple.uid);
  };
  const reason = h("input");
  const rule = (label, verb, done, kind) => action(label, async () => {
    await api[verb](space, { fact: triple.uid, reason: reason.value.trim() });
    await decided(done);
  }, kind);
  const past = h("div", {}, h("p.empty", {}, "Looking"));
  api.history(space, { entity: triple.subject, relation: triple.relation, as_of }).then((histories) =>
    fill(past, histories.length ? histories.map((history) => timeline(space, history)) : h("p.empty", {}, "Nothing else was said about this.")), (error) => fill(past, problem(error)));
  const entity = (name, type) => [h("a", { href: link([space, "entity", name]) }, name), h("small", {}, ` ${type}`)];
  const rows = [["Id", copyable(triple.uid, announce)], ["Subject", entity(triple.subject, triple.subject_type)], ["Relation", triple.relation], ["Object", entity(triple.object, triple.object_type)],
    ["Said", [time(triple.first_observed, { withClock: true }), triple.last_observed === triple.first_observed ? null : [", last ", time(triple.last_observed, { withClock: true })]]],
    ["True", began(triple) || triple.valid_to ? [began(triple) ? ["from ", time(began(triple))] : null, triple.valid_to ? [" until ", time(triple.valid_to)] : null] : null],
    ["Superseded", triple.superseded_by ? [time(triple.superseded_at), " by ", copyable(triple.superseded_by, announce)] : null],
    ["Reason", triple.reason], ["Sources", sources(space, triple)]];
  return [h("dl.pairs", {}, rows.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    triple.status === "current" ? correction(context, triple, decided) : null,
    field("Reason", reason, "For those who look at the history."),
    h("div.actions", {}, triple.status === "current" ? null : rule("Restore", "restore", "Restored", ".primary"),
      triple.status === "retracted" ? null : rule("Take back", "retract", "Taken back")),
    h("h3", {}, "History"), past];
}

/** Another object takes the place of this one, which stays in the history. */
function correction(context, triple, decided) {
  const { space } = context;
  const work = async ({ object, valid_from, reason = "" }) => {
    if (object === triple.object) throw new Error(`Say what is true instead of ${object}. If nothing is, take the fact back.`);
    const { subject, subject_type, relation, negated } = triple;
    const made = await state(context, { subject, subject_type, relation, negated, object, valid_from });
    await api.supersede(space, { old: triple.uid, new: made.uid, reason });
    await decided("Corrected", made.uid);
  };
  return h("details", {}, h("summary", {}, "Correct it"), workForm("Correct", work, h("div.fields", {},
    field(`${triple.subject} ${triple.relation}`, h("input", { name: "object", required: true }), `Instead of ${triple.object}.`),
    field("Since", h("input", { name: "valid_from" }), PART), field("Why", h("input", { name: "reason" })))));
}

/** Show the facts of an entity as they are now. Those with the `uids` are shown in any case, and the first is opened. */
async function renew(context, entity, ...uids) {
  const { space, list, place, filter: { as_of, valid_at } } = context;
  const fresh = new Map((await api.triples(space, { entity, as_of, valid_at })).map((triple) => [triple.uid, triple]));
  const item = (uid) => [...list.children].find((one) => one.dataset.uid === uid);
  for (const triple of fresh.values()) item(triple.uid)?.replaceWith(row(context, triple));
  for (const uid of [...uids].reverse()) if (fresh.has(uid) && !item(uid)) list.prepend(row(context, fresh.get(uid)));
  if (!list.isConnected) fill(place, list);
  const first = item(uids[0])?.firstChild;
  if (first) first.open = true;
  first?.firstChild.focus();
}
