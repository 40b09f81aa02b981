// Every request that the page makes, in one place. The routes are those of docs/server.md.

/** An answer that is not a success, with what to do as its message. */
export class ApiProblem extends Error {
  constructor(status, document) {
    super([document.title, document.detail].filter(Boolean).join(": ") || `The server answered ${status}.`);
    this.status = status;
  }
}

const KEY = "cognigraph-key";
export const setKey = (key) => sessionStorage.setItem(KEY, key);

async function send(method, path, { query = {}, body, file, accept = "application/json" } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const address = path + (given.length ? "?" + new URLSearchParams(given) : "");
  const headers = { Accept: accept };
  const key = sessionStorage.getItem(KEY);
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (file) headers["Content-Type"] = "application/octet-stream";
  let response;
  try {
    response = await fetch(address, { method, headers, body: body === undefined ? file : JSON.stringify(body) });
  } catch {
    throw new Error("The server does not answer. Is `cognigraph serve` still running?");
  }
  if (!response.ok) throw new ApiProblem(response.status, await response.json().catch(() => ({})));
  return response;
}

const json = async (...request) => {
  const response = await send(...request);
  return response.status === 204 ? null : response.json();
};
const of = (space, rest) => `/v1/spaces/${encodeURIComponent(space)}${rest}`;
const items = async (...request) => (await json(...request)).items;

/** All items of a listing that has pages, up to `most`. */
async function all(path, query, most = 5000) {
  const found = [];
  let cursor = null;
  do {
    const page = await json("GET", path, { query: { ...query, cursor, limit: Math.min(1000, most) } });
    found.push(...page.items);
    cursor = page.next;
  } while (cursor && found.length < most);
  return found;
}

/** Long work, by server-sent events: `tell` gets each progress; returns the result. */
async function long(method, path, request, tell) {
  const response = await send(method, path, { ...request, accept: "text/event-stream" });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("The server stopped before the work was done. Try again: what was done stays.");
    const events = (waiting + value).split("\n\n");
    waiting = events.pop();
    for (const event of events) {
      const kind = /^event: *(.*)$/m.exec(event)?.[1];
      const data = /^data: *(.*)$/m.exec(event)?.[1];
      if (!data) continue;
      const told = JSON.parse(data);
      if (kind === "problem") throw new ApiProblem(told.status ?? 500, told);
      if (kind === "result") return told;
      tell(told);
    }
  }
}

/** A file's name with no more than the server takes in one. */
const plainName = (name) => name.replace(/[^\p{L}\p{N}_ .-]/gu, "_").replace(/^\.+/, "").slice(-80) || "file";

/** The end of a day, in the reader's time zone: "as of May 20" includes what was said on that day. */
export const endOf = (day) => new Date(`${day}T23:59:59.999`).toISOString();
export const startOf = (day) => new Date(`${day}T00:00:00`).toISOString();

const asked = ({ question, k, profile, as_of, also, per_session }) => ({
  question, ...(k ? { k } : {}), ...(as_of ? { as_of: endOf(as_of) } : {}), ...(also?.length ? { also } : {}), ...(per_session ? { per_session } : {}),
  ...(profile ? { settings: { ranking: profile } } : {}),
});

export const api = {
  spaces: () => items("GET", "/v1/spaces"),
  stats: (space) => json("GET", of(space, "/stats")),
  sessions: (space, { cursor, limit }) => json("GET", of(space, "/overview/sessions"), { query: { cursor, limit } }),
  /** The newest summary of a conversation, or undefined before there is one. */
  summary: async (space, session) => (await items("GET", of(space, "/overview/summaries"), { query: { session } }))[0],
  episodes: (space, session) => all(of(space, "/overview/episodes"), { session }),
  message: (space, id, session) => json("GET", of(space, `/messages/${encodeURIComponent(id)}`), { query: { session } }),
  messages: (space, { session, speaker, until, cursor, limit }) => json("GET", of(space, "/messages"), { query: { session, speaker, until, cursor, limit } }),
  entities: (space, { text, cursor, limit }) => json("GET", of(space, "/entities"), { query: { match: text, cursor, limit } }),
  /** The entity with this name or alias, or undefined. */
  entity: async (space, name) => (await items("GET", of(space, "/entities"), { query: { match: name, limit: 100 } }))
    .find((entity) => [entity.name, ...entity.aliases].some((one) => one.toLowerCase() === name.toLowerCase())),
  triples: (space, query, most) => all(of(space, "/facts"), query, most),
  facts: (space, { entity, slot, status, text, as_of, valid_at, cursor, limit }) => json("GET", of(space, "/facts"), { query: { entity, slot, status, text, as_of, valid_at, cursor, limit } }),
  history: (space, { entity, relation, as_of }) => items("GET", of(space, "/history"), { query: { entity, relation, as_of } }),
  addFact: (space, body) => json("POST", of(space, "/facts"), { body }),
  /** Wait until what was stored is read. */
  flush: (space) => json("POST", of(space, "/flush"), { query: { timeout: 20 } }),
  supersede: (space, body) => json("POST", of(space, "/review/supersede"), { body }),
  retract: (space, body) => json("POST", of(space, "/review/retract"), { body }),
  restore: (space, body) => json("POST", of(space, "/review/restore"), { body }),
  queries: (space) => items("GET", of(space, "/cypher")),
  cypher: async (space, body) => (await json("POST", of(space, "/cypher"), { body })).rows,
  search: (space, body) => json("POST", of(space, "/search"), { query: { explain: true }, body: asked(body) }),
  context: (space, body) => json("POST", of(space, "/context"), { body: { ...asked(body), max_tokens: body.max_tokens } }),
  why: (space, { question, k, as_of, expect }) => json("POST", of(space, "/why"), { body: { question, expect, k, ...(as_of ? { as_of: endOf(as_of) } : {}) } }),
  duplicates: (space) => items("GET", of(space, "/review/duplicates"), { query: { limit: 100 } }),
  merges: (space) => all(of(space, "/review/merges"), {}),
  merge: (space, body) => json("POST", of(space, "/review/merge"), { body }),
  split: (space, merge) => json("POST", of(space, "/review/split"), { body: { name: merge.name, type: merge.type } }),
  failures: (space) => items("GET", of(space, "/queue/failures")),
  estimate: (space) => json("GET", of(space, "/queue/estimate")),
  /** What the first messages that mention an entity say, oldest first. */
  mentions: (space, { entity, session, speaker }, limit) => api.cypher(space, { limit, parameters: { entity, ...(session && { session }), ...(speaker && { speaker }) },
    query: `MATCH (c:Chunk)-[:MENTIONS]->(e:Entity) WHERE toLower(e.name) = toLower($entity)${session ? " AND c.session = $session" : ""}${speaker ? " AND c.speaker = $speaker" : ""}
    RETURN DISTINCT c.message_id AS id, c.session AS session, c.speaker AS speaker, c.at AS at, c.text AS text ORDER BY at` }),
  forget: (space, body) => json("POST", of(space, "/forget"), { body }),
  /** Read the queue. Long work tells `tell` of its progress, and returns its result. */
  enrich: (space, tell) => long("POST", of(space, "/queue/enrich"), { body: {} }, tell),
  importFile: (space, file, { format, session, speaker, columns, skip_invalid, dry_run }, tell) => long("POST", of(space, "/files/import-file"),
    { query: { format, session, speaker, columns, skip_invalid, dry_run, name: plainName(file.name) }, file }, tell),
  ask: (space, body, tell) => long("POST", of(space, "/ask"), { body }, tell),
};
