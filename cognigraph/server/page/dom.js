// Building the page. Text becomes text nodes, so nothing that a message says is read as HTML.

/** An element: h("a.quiet", {href: "#/"}, "Spaces"). Properties that start with "on" are listeners. */
export function h(selector, properties = {}, ...children) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.classList.add(...classes);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list" && name !== "form") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** Replace what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/** A link inside the page, from parts that may contain any character. */
export function link(parts, query = {}) {
  const search = new URLSearchParams(
    Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""),
  ).toString();
  return "#/" + parts.map(encodeURIComponent).join("/") + (search ? "?" + search : "");
}

export function field(label, input, hint) {
  const id = input.id || `field-${(field.count = (field.count ?? 0) + 1)}`;
  input.id = id;
  const note = hint ? h("small", { id: id + "-hint" }, hint) : null;
  if (note) input.setAttribute("aria-describedby", note.id);
  return h("div.field", {}, h("label", { htmlFor: id }, label), input, note);
}

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const times = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A time as the reader writes it; the exact one is in the title. */
export function time(iso, { withClock = false } = {}) {
  if (!iso) return "";
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return String(iso);
  return h("time", { dateTime: iso, title: iso }, (withClock ? times : dates).format(moment));
}

export const number = (value) => new Intl.NumberFormat().format(value ?? 0);

export function count(amount, one, many = one + "s") {
  return `${number(amount)} ${amount === 1 ? one : many}`;
}

/** What went wrong, where the reader looks. */
export const problem = (error) => h("p.problem", { role: "alert" }, error.message);

/** A button for work that takes time. Meanwhile it is disabled; what goes wrong stands after it. */
export function action(label, work, kind = "") {
  let wrong = null;
  const button = h(`button${kind}`, { type: "button", onclick: async () => {
    wrong?.remove();
    button.disabled = true;
    try {
      await work();
    } catch (error) {
      button.after(wrong = problem(error));
    } finally {
      button.disabled = false;
    }
  } }, label);
  return button;
}

/** The named fields of a form that are not empty. */
export const values = (form) => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value));

/** A form whose button, or Enter, does work with its values. */
export function workForm(label, work, ...fields) {
  const button = action(label, async () => form.reportValidity() && work(values(form), form), ".primary");
  button.type = "submit";
  const form = h("form", { onsubmit: (event) => event.preventDefault() }, fields, button);
  return form;
}

/** An id that a click copies. Without the clipboard, which needs HTTPS or loopback, it is selected. */
export function copyable(id, announce) {
  const code = h("code", {}, id);
  return h("button.copy", { type: "button", title: "Copy", onclick: async () => {
    getSelection().selectAllChildren(code);
    await navigator.clipboard?.writeText(id).then(() => announce(`${id} is copied`), () => {});
  } }, code);
}

/** A slider over the moments at which something changes; an optional one starts at "any time", others at "now". */
export function slider(label, hint, isos, { optional = false } = {}) {
  const moments = [...new Set(isos)].sort((a, b) => Date.parse(a) - Date.parse(b));
  const stops = optional ? [null, ...moments] : [...moments.slice(0, -1), null];
  const id = `slider-${label.replace(/\W/g, "")}`;
  const input = h("input", { type: "range", id, min: "0", max: String(Math.max(0, stops.length - 1)), step: "1" });
  input.value = String(optional ? 0 : stops.length - 1);
  const output = h("output", { htmlFor: id });
  const value = () => stops[Number(input.value)] ?? null;
  const tell = () => {
    const moment = value();
    fill(output, moment === null ? (optional ? "any time" : "now") : time(moment, { withClock: true }));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", tell);
  tell();
  return { element: h("div.slider", {}, h("label", { htmlFor: id }, label, " ", h("small", {}, hint)), input, output), value };
}

/** The two sliders for facts: what was known at a time, and what was true at one. `redraw` gets both. */
export function sliders(triples, redraw) {
  const said = triples.flatMap((triple) => [triple.first_observed, triple.last_observed, triple.superseded_at]).filter(Boolean);
  const valid = triples.flatMap((triple) => [triple.valid_from, triple.valid_to]).filter(Boolean);
  const known = slider("Known at", "What had been said by then (as_of)", said);
  const held = slider("True at", "What was true then (valid_at)", [...said, ...valid], { optional: true });
  let timer = null;
  const moved = () => {
    clearTimeout(timer);
    timer = setTimeout(() => redraw(known.value(), held.value()), 80);
  };
  known.element.addEventListener("input", moved);
  held.element.addEventListener("input", moved);
  return h("div.sliders", {}, known.element, held.element);
}

/** A bar for a share between 0 and 1, with its value in words beside it. */
export function bar(share, label) {
  const inner = h("span.bar-fill");
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return h("span.bar", { title: label, "aria-hidden": "true" }, inner);
}

/** Rows that are fetched page by page: a list and a button that fetches the next page. */
export function paged(list, fetchPage, row, { empty = "Nothing here yet.", more = "Show more" } = {}) {
  const button = h("button", { type: "button", onclick: () => next() }, more);
  const place = h("div.paged", {}, list);
  let cursor = null;
  async function next() {
    button.disabled = true;
    try {
      const page = await fetchPage(cursor);
      const rows = page.items.map(row);
      append(list, rows);
      cursor = page.next ?? null;
      if (!list.children.length) fill(place, h("p.empty", {}, empty));
      else if (cursor) append(place, button);
      else button.remove();
      const first = rows.flat()[0];
      if (document.activeElement === button && first?.focus) first.focus();
    } finally {
      button.disabled = false;
    }
  }
  return { element: place, ready: next() };
}
