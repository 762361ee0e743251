// memory_assets in pi: the briefing before the first prompt of a session, and one line sent when it is compacted or ends.
// MARK
import { execFile, spawn } from "node:child_process";

const COMMAND = "COMMAND";
const STORE = "STORE";
const RECALLS = false;
const BRIEFING_MS = 2000;
const BRIEFED = Symbol.for("memory_assets.briefed"); // the session that has its briefing; global, to survive a reload
const COMPACTED = Symbol.for("memory_assets.compacted"); // whether the session was compacted since its last prompt
const ENDED = Symbol.for("memory_assets.ended"); // the session whose end was sent last
const SERVER = Symbol.for("memory_assets.server"); // the process that answers prompts
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

function run(event, words, input) {
  return new Promise((resolve) => {
    try {
      const options = { timeout: BRIEFING_MS, windowsHide: true };
      const all = [...COMMAND.slice(1), "hooks", "run", "pi", event, "--store", STORE, ...words];
      const child = execFile(COMMAND[0], all, options, (error, stdout) => resolve(error ? "" : stdout.trim()));
      child.stdin?.on("error", () => {});
      child.stdin?.end(input ?? "");
    } catch {
      resolve("");
    }
  });
}

function briefing(ctx, isResumed) {
  const sessionId = idOf(ctx);
  const words = sessionId ? ["--session", sessionId] : [];
  if (isResumed) words.push("--source", "resume"); // it still has its briefing, unless that changed
  else if (globalThis[COMPACTED]) words.push("--source", "compact");
  return run("SessionStart", words);
}

// Whether the session has this briefing, also from the one that it was forked from.
function has(ctx, content) {
  const entries = ctx?.sessionManager?.getBranch?.() ?? [];
  const since = entries.findLastIndex((entry) => entry?.type === "compaction") + 1;
  return entries.slice(since).some((entry) => entry?.customType === "memory-briefing" && entry.content === content);
}

function near(ctx, prompt) {
  return run("UserPromptSubmit", [], JSON.stringify({ session_id: idOf(ctx), prompt }));
}

function listen() {
  try {
    // It answers prompts, with everything loaded, until pi ends and closes its input.
    const words = ["serve", "mcp", "--prompts", "--store", STORE];
    const child = spawn(COMMAND[0], [...COMMAND.slice(1), ...words], { stdio: ["pipe", "ignore", "ignore"], windowsHide: true });
    child.on("error", () => {});
    child.stdin?.on("error", () => {});
    child.unref();
    child.stdin?.unref?.();
    return child;
  } catch {
    return undefined;
  }
}

export default function (pi) {
  if (RECALLS) globalThis[SERVER] ??= listen();
  pi.on("session_start", (event, ctx) => {
    if (event?.reason === "reload") return; // the same session goes on
    begin(event);
  });
  pi.on("session_switch", (event, ctx) => begin(event));
  pi.on("session_compact", () => {
    globalThis[BRIEFED] = null;
    globalThis[RESUMED] = false;
    globalThis[COMPACTED] = true;
  });
  pi.on("before_agent_start", async (event, ctx) => {
    const sessionId = idOf(ctx) ?? "";
    if (globalThis[ENDED] === sessionId) globalThis[ENDED] = null; // it goes on
    if (globalThis[BRIEFED] !== sessionId) {
      globalThis[BRIEFED] = sessionId;
      const content = await briefing(ctx, globalThis[RESUMED]);
      if (!has(ctx, content)) say("memory-briefing", content);
      globalThis[COMPACTED] = false;
    }
    if (RECALLS) say("memory-recall", await near(ctx, event?.prompt));
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
    if (event?.reason !== "reload") end(idOf(ctx), event?.reason ?? "shutdown");
  });

  // The prompt is added after this, so that the message stands before it.
  function say(customType, content) {
    if (content) pi.sendMessage({ customType, content, display: false }, { triggerTurn: false });
  }

  function begin(event) {
    globalThis[BRIEFED] = null;
    globalThis[COMPACTED] = false;
    globalThis[RESUMED] = event?.reason === "resume";
    end(idIn(event?.previousSessionFile), event?.reason ?? "switch");
  }

  // A switch is reported by the session that ends and by the one that begins.
  function end(sessionId, reason) {
    if (!sessionId || globalThis[ENDED] === sessionId) return;
    globalThis[ENDED] = sessionId;
    send("memory/session.ended", undefined, { sessionId, reason });
  }
}
