/** The client and the example, against a real server that is started for them. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { memoryTools, turn } from "../examples/ai-sdk.js";
import { CogniGraph, Problem } from "../src/index.js";

let server: ChildProcess;
let folder: string;
let url: string;
let client: CogniGraph;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "cognigraph-client-"));
  const command = ["-m", "cognigraph", "serve", "--port", "0", "--db", join(folder, "memory.db")];
  server = spawn(process.env.COGNIGRAPH_PYTHON ?? "python3", command, {
    cwd: new URL("../../../..", import.meta.url), // the root of the repository
    stdio: ["ignore", "ignore", "pipe"],
  });
  for await (const line of createInterface({ input: server.stderr! })) {
    const found = /(http:\/\/\S+)/.exec(line);
    if (found) {
      url = found[1]!;
      break;
    }
  }
  assert.ok(url, "the server did not start");
  client = new CogniGraph({ url });
});

after(async () => {
  server.kill("SIGTERM");
  await once(server, "exit");
  await rm(folder, { recursive: true });
});

test("messages are stored once, found, changed and forgotten", async () => {
  const ann = client.space("ann/æ ?");
  const message = { id: "m/1", speaker: "Ann", text: "I moved to Oslo in May.", at: "2026-05-20T09:00:00Z" };
  assert.deepEqual((await ann.add(message)).new, ["m/1"]);
  assert.deepEqual((await ann.add(message)).new, []);
  await ann.addMany([{ role: "user", content: "I like kayaks.", at: "2026-05-21T09:00:00Z", id: "m2" }]);
  const { hits, confidence } = await ann.search("Where did Ann move to?", { k: 1 });
  assert.equal(hits[0]?.text, message.text);
  assert.equal(hits[0]?.why, undefined);
  assert.ok(confidence !== null && confidence > 0);
  const explained = await ann.search("Where did Ann move to?", { k: 1, explain: true });
  assert.ok(explained.hits[0]!.why!.score > 0 && explained.trace!.ranking === "default");
  await ann.flush();
  const facts = [];
  for await (const fact of ann.facts({ entity: "Ann" })) facts.push(fact.text);
  assert.deepEqual(facts, ["Ann moved to Oslo"]);
  const block = await ann.context("Where does Ann live?", { now: "2026-06-01T09:00:00Z" });
  assert.match(block.text, /I moved to Oslo in May/);
  assert.ok(block.tokens > 0 && block.hits === undefined);
  assert.ok((await ann.context("Where does Ann live?", { explain: true })).hits!.length > 0);
  const ids = [];
  for await (const one of ann.messages({ limit: 1 })) ids.push(one.id);
  assert.deepEqual(ids, ["m/1", "m2"]);
  assert.equal((await ann.update("m/1", "I moved to Hamar in May.")).text, "I moved to Hamar in May.");
  assert.equal((await ann.forget({ message: "m/1", dry_run: true })).listed[0]?.id, "m/1");
  assert.equal((await ann.forget({ message: "m/1" })).messages, 1);
  assert.equal(await ann.get("m/1"), undefined);
  assert.equal((await ann.stats()).messages, 1);
  assert.deepEqual(await client.spaces(), ["ann/æ ?"]);
});

test("a problem says what to do", async () => {
  const space = client.space("problems");
  await space.add({ id: "m1", text: "One." });
  const conflict = await space.add({ id: "m1", text: "Two." }).catch((error: unknown) => error);
  assert.ok(conflict instanceof Problem);
  assert.deepEqual([conflict.status, conflict.title, conflict.retryable], [409, "Conflict", false]);
  assert.match(conflict.message, /m1/);
  const bad = await space.addMany([{ text: "Three." }, { text: " " }]).catch((error: unknown) => error);
  assert.ok(bad instanceof Problem && bad.status === 422 && bad.document.index === 1);
  assert.equal((await space.addMany([{ text: "Three." }, { text: " " }], { skip_invalid: true })).rejected.length, 1);
  const { response } = await client.routes.GET("/v1/spaces/{space}/stats", {
    params: { path: { space: "misspelled" }, query: { existing: true } },
  });
  assert.equal(response.status, 404);
});

test("a busy server is asked again, and a key is sent", async () => {
  const asked: (string | null)[] = [];
  const busy = (times: number) => async (request: Request) => {
    asked.push(request.headers.get("Authorization"), await request.text());
    if (times-- > 0) return new Response("{}", { status: 503, headers: { "Retry-After": "0" } });
    return Response.json({ ids: ["m1"], new: ["m1"], chunks: 1 }, { status: 201 });
  };
  const patient = new CogniGraph({ key: "cg_x", retries: 2, fetch: busy(2) });
  assert.deepEqual((await patient.space("s").add({ text: "Hi." })).new, ["m1"]);
  assert.deepEqual(asked, Array(3).fill(["Bearer cg_x", '{"text":"Hi."}']).flat());
  const hasty = new CogniGraph({ retries: 0, fetch: busy(1) });
  await assert.rejects(hasty.space("s").add({ text: "Hi." }), { name: "Problem", status: 503 });
});

test("an agent of the AI SDK remembers between turns", async () => {
  const space = client.space("agent");
  const { remember, recall } = memoryTools(space, "Ann");
  const options = { toolCallId: "c1", messages: [] };
  await remember.execute!({ text: "I am allergic to nuts." }, options);
  const found = await recall.execute!({ question: "What is Ann allergic to?" }, options);
  assert.equal((found as { text: string }[])[0]?.text, "I am allergic to nuts.");

  const prompts: string[] = [];
  const model = await modelServer(prompts);
  try {
    const { port } = model.address() as AddressInfo;
    const provider = createOpenAICompatible({ name: "loopback", baseURL: `http://127.0.0.1:${port}/v1` });
    assert.equal(await turn(provider("m"), space, "Ann", "What am I allergic to?"), "No nuts.");
  } finally {
    model.close();
  }
  assert.match(prompts[0]!, /allergic to nuts/);
  const stored = [];
  for await (const one of space.messages()) stored.push([one.role, one.text]);
  assert.deepEqual(stored.slice(1), [["user", "What am I allergic to?"], ["assistant", "No nuts."]]);
});

/** An endpoint on this machine that answers as chat completions do. */
async function modelServer(prompts: string[]): Promise<Server> {
  const made = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      prompts.push(body);
      const message = { role: "assistant", content: "No nuts." };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ id: "1", object: "chat.completion", created: 0, model: "m", choices, usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }));
    });
  }).listen(0, "127.0.0.1");
  await once(made, "listening");
  return made;
}
