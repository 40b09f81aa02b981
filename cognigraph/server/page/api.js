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

async function send(method, path, { query = {}, body, accept = "application/json" } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const address = path + (given.length ? "?" + new URLSearchParams(given) : "");
  const headers = { Accept: accept };
  const key = sessionStorage.getItem(KEY);
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(address, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
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
  messages: (space, { session, cursor, limit }) => json("GET", of(space, "/messages"), { query: { session, cursor, limit } }),
  entities: (space, { text, cursor, limit }) => json("GET", of(space, "/entities"), { query: { match: text, cursor, limit } }),
  /** The entity with this name or alias, or undefined. */
  entity: async (space, name) => (await items("GET", of(space, "/entities"), { query: { match: name, limit: 100 } }))
    .find((entity) => [entity.name, ...entity.aliases].some((one) => one.toLowerCase() === name.toLowerCase())),
  triples: (space, query) => all(of(space, "/facts"), query),
  /** The triples of an entity as known at one time and true at another; null stands for now and for any time. */
  triplesAt: (space, entity, knownAt, trueAt) => all(of(space, "/facts"), { entity, as_of: knownAt, valid_at: trueAt }),
  history: (space, entity) => items("GET", of(space, "/history"), { query: { entity } }),
  search: (space, body) => json("POST", of(space, "/search"), { query: { explain: true }, body: asked(body) }),
  context: (space, body) => json("POST", of(space, "/context"), { body: { ...asked(body), max_tokens: body.max_tokens } }),
  why: (space, { question, k, as_of, expect }) => json("POST", of(space, "/why"), { body: { question, expect, k, ...(as_of ? { as_of: endOf(as_of) } : {}) } }),
  duplicates: (space) => items("GET", of(space, "/review/duplicates"), { query: { limit: 100 } }),
  merges: (space) => all(of(space, "/review/merges"), {}),
  merge: (space, body) => json("POST", of(space, "/review/merge"), { body }),
  split: (space, merge) => json("POST", of(space, "/review/split"), { body: { name: merge.name, type: merge.type } }),
  failures: (space) => items("GET", of(space, "/queue/failures")),
  estimate: (space) => json("GET", of(space, "/queue/estimate")),
  forget: (space, body) => json("POST", of(space, "/forget"), { body }),

  /** Read the queue; `tell` gets a sentence after each batch, from server-sent events. */
  async enrich(space, tell) {
    const response = await send("POST", of(space, "/queue/enrich"), { body: {}, accept: "text/event-stream" });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const events = (waiting + value).split("\n\n");
      waiting = events.pop();
      for (const event of events) {
        const kind = /^event: *(.*)$/m.exec(event)?.[1];
        const data = /^data: *(.*)$/m.exec(event)?.[1];
        if (!data) continue;
        const document = JSON.parse(data);
        if (kind === "progress") tell(`${document.done} of ${document.total} read`);
        if (kind === "problem") throw new ApiProblem(document.status ?? 500, document);
      }
    }
  },
};
