// memory_assets in OpenCode: the briefing with the first prompt of a session and after a compaction, and one line sent after a turn.
// MARK
import { execFile, spawn } from "node:child_process";

const COMMAND = "COMMAND";
const STORE = "STORE";
const RECALLS = false;
const HOOK_MS = 2000;

function send(name, sessionId) {
  try {
    const words = ["send", name, "--store", STORE, "--data", JSON.stringify({ harness: "opencode", sessionId })];
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), ...words], { detached: true, stdio: "ignore", windowsHide: true });
    child.on("error", () => {});
    child.unref();
  } catch {
    // A session goes on without its memory.
  }
}

function run(event, words, input) {
  return new Promise((resolve) => {
    try {
      const all = [...COMMAND.slice(1), "hooks", "run", "opencode", event, "--store", STORE, ...words];
      const child = execFile(COMMAND[0], all, { timeout: HOOK_MS, windowsHide: true }, (error, stdout) => resolve(error ? "" : stdout.trim()));
      child.stdin?.on("error", () => {});
      child.stdin?.end(input ?? "");
    } catch {
      resolve("");
    }
  });
}

async function isSubagent(client, sessionID) {
  try {
    const session = await client.session.get({ path: { id: sessionID } });
    return Boolean(session?.data?.parentID);
  } catch {
    return false;
  }
}

// Whether the session has this briefing already, from the one that it was forked from.
async function has(client, sessionID, briefing) {
  try {
    const messages = (await client.session.messages({ path: { id: sessionID } }))?.data ?? [];
    const since = messages.findLastIndex((message) => message?.info?.summary === true) + 1;
    return messages.slice(since).some(({ parts }) => parts?.some((part) => part.synthetic && part.text?.includes(briefing)));
  } catch {
    return false;
  }
}

export const MemoryAssets = async ({ client }) => {
  const compacted = new Set(); // sessions that lost their briefing

  return {
    event: async ({ event }) => {
      const sessionID = event?.properties?.sessionID;
      if (event?.type === "session.compacted") compacted.add(sessionID);
      if (event?.type === "session.idle" && sessionID) send("memory/session.turn.completed", sessionID);
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      send("memory/session.compaction.pending", sessionID);
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const last = parts?.at(-1);
      if (!last || (await isSubagent(client, sessionID))) return;
      const source = compacted.delete(sessionID) ? "compact" : "prompt";
      const briefing = await run("SessionStart", ["--session", sessionID, "--source", source]);
      const texts = briefing && (await has(client, sessionID, briefing)) ? [] : [briefing];
      if (RECALLS) {
        const prompt = parts.map((part) => (part.type === "text" && !part.synthetic ? part.text : "")).join("\n");
        texts.push(await run("UserPromptSubmit", [], JSON.stringify({ session_id: sessionID, prompt })));
      }
      const text = texts.filter(Boolean).join("\n\n");
      // The id sorts behind the last one; a synthetic part is not the person's.
      if (text) parts.push({ id: `${last.id}m`, sessionID, messageID: message.id, type: "text", synthetic: true, text });
    },
  };
};
