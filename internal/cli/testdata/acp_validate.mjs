// Reads messages of JSON-RPC, one a line, and lets the TypeScript SDK's validators judge those that an agent sent.
import { createInterface } from "node:readline";
const z = await import(`${process.argv[2]}/node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js`);
const asked = new Map();
const results = { initialize: z.zInitializeResponse, "session/new": z.zNewSessionResponse, "session/load": z.zLoadSessionResponse, "session/prompt": z.zPromptResponse };
const requests = { "session/update": z.zSessionNotification, "session/request_permission": z.zRequestPermissionRequest };
let seen = 0;
for await (const line of createInterface({ input: process.stdin })) {
  if (!line.startsWith("{")) continue;
  let m;
  try { m = JSON.parse(line); } catch { continue; } // a client's bad message
  if (m.method in results) asked.set(m.id, results[m.method]);
  const judge = m.method ? requests[m.method] : m.result?.outcome ? undefined : asked.get(m.id);
  if (!judge || m.error) continue;
  const verdict = judge.safeParse(m.params ?? m.result);
  if (!verdict.success) { console.error(line, verdict.error); process.exit(1); }
  seen++;
}
if (!seen) { console.error("no message was seen"); process.exit(1); }
