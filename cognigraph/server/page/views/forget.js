// Forgetting: first what would go, then, after a confirmation, for good.
import { h, fill, field, number } from "../dom.js";
import { api, startOf } from "../api.js";

const ROWS = [["messages", "messages"], ["sessions", "conversations that become empty"], ["triples", "facts"], ["entities", "entities"], ["themes", "themes of summaries"], ["revisions", "older summaries"], ["cached_answers", "cached answers of models"], ["kept_triples", "facts that stay, because other messages say them too"], ["kept_entities", "entities that stay, because other messages mention them"], ["reread", "messages to be read again"]];

export async function render(root, { space, announce }) {
  const inputs = {
    message: h("input"), session: h("input"), speaker: h("input"), entity: h("input"), before: h("input", { type: "date" }),
  };
  const output = h("div");
  const criteria = () => {
    const given = Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]).filter(([, value]) => value);
    return Object.fromEntries(given.map(([name, value]) => [name, name === "before" ? startOf(value) : value]));
  };
  const form = h("form.panel", { onsubmit: async (event) => {
    event.preventDefault();
    const chosen = criteria();
    if (!Object.keys(chosen).length) return fill(output, h("p.problem", { role: "alert" }, "Say which messages: give a message, a conversation, a speaker, an entity or a day."));
    try {
      confirmation(output, space, chosen, await api.forget(space, { ...chosen, dry_run: true }), announce);
    } catch (error) {
      fill(output, h("p.problem", { role: "alert" }, error.message));
    }
  } }, h("div.fields", {}, field("Message", inputs.message, "Its id."), field("Conversation", inputs.session), field("Speaker", inputs.speaker), field("Entity", inputs.entity, "Messages that mention it."), field("Before", inputs.before, "Said before this day.")),
    h("button.primary", { type: "submit" }, "See what would go"));
  fill(root, h("h1", {}, "Forget"), h("p", {}, "Deletes messages, and the facts, entities and summaries that rest on them alone. A message must meet every criterion that you give."), form, output);
}

function table(counts) {
  return h("table", {}, h("tbody", {}, ROWS.filter(([key]) => counts[key]).map(([key, name]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, number(counts[key]))))));
}

function confirmation(output, space, chosen, counts, announce) {
  if (!counts.messages) return fill(output, h("p.empty", {}, "No message meets these criteria."));
  const typed = h("input", { autocomplete: "off" });
  const button = h("button.danger", { type: "button", disabled: true }, `Forget ${number(counts.messages)} message${counts.messages === 1 ? "" : "s"} for good`);
  typed.addEventListener("input", () => (button.disabled = typed.value.trim() !== "forget"));
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const done = await api.forget(space, chosen);
      fill(output, h("section.panel", {}, h("h2", {}, "Forgotten"), table(done)));
      announce("Forgotten");
    } catch (error) {
      button.disabled = false;
      button.after(h("p.problem", { role: "alert" }, error.message));
    }
  });
  fill(output, h("section.panel", {}, h("h2", {}, "This would go"), table(counts), field("Type the word forget to confirm", typed, "This cannot be undone."), button));
  typed.focus();
}
