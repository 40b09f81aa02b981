// Memory for OpenCode, version 1 and 2. Written by `cognigraph hooks install opencode`, which
// writes it anew, and deleted by `cognigraph hooks remove opencode`.
import { spawn } from "node:child_process";

const COMMAND = [];
const MOST_MILLISECONDS = 10_000;
const MOST_SESSIONS = 1_000;
const RETRY_MILLISECONDS = 10_000;

/** Run a hook; returns the block that it prints, or an empty text, whatever goes wrong. */
function hook(event, given) {
  return new Promise((resolve) => {
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), event], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    const limit = setTimeout(() => child.kill(), MOST_MILLISECONDS);
    let printed = "";
    const end = () => {
      clearTimeout(limit);
      try {
        resolve(JSON.parse(printed).additional_context ?? "");
      } catch {
        resolve("");
      }
    };
    child.on("error", end);
    child.on("close", end);
    child.stdin.on("error", () => {});
    child.stdout.on("data", (data) => (printed += data));
    child.stdin.end(JSON.stringify(given));
  });
}

/** What both versions do: `isSubagent` says whether a session was begun by another one. */
function memoryOf(directory, isSubagent) {
  const sessions = new Map();
  const told = (id, more) => ({ session_id: id, cwd: directory, ...more });
  return {
    /** The user has said something: store it, and recall what belongs to it. */
    async prompted(id, message, text) {
      if (!text?.trim() || (await isSubagent(id).catch(() => false))) return;
      // One after the other: once the prompt is stored, the block of the start is out of date.
      const start = sessions.get(id)?.start ?? (await hook("session.start", told(id)));
      const prompt = await hook("session.prompt", told(id, { prompt: text, message_id: message }));
      sessions.delete(id); // the newest comes last
      sessions.set(id, { start, prompt });
      if (sessions.size > MOST_SESSIONS) sessions.delete(sessions.keys().next().value);
    },
    /** The agent has said something. */
    answered(id, message, text) {
      if (!sessions.has(id) || !text?.trim()) return;
      void hook("session.answer", told(id, { last_assistant_message: text, message_id: message }));
    },
    /** The blocks for a request to the model. */
    blocks(id) {
      const { start, prompt } = sessions.get(id) ?? {};
      return [start, prompt].filter(Boolean);
    },
    /** The conversation is about to be shortened: recall anew with the next prompt. */
    compacted(id) {
      const session = sessions.get(id);
      if (session) session.start = undefined;
    },
  };
}

/** Version 1: a function that returns hooks. */
async function server({ directory, client }) {
  const roles = new Map();
  const memory = memoryOf(directory, async (id) => {
    const found = await client.session.get({ path: { id } });
    return Boolean(found.data?.parentID);
  });
  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const texts = parts.filter((part) => part.type === "text" && !part.synthetic);
      await memory.prompted(sessionID, message.id, texts.map((part) => part.text).join("\n"));
    },
    "experimental.chat.system.transform": async ({ sessionID }, { system }) => {
      system.push(...memory.blocks(sessionID));
    },
    "experimental.session.compacting": async ({ sessionID }) => memory.compacted(sessionID),
    event: async ({ event }) => {
      const { info, part } = event.properties ?? {};
      if (event.type === "message.updated") {
        roles.set(info.id, info.role);
        if (roles.size > MOST_SESSIONS) roles.delete(roles.keys().next().value);
      }
      const isSaid = event.type === "message.part.updated" && part.type === "text" && part.time?.end;
      if (isSaid && roles.get(part.messageID) === "assistant") {
        memory.answered(part.sessionID, part.id, part.text);
      }
    },
  };
}

/** Version 2: a function that registers hooks, and returns one that cleans up. */
async function setup(ctx) {
  const memory = memoryOf(ctx.location?.directory ?? process.cwd(), async (sessionID) => {
    const found = await ctx.session.get({ sessionID });
    return Boolean((found?.data ?? found)?.parentID);
  });
  await ctx.session.hook("prompt", (event) =>
    memory.prompted(event.sessionID, event.messageID, event.prompt?.text),
  );
  await ctx.session.hook("context", (event) => {
    if ((event.kind ?? "primary") !== "primary") return;
    event.system.push(...memory.blocks(event.sessionID).map((text) => ({ type: "text", text })));
  });
  await ctx.session.hook("compaction", (event) => memory.compacted(event.sessionID));
  const ending = new AbortController();
  void listen(ctx, memory, ending.signal);
  return () => ending.abort();
}

/** Follow the events of version 2; when the stream ends, begin again. */
async function listen(ctx, memory, signal) {
  while (!signal.aborted) {
    try {
      for await (const { type, data } of ctx.event.subscribe({ signal })) {
        if (type === "session.text.ended") {
          memory.answered(data.sessionID, `${data.assistantMessageID}-${data.ordinal}`, data.text);
        }
      }
    } catch {
      // it is opened again
    }
    if (!signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS).unref?.());
    }
  }
}

export default { id: "cognigraph", server, setup };
