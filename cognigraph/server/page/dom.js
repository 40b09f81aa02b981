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
