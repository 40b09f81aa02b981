// Calls the plugin of a file as OpenCode 1 or 2 does, and prints the texts that it adds to a request.
import { pathToFileURL } from "node:url";

const [file, version, directory, id, text, answer] = process.argv.slice(2);
const { default: plugin } = await import(pathToFileURL(file).href);
const shown = [];

if (version === "1") {
  const client = { session: { get: async () => ({ data: { parentID: id.startsWith("sub") ? "s" : undefined } }) } };
  const hooks = await plugin.server({ directory, client });
  const user = { message: { id: "m1" }, parts: [{ type: "text", text }, { type: "text", text: "a file", synthetic: true }] };
  await hooks["chat.message"]({ sessionID: id }, user);
  await hooks["experimental.chat.system.transform"]({ sessionID: id }, { system: shown });
  const part = { type: "text", sessionID: id, messageID: "m2", id: "p1", text: answer };
  for (const [type, properties] of [
    ["message.updated", { info: { id: "m1", role: "user" } }],
    ["message.part.updated", { part: { ...part, messageID: "m1", text, time: { end: 1 } } }],
    ["message.updated", { info: { id: "m2", role: "assistant" } }],
    ["message.part.updated", { part: { ...part, text: answer.slice(0, 3) } }],
    ["message.part.updated", { part: { ...part, time: { start: 1, end: 2 } } }],
  ]) {
    await hooks.event({ event: { type, properties } });
  }
} else {
  const hooks = {};
  const events = [
    { type: "session.text.delta", data: { sessionID: id, delta: "x" } },
    { type: "session.text.ended", data: { sessionID: id, assistantMessageID: "m2", ordinal: 0, text: answer } },
  ];
  let begin;
  const prompted = new Promise((resolve) => (begin = resolve));
  const end = await plugin.setup({
    location: { directory },
    session: {
      get: async () => ({ parentID: id.startsWith("sub") ? "s" : undefined }),
      hook: async (name, run) => (hooks[name] = run),
    },
    event: {
      async *subscribe({ signal }) {
        await prompted;
        yield* events;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    },
  });
  await hooks.prompt({ sessionID: id, messageID: "m1", prompt: { text } });
  begin();
  const system = [];
  await hooks.context({ sessionID: id, kind: "title", system });
  await hooks.context({ sessionID: id, kind: "primary", system });
  shown.push(...system.map((part) => part.text));
  await new Promise((resolve) => setTimeout(resolve, 200));
  end();
}
console.log(JSON.stringify(shown));
