// look.mjs PI: what the real Pi reads of session files, without a model and without a network.
// PI is the folder of the package. A job is a line of JSON on stdin, {path, at: [entry or null]} or
// {path, fork: true} or {list: folder, cwd}; its answer is a line of JSON on stdout. Opening may
// change a file: give it copies.
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";

const pi = process.argv[2];
const ai = [`${pi}/node_modules/@earendil-works/pi-ai`, `${pi}/../pi-ai`].find((p) => existsSync(p));
const { SessionManager, convertToLlm } = await import(`${pi}/dist/index.js`);
const { getCurrentSystemMessage } = await import(`${ai}/dist/index.js`);
const { transformMessages } = await import(`${ai}/dist/api/transform-messages.js`);

function seen(manager, at) {
  if (at === null) manager.resetLeaf();
  else manager.branch(at);
  const { entries, model, thinkingLevel } = manager.buildSessionProjection();
  const { messages } = manager.buildSessionContext();
  const asked = model ?? { provider: "", modelId: "" };
  const target = { provider: asked.provider, id: asked.modelId, api: "openai-completions", input: ["text", "image"] };
  const spoken = messages.filter((m) => m.role !== "system");
  return {
    at,
    model,
    thinking: thinkingLevel,
    path: manager.getBranch().map((e) => e.id),
    system: getCurrentSystemMessage(messages) ?? null,
    entries: entries.map(({ sourceEntry, messages }) => ({
      id: sourceEntry.id,
      messages: messages.filter((m) => m.role !== "system"),
    })),
    messages: spoken,
    sent: transformMessages(convertToLlm(spoken), target),
  };
}

function look({ path, at, fork }) {
  const manager = SessionManager.open(path);
  const leaf = manager.getLeafId();
  if (fork) return { path: manager.createBranchedSession(leaf) };
  const labels = {};
  for (const { id } of manager.getEntries()) {
    const label = manager.getLabel(id);
    if (label) labels[id] = label;
  }
  return {
    id: manager.getSessionId(),
    leaf,
    name: manager.getSessionName() ?? null,
    labels,
    entries: manager.getEntries(),
    contexts: (at ?? [leaf]).map((place) => seen(manager, place)),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const job = JSON.parse(line);
    answer = job.list ? await SessionManager.list(job.cwd, job.list) : look(job);
  } catch (error) {
    answer = { error: String(error?.stack ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
