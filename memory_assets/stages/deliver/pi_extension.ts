// memory_assets in pi: the briefing before the first prompt of a session, and one line sent when it is compacted or ends.
// MARK
import { execFile, spawn } from "node:child_process";

const COMMAND = "COMMAND";
const STORE = "STORE";
const BRIEFING_MS = 2000;
const BRIEFED = Symbol.for("memory_assets.briefed"); // the session that has its briefing; global, to survive a reload
const RESUMED = Symbol.for("memory_assets.resumed"); // whether the session was resumed, and not compacted since

function send(name, ctx, data) {
  try {
    const sessionId = idOf(ctx);
    const words = ["send", name, "--store", STORE, "--data", JSON.stringify({ harness: "pi", sessionId, ...data })];
    const options = { detached: true, stdio: "ignore", windowsHide: true };
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), ...words], options);
    child.on("error", () => {});
    child.unref();
  } catch {
    // A session goes on without its memory.
  }
}

function idOf(ctx) {
  const manager = ctx?.sessionManager;
  return manager?.getSessionId?.() ?? idIn(manager?.getSessionFile?.());
}

function idIn(file) {
  return /_([^_/\\]+)\.jsonl$/.exec(file ?? "")?.[1];
}

function briefing(ctx, isResumed) {
  const sessionId = idOf(ctx);
  const words = [...COMMAND.slice(1), "hooks", "run", "pi", "SessionStart", "--store", STORE];
  if (sessionId) words.push("--session", sessionId);
  if (isResumed) words.push("--source", "resume"); // it still has its briefing, unless that changed
  return new Promise((resolve) => {
    try {
      const options = { timeout: BRIEFING_MS, windowsHide: true };
      const child = execFile(COMMAND[0], words, options, (error, stdout) => resolve(error ? "" : stdout.trim()));
      child.stdin?.end();
    } catch {
      resolve("");
    }
  });
}

export default function (pi) {
  pi.on("session_start", (event, ctx) => {
    if (event?.reason === "reload") return; // the same session goes on
    begin(event);
  });
  pi.on("session_switch", (event, ctx) => begin(event));
  pi.on("session_compact", () => {
    globalThis[BRIEFED] = null;
    globalThis[RESUMED] = false;
  });
  pi.on("before_agent_start", async (event, ctx) => {
    const sessionId = idOf(ctx) ?? "";
    if (globalThis[BRIEFED] === sessionId) return undefined;
    globalThis[BRIEFED] = sessionId;
    const content = await briefing(ctx, globalThis[RESUMED]);
    return content ? { message: { customType: "memory-briefing", content, display: false } } : undefined;
  });
  pi.on("session_before_compact", (event, ctx) => {
    const { tokensBefore, messagesToSummarize } = event?.preparation ?? {};
    send("memory/session.compaction.pending", ctx, {
      trigger: event?.reason ?? "unknown",
      tokensBefore,
      messageCount: messagesToSummarize?.length,
    });
  });
  pi.on("session_shutdown", (event, ctx) => {
    if (event?.reason !== "reload") send("memory/session.ended", ctx, { reason: event?.reason ?? "shutdown" });
  });

  function begin(event) {
    globalThis[BRIEFED] = null;
    globalThis[RESUMED] = event?.reason === "resume";
    const sessionId = idIn(event?.previousSessionFile);
    if (sessionId) send("memory/session.ended", undefined, { sessionId, reason: event?.reason ?? "switch" });
  }
}
