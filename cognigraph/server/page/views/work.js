// The queue: what is stored but not read yet, what failed, and what models cost.
import { h, fill, number, time, count, action } from "../dom.js";
import { api } from "../api.js";

export async function render(root, { space, announce }) {
  const [stats, failures] = await Promise.all([api.stats(space), api.failures(space)]);
  const costs = h("div", { role: "status" }, h("p.empty", {}, "Counting"));
  const states = [["pending", "waiting"], ["leased", "being read"], ["done", "read"], ["failed", "parked after failures"], ["summaries_pending", "summaries due"], ["summaries_failed", "summaries parked"]];
  const output = h("p", { role: "status" });
  const enrich = action("Read the queue now", async () => {
    await api.enrich(space, ({ done, total }) => (output.textContent = `${done} of ${total} read`));
    announce("The queue is read");
    await render(root, { space, announce });
  }, ".primary");
  fill(root, h("h1", {}, "Queue"), h("dl.figures-list", {}, states.map(([key, name]) => h("div", {}, h("dt", {}, name), h("dd", {}, number(stats[key]))))),
    stats.pending ? [enrich, output] : null,
    h("h2", {}, "Failures"), failures.length ? h("ul.rows", {}, failures.map((failure) => h("li.row", {}, h("strong", {}, failure.message ?? failure.id), " ", h("small", {}, failure.session ?? ""), h("p", {}, failure.error),
      h("small", {}, count(failure.attempts ?? 0, "attempt"), failure.retry_at ? [", again ", time(failure.retry_at, { withClock: true })] : "")))) : h("p.empty", {}, "Nothing has failed."),
    h("h2", {}, "What reading the queue would cost"), costs);
  // Not awaited: every waiting message is looked at, which takes seconds for a long queue.
  api.estimate(space).then((estimate) => fill(costs, cost(estimate)), (error) => fill(costs, h("p.problem", {}, error.message)));
}

function cost(estimate) {
  const { calls, input_tokens: input, output_tokens: output, cost } = estimate.usage;
  if (!calls) return h("p.empty", {}, `${count(estimate.turns, "message")} to read, without a model (extractor ${estimate.extractor}).`);
  return h("p", {}, `${count(estimate.turns, "message")} in ${count(calls, "call")} of ${estimate.extractor}: about ${number(input)} tokens in, ${number(output)} out`,
    cost ? `, ${cost.toFixed(2)} in the currency of your prices.` : ".");
}
