/** A client of cognigraph's server. Its types are made from the server's OpenAPI document. */

import createClient, { type Client } from "openapi-fetch";
import type { components, operations, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";

type Schemas = components["schemas"];
export type Message = Schemas["MessageBody"];
export type StoredMessage = Schemas["StoredMessage"];
export type Added = Schemas["AddResult"];
export type Hit = Schemas["Hit"];
export type SearchResult = Schemas["SearchResult"];
export type Context = Schemas["Context"];
export type Fact = Schemas["Triple"];
export type Forgotten = Schemas["Forgotten"];
export type Stats = Schemas["Stats"];

type Body<Name extends keyof operations> = operations[Name] extends {
  requestBody: { content: { "application/json": infer Content } };
}
  ? Content
  : never;
type Query<Name extends keyof operations> = NonNullable<operations[Name]["parameters"]["query"]>;
/** The arguments of a search beside its question. */
export type SearchOptions = Omit<Body<"search">, "question">;
/** The arguments of a prompt block beside its question. */
export type ContextOptions = Omit<Body<"context">, "question"> & { explain?: boolean };

export interface Options {
  /** Where the server is; by default `http://127.0.0.1:8700`. */
  url?: string;
  /** A key that `cognigraph keys create` has made. */
  key?: string;
  /** How often a request is repeated that the server could not take at the time; by default 2. */
  retries?: number;
  /** Milliseconds after which a request is given up; by default 60,000. */
  timeout?: number;
  /** Used in place of the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

/** An answer of the server that is no success. Its message says what to do. */
export class Problem extends Error {
  override readonly name = "Problem";

  constructor(
    readonly status: number,
    /** What is wrong, in a few words. */
    readonly title: string,
    detail: string,
    /** Whether the same request may succeed later. */
    readonly retryable: boolean,
    /** The whole answer, such as `index` of the bad message of a batch. */
    readonly document: Readonly<Record<string, unknown>>,
  ) {
    super(detail || title || `the server answered ${status}`);
  }
}

/** A server with its memories. */
export class CogniGraph {
  /** Every route of the server, typed: `client.routes.GET("/v1/spaces/{space}/review/conflicts", ...)`. */
  readonly routes: Client<paths>;

  constructor({ url = "http://127.0.0.1:8700", key, retries = 2, timeout = 60_000, fetch }: Options = {}) {
    const send = fetch ?? ((request: Request) => globalThis.fetch(request));
    this.routes = createClient<paths>({
      baseUrl: url.replace(/\/+$/, ""),
      headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
      fetch: (request) => patiently(send, request, retries, timeout),
    });
  }

  /** One tenant. Its first message creates it. */
  space(name: string): Space {
    return new Space(this.routes, name);
  }

  /** The names of the spaces that hold messages, as far as the key opens them. */
  async spaces(): Promise<string[]> {
    return (await answered(this.routes.GET("/v1/spaces"))).items ?? [];
  }
}

/** One tenant of a memory. Nothing that is read or written through it leaves it. */
export class Space {
  constructor(
    private readonly routes: Client<paths>,
    readonly name: string,
  ) {}

  /** Store one message: `{ text, speaker }`, or a chat message `{ role, content }`. With an `id` it can be repeated. */
  add(message: Message): Promise<Added> {
    const params = { path: this.path };
    return answered(this.routes.POST("/v1/spaces/{space}/messages", { params, body: message }));
  }

  /** Store many messages. With `skip_invalid`, bad ones are left out and listed in `rejected`. */
  addMany(messages: Message[], options: Omit<Body<"add_many">, "messages"> = {}): Promise<Added> {
    const body = { ...options, messages };
    return answered(this.routes.POST("/v1/spaces/{space}/messages/batch", { params: { path: this.path }, body }));
  }

  /** State a fact that the program knows. */
  addFact(fact: Body<"add_fact">): Promise<Added> {
    return answered(this.routes.POST("/v1/spaces/{space}/facts", { params: { path: this.path }, body: fact }));
  }

  /** Find the messages most relevant to a question, best first. */
  search(question: string, options: SearchOptions = {}): Promise<SearchResult> {
    const body = { ...options, question };
    return answered(this.routes.POST("/v1/spaces/{space}/search", { params: { path: this.path }, body }));
  }

  /** Build a prompt block with what is known about a question; `text` is empty if nothing is. */
  context(question: string, { explain = false, ...options }: ContextOptions = {}): Promise<Context> {
    const params = { path: this.path, query: { explain } };
    return answered(this.routes.POST("/v1/spaces/{space}/context", { params, body: { ...options, question } }));
  }

  /** One whole message, or `undefined` if there is none. */
  async get(id: string, session?: string): Promise<StoredMessage | undefined> {
    const params = { path: { ...this.path, id }, query: { session } };
    try {
      return await answered(this.routes.GET("/v1/spaces/{space}/messages/{id}", { params }));
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return undefined;
      throw error;
    }
  }

  /** All messages in order of time, page by page as they are iterated. */
  messages(query: Query<"messages"> = {}): AsyncGenerator<StoredMessage> {
    return pages((cursor) => {
      const params = { path: this.path, query: { ...query, cursor } };
      return answered(this.routes.GET("/v1/spaces/{space}/messages", { params }));
    });
  }

  /** All facts with their sources, newest first, page by page as they are iterated. */
  facts(query: Query<"facts"> = {}): AsyncGenerator<Fact> {
    return pages((cursor) => {
      const params = { path: this.path, query: { ...query, cursor } };
      return answered(this.routes.GET("/v1/spaces/{space}/facts", { params }));
    });
  }

  /** Replace the text of a message. */
  update(id: string, text: string, session?: string): Promise<StoredMessage> {
    const params = { path: { ...this.path, id }, query: { session } };
    return answered(this.routes.PATCH("/v1/spaces/{space}/messages/{id}", { params, body: { text } }));
  }

  /** Delete messages that match, and what was made from them. With `dry_run` only say which. */
  forget(criteria: Body<"forget">): Promise<Forgotten> {
    return answered(this.routes.POST("/v1/spaces/{space}/forget", { params: { path: this.path }, body: criteria }));
  }

  /** Wait until everything that was added is enriched, at most so many seconds. */
  async flush(timeout = 30): Promise<void> {
    await answered(this.routes.POST("/v1/spaces/{space}/flush", { params: { path: this.path, query: { timeout } } }));
  }

  /** Count what the space holds. */
  stats(): Promise<Stats> {
    return answered(this.routes.GET("/v1/spaces/{space}/stats", { params: { path: this.path } }));
  }

  private get path(): { space: string } {
    return { space: this.name };
  }
}

/** The data of an answer; any other than a success is thrown as a {@link Problem}. */
export async function answered<Data>(
  request: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Data> {
  const { data, error, response } = await request;
  if (response.ok) return data as Data;
  const document = (typeof error === "object" && error !== null ? error : {}) as Record<string, unknown>;
  const { title = response.statusText, detail = "", retryable = false } = document;
  throw new Problem(response.status, String(title), String(detail), retryable === true, document);
}

async function* pages<Item>(
  load: (cursor: string | undefined) => Promise<{ items: Item[]; next: string | null }>,
): AsyncGenerator<Item> {
  let cursor: string | undefined;
  do {
    const page = await load(cursor);
    yield* page.items;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

const BUSY = new Set([429, 503]);
const LONGEST_PAUSE = 30;

/** Send a request, and again after the pause that a busy server asks for. It has done nothing then. */
async function patiently(
  send: (request: Request) => Promise<Response>,
  request: Request,
  retries: number,
  timeout: number,
): Promise<Response> {
  for (let left = retries; ; left--) {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeout)]);
    const response = await send(new Request(request.clone(), { signal }));
    if (left <= 0 || !BUSY.has(response.status)) return response;
    const seconds = Number(response.headers.get("Retry-After") ?? 1);
    if (!(seconds <= LONGEST_PAUSE)) return response;
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  }
}
