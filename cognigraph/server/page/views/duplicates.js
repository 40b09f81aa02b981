// Entities that may be the same, and the merges made so far.
import { h, fill, link, time, action } from "../dom.js";
import { api } from "../api.js";

export async function render(root, { space, announce }) {
  const [suspected, merges] = await Promise.all([api.duplicates(space), api.merges(space)]);
  const decide = (label, work, done, kind) => action(label, async () => {
    await work();
    announce(done);
    await render(root, { space, announce });
  }, kind);
  const open = merges.filter((merge) => !merge.undone_at);
  const name = (text, type) => [h("a", { href: link([space, "entity", text]) }, text), " ", h("small", {}, type)];
  fill(root, h("h1", {}, "Duplicates"), h("p", {}, "Pairs that may be one entity. They stay apart unless you merge them."),
    suspected.length ? h("ul.rows", {}, suspected.map((pair) => h("li.row", {}, h("span.row-head", {}, h("span", {}, name(pair.name, pair.type), " – ", name(pair.other, pair.other_type)), h("small", {}, `${pair.score.toFixed(2)}: ${pair.reason}`)),
      h("span.actions", {}, decide(`Merge into ${pair.name}`, () => api.merge(space, { name: pair.other, type: pair.other_type, into: pair.name, into_type: pair.type }), "Merged", ".primary"),
        decide(`Merge into ${pair.other}`, () => api.merge(space, { name: pair.name, type: pair.type, into: pair.other, into_type: pair.other_type }), "Merged"))))) : h("p.empty", {}, "No pair of names is suspected."),
    h("h2", {}, "Merges"), h("p", {}, "Made by the rules, where they are certain, or by users. Each can be undone."), open.length ? h("ul.rows", {}, open.map((merge) => h("li.row", {}, h("span.row-head", {}, h("span", {}, merge.name, " into ", name(merge.into, merge.into_type)), h("small", {}, `by ${merge.by}, `, time(merge.at), `: ${merge.reason}`)),
      h("span.actions", {}, decide("Split", () => api.split(space, merge), "Split"))))) : h("p.empty", {}, "Nothing has been merged."));
}
