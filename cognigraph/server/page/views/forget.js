// Forgetting: first what would go, its texts and its counts, then, after a confirmation, for good.
import { h, fill, field, number, count, time, action, workForm } from "../dom.js";
import { api, startOf } from "../api.js";
import { fact } from "../facts.js";
import { written } from "../text.js";

const ROWS = [["messages", "messages"], ["sessions", "conversations that become empty"], ["triples", "facts"], ["entities", "entities"], ["themes", "themes of summaries"], ["revisions", "older summaries"], ["cached_answers", "cached answers of models"], ["kept_triples", "facts that stay, because other messages say them too"], ["kept_entities", "entities that stay, because other messages mention them"], ["reread", "messages to be read again"]];
const TEXTS = 20;

export async function render(root, { space, announce }) {
  const output = h("div");
  const form = workForm("See what would go", async ({ before, ...given }) => {
    const chosen = { ...given, ...(before ? { before: startOf(before) } : {}) };
    fill(output);
    if (!Object.keys(chosen).length) throw new Error("Say which messages: give a message, a conversation, a speaker, an entity or a day.");
    await preview(output, space, chosen, (done) => {
      fill(output, h("section.panel", {}, h("h2", {}, "Forgotten"), table(done)));
      announce("Forgotten");
    });
  }, h("div.fields", {}, field("Message", h("input", { name: "message" }), "Its id."), field("Conversation", h("input", { name: "session" })),
    field("Speaker", h("input", { name: "speaker" })), field("Entity", h("input", { name: "entity" }), "Messages that mention it."),
    field("Before", h("input", { name: "before", type: "date" }), "Said before this day.")));
  form.classList.add("panel");
  fill(root, h("h1", {}, "Forget"), h("p", {}, "Deletes messages, and the facts, entities and summaries that rest on them alone. A message must meet every criterion that you give."), form, output);
}

function table(counts) {
  return h("table", {}, h("tbody", {}, ROWS.filter(([key]) => counts[key]).map(([key, name]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, number(counts[key]))))));
}

/** Show what would go in `output`, and forget it when the reader says so; `forgotten` then gets the counts. */
export async function preview(output, space, chosen, forgotten) {
  const counts = await api.forget(space, { ...chosen, dry_run: true });
  if (!counts.messages) return fill(output, h("p.empty", {}, "No message meets these criteria."));
  const [texts, facts] = await Promise.all([going(space, chosen), factsGoing(space, chosen)]);
  const shown = texts.slice(0, TEXTS);
  const rest = counts.messages - new Set(shown.map((one) => JSON.stringify([one.session, one.id]))).size;
  const button = action(`Forget ${count(counts.messages, "message")} for good`, async () => forgotten(await api.forget(space, chosen)), ".danger");
  // For one message, whose text stands above the button, a second press is confirmation enough.
  const typed = counts.messages > 1 || !shown.length ? h("input", { autocomplete: "off" }) : null;
  button.disabled = Boolean(typed);
  typed?.addEventListener("input", () => (button.disabled = typed.value.trim() !== "forget"));
  fill(output, h("section.panel", { "aria-label": "What would go" }, h("h2", {}, "This would go"), table(counts),
    shown.length ? h("ul.rows", { "aria-label": "Texts that would go" }, shown.map((message) => h("li", {}, h("p.meta", {}, h("strong", {}, message.speaker ?? message.role ?? "?"), time(message.at, { withClock: true }), message.session),
      h("div.text", {}, written(message.text))))) : null,
    rest > 0 ? h("p", {}, h("small", {}, `The texts of ${count(rest, "more message", "more messages")} are not shown.`)) : null,
    facts.length ? [h("h3", {}, "Facts that no other message says"), h("ul.plain", {}, facts.map((triple) => h("li", {}, fact(space, triple, { links: false }))))] : null,
    typed ? field("Type the word forget to confirm", typed, "This cannot be undone.") : h("p", {}, h("small", {}, "This cannot be undone.")),
    h("div.actions", {}, button, h("button", { type: "button", onclick: () => fill(output) }, "Keep"))));
  (typed ?? output.querySelector(".actions").lastChild).focus();
}

/** The first messages that meet the criteria. */
async function going(space, { message, session, speaker, before, entity }) {
  if (message) return [await api.message(space, message, session)];
  // Of a message in several parts, those that mention the entity are listed. The query may take too long in a large
  // space; then none is, and the counts say how many there are.
  const listed = entity ? await api.mentions(space, { entity, session, speaker }, 3 * TEXTS).catch(() => [])
    : (await api.messages(space, { session, speaker, until: before, limit: TEXTS + 1 })).items;
  return listed.filter((one) => !before || new Date(one.at) < new Date(before));
}

/** The facts that rest on these messages alone, where the criteria say which these are. */
async function factsGoing(space, { message, session, speaker, before, entity }) {
  if (!session || speaker || before || entity) return [];
  const goes = (source) => source.session === session && (!message || source.id === message);
  return (await api.triples(space, { session })).filter((triple) => triple.sources.length && triple.sources.every(goes));
}
