// Files of messages: dropped or chosen, checked without storing anything, and stored with their progress.
import { h, fill, append, link, field, number, count, time, action, problem, values } from "../dom.js";
import { api } from "../api.js";

const FORMATS = ["auto", "jsonl", "openai", "chatgpt", "claude", "claude-code", "opencode", "codex", "gemini", "cursor", "langchain", "langgraph", "slack", "telegram", "whatsapp", "mbox", "csv", "markdown", "mem0", "graphiti"];

export async function render(root, { space, announce }) {
  const chosen = h("input", { type: "file", multiple: true, id: "files" });
  const list = h("ul.rows", { "aria-label": "Files" });
  const form = h("form", { onsubmit: (event) => event.preventDefault() }, h("div.fields", {},
    field("Format", h("select", { name: "format" }, FORMATS.map((value) => h("option", { value }, value)))),
    field("Conversation", h("input", { name: "session" }), "Of all messages, instead of the file's."),
    field("Speaker", h("input", { name: "speaker" }), "Of messages without one."),
    field("Columns", h("input", { name: "columns", placeholder: "text=body,at=date" }), "Of a CSV: FIELD=COLUMN."),
    h("div.field", {}, h("label", {}, h("input", { type: "checkbox", name: "skip_invalid", value: "true" }), " Leave out what is bad"))));
  let files = [];
  const run = (dry_run) => async () => {
    if (!files.length) throw new Error("Choose a file first.");
    fill(list);
    for (const file of files) await one(space, file, { ...values(form), ...(dry_run ? { dry_run } : {}) }, list);
    announce(dry_run ? "Checked" : "Imported");
  };
  const names = h("p", { role: "status" });
  const take = (given) => {
    files = [...given];
    fill(names, files.map((file) => file.name).join(", "));
    fill(list);
  };
  chosen.addEventListener("change", () => take(chosen.files));
  const zone = h("div.drop", { ondragover: (event) => {
    event.preventDefault();
    zone.classList.add("over");
  }, ondragleave: () => zone.classList.remove("over"), ondrop: (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files);
  } }, h("label", { htmlFor: "files" }, "Drop files here, or choose them "), chosen, names);
  fill(root, h("h1", {}, "Import"), h("p", {}, "Exports of ChatGPT and Claude, JSON lines, chat messages, CSV, Markdown notes and others. Importing a file again changes nothing."),
    h("section.panel", {}, zone, form, h("div.actions", {}, action("Import", run(false), ".primary"), action("Only check", run(true)))), list);
}

/** Send one file, and tell how far the server is and what it found. */
async function one(space, file, options, list) {
  const bar = h("progress", { max: 1, "aria-label": `Progress of ${file.name}` });
  const told = h("span", { role: "status" }, "Sending");
  const item = h("li.row", {}, h("strong", {}, file.name), " ", h("small", {}, `${number(file.size)} bytes`), h("p", {}, bar, " ", told));
  list.append(item);
  try {
    const report = await api.importFile(space, file, options, (progress) => {
      if (progress.total_bytes) bar.value = progress.bytes / progress.total_bytes;
      fill(told, `${count(progress.read, "message")} read`);
    });
    bar.remove();
    fill(told, summary(report));
    append(item, [report.notes.map((note) => h("p", {}, h("small", {}, note))),
      report.rejected.length ? h("details", {}, h("summary", {}, `${number(report.rejected_count)} bad`), h("ul", {}, report.rejected.slice(0, 50).map((bad) => h("li", {}, `${bad.position}: ${bad.reason}`)))) : null,
      report.is_dry_run ? null : h("p", {}, h("a", { href: link([space]) }, "Show the conversations"))]);
  } catch (error) {
    bar.remove();
    fill(told, problem(error));
    throw new Error(`${file.name} was not imported completely.`);
  }
}

function summary({ formats, sessions, new: added, known, updated, forgotten, rejected_count, first_at, last_at, is_dry_run }) {
  const parts = [`${number(added)} new`, known && `${number(known)} known`, updated && `${number(updated)} updated`, forgotten && `${number(forgotten)} forgotten before`, rejected_count && `${number(rejected_count)} bad`];
  return [is_dry_run ? "Would store: " : "Stored: ", parts.filter(Boolean).join(", "), ` in ${count(sessions, "conversation")} (${formats.join(", ")})`, first_at ? [", from ", time(first_at), " to ", time(last_at)] : null];
}
