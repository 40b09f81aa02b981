// Text of messages with the marks that people and models write: code, lists, headings, bold and italic. It builds
// elements around pieces of the text and never reads HTML. Links stay text, so nobody is led elsewhere.
import { h } from "./dom.js";

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([\w+#.-]*) *$/;
const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const HEADING = /^#{1,6} +(.*)$/;
// A mark begins and ends at the edge of a word: not in 2*3*4, snake_case_name or a URL.
const MARKS = /(?<![\w`=*])(?:(`+)(?<code>[^`\n]+)\1|\*\*(?<bold>\S(?:[^*\n]*\S)?)\*\*|(?<em>[*_])(?<italic>[^\s*_](?:[^*_\n]*[^\s*_])?)\k<em>)(?![\w`*])/gu;

/** Blocks of a text, as elements; what is not marked is a paragraph with its line breaks. */
export function written(text) {
  const lines = text.split("\n");
  const blocks = [];
  let said = [];
  const paragraph = () => {
    const rest = said.join("\n").replace(/^\n+/, "").trimEnd();
    if (rest) blocks.push(h("p", {}, marked(rest)));
    said = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const fence = FENCE.exec(lines[at]);
    const item = ITEM.exec(lines[at]);
    const heading = HEADING.exec(lines[at]);
    if (!fence && !item && !heading) {
      said.push(lines[at]);
      continue;
    }
    paragraph();
    if (fence) {
      const isEnd = (line) => line.trim().startsWith(fence[1]) && !line.trim().replaceAll(fence[1][0], "");
      const begin = at + 1;
      do at++; while (at < lines.length && !isEnd(lines[at]));
      blocks.push(h("pre.code", { tabIndex: 0, title: fence[2] }, h("code", {}, lines.slice(begin, at).join("\n"))));
    } else if (heading) {
      blocks.push(h("p.heading", {}, h("strong", {}, marked(heading[1]))));
    } else {
      const items = [];
      for (let next = item; next && Boolean(next[1]) === Boolean(item[1]); next = ITEM.exec(lines[++at] ?? "")) items.push(h("li", { value: next[1] ?? null }, marked(next[2])));
      blocks.push(h(item[1] ? "ol" : "ul", {}, items));
      at--;
    }
  }
  paragraph();
  return blocks;
}

function marked(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(MARKS)) {
    const { code, bold, italic } = found.groups;
    parts.push(text.slice(from, found.index), code ? h("code", {}, code) : bold ? h("strong", {}, bold) : h("em", {}, italic));
    from = found.index + found[0].length;
  }
  return [...parts, text.slice(from)];
}
