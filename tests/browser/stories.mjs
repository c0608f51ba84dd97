// What the databases hold that the browser shows.

const HOUR = 3_600_000;
const STATES = ["GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "DONE"];

/// A week of three agents on a web shop. `Desk.setClock` moves them through it.
export async function week(desk) {
  const start = Date.now();
  let hoursAgo = 0;
  const at = (hours) => desk.setClock(start - (hoursAgo = hours) * HOUR - Date.now());
  at(150);
  const agents = {
    "claude-1": await desk.agent("Claude Code", "alice"),
    "cursor-2": await desk.agent("Cursor", "bob"),
    "codex-3": await desk.agent("Codex CLI", "alice"),
  };
  const [alice, bob] = [agents["claude-1"], agents["cursor-2"]];
  const tasks = {};
  const create = async (key, title, priority, needs = [], project = "shop", more = {}) => {
    const depends_on = needs.map((need) => tasks[need]);
    tasks[key] = (await alice.data("task_create", { title, priority, project_id: project, depends_on, ...more })).id;
  };
  /// An agent reads a little, moves a task as far as that state, and says why.
  const work = async (who, key, to, session, decision) => {
    const agent = agents[who];
    const id = tasks[key];
    await agent.call("task_next_actions", {});
    await agent.call("task_get", { id });
    const { status } = await agent.data("task_get", { id });
    const { claim } = await agent.data("task_claim", { agent_id: who, id, lease_seconds: 43_200 });
    const said = { type: "decision", task_id: id, agent_id: who, content: decision ?? "As planned.", session_id: session };
    if (decision) await agent.data("thought_record", said);
    const steps = STATES.slice(STATES.indexOf(status) + 1, STATES.indexOf(to) + 1);
    for (const step of steps) {
      if (step === "DONE") {
        const thought = { ...said, type: "reflection", content: "Done; the tests of this part pass." };
        await agent.data("thought_record", thought);
      }
      await agent.data("task_update", { id, status: step, claim: claim.no ?? claim });
      await agent.call("task_list", { limit: 5 });
    }
  };
  const refused = async (who, key, status) => {
    await agents[who].call("task_update", { id: tasks[key], status });
  };

  await alice.data("audit_session_start", { session_id: "release-41", intent: "Release 4.1: search" });
  await create("index", "Build the search index", "high");
  await create("synonyms", "Add synonyms to the search", "medium", ["index"]);
  await create("suggest", "Suggest products while typing", "medium", ["index"]);
  at(147);
  await work("claude-1", "index", "VERIFY", "release-41", "One index per language: a shared one ranks German compounds too low.");
  at(143);
  await work("claude-1", "index", "DONE", "release-41");
  await refused("cursor-2", "synonyms", "DONE");
  at(125);
  await work("cursor-2", "synonyms", "APPLY", "release-41", "Synonyms are a file in the repository, so that each change is reviewed.");
  at(122);
  await work("cursor-2", "synonyms", "DONE", "release-41");
  await work("codex-3", "suggest", "PLAN", "release-41", "Suggestions come from the queries of the last month, not from product names.");
  at(120);
  await work("codex-3", "suggest", "DONE", "release-41");
  at(118);
  await alice.data("merkle_finalize", { session_id: "release-41" });

  at(101);
  await alice.data("audit_session_start", { session_id: "release-42", intent: "Release 4.2: checkout in two steps" });
  await create("schema", "Design the new order tables", "high");
  await create("migration", "Write the migration", "critical", ["schema"]);
  await create("measure", "Measure the import of old orders", "high", [], "shop");
  await create("api", "Checkout API, second version", "high", ["migration"]);
  await create("form", "Address form with validation", "medium", ["schema"]);
  await create("pay", "Connect the payment provider", "critical", ["api"]);
  await create("mail", "Mail templates for confirmations", "low", ["schema"]);
  await create("page", "Checkout page", "high", ["api", "form"]);
  await create("e2e", "End-to-end test of the checkout", "high", ["page", "pay"]);
  await create("load", "Load test with 500 orders a minute", "medium", ["api", "measure"]);
  await create("docs", "Describe the API for partners", "low", ["api"], "site");
  await create("announce", "Announce the release", "medium", ["e2e", "load", "docs"], "site");
  await create("icons", "New icons for the help pages", "low", [], "site");
  await create("typo", "Correct the imprint", "low", [], "site");
  await create("legacy", "Keep the old checkout behind a switch", "medium");
  at(99);
  await work("claude-1", "schema", "ANALYZE", "release-42", "Orders and payments are two tables: a refund must not rewrite an order.");
  await refused("codex-3", "migration", "APPLY");
  at(96);
  await work("claude-1", "schema", "DONE", "release-42", "Amounts are integers in cents. Rounding happens once, in the invoice.");
  at(78);
  await work("cursor-2", "form", "GATHER", "release-42");
  await work("codex-3", "mail", "VERIFY", "release-42", "Plain text first; HTML is made from it.");
  at(75);
  await work("codex-3", "mail", "DONE", "release-42");
  await refused("cursor-2", "api", "DONE");
  await refused("cursor-2", "api", "GATHER");
  at(54);
  await work("cursor-2", "typo", "DONE", "release-42");
  await work("claude-1", "legacy", "APPLY", "release-42", "The switch is per customer, so that support can try it on real accounts.");
  at(52);
  await work("claude-1", "legacy", "DONE", "release-42");
  at(30);
  await work("codex-3", "measure", "ANALYZE", "release-42", "Measured on a copy of production; the test data has too few refunds.");
  at(27);
  await refused("cursor-2", "measure", "PLAN");
  await refused("claude-1", "icons", "DONE");
  at(25);
  await bob.data("audit_session_start", { session_id: "help-pages", intent: "Help pages for the new checkout" });
  at(5);
  await work("codex-3", "measure", "PLAN", "release-42", "Import in batches of 1,000: larger ones hold the lock for over a second.");
  at(3);
  await work("claude-1", "migration", "PLAN", "release-42", "Two steps, because the table is large: add the columns, then fill them in the background.");
  at(2);
  await work("cursor-2", "form", "VERIFY", "release-42", "The form checks addresses before it is sent, and the server checks them again.");
  at(1);
  await work("claude-1", "migration", "APPLY", "release-42");
  await refused("codex-3", "migration", "VERIFY");
  await refused("codex-3", "announce", "DONE");
  at(0.2);
  await alice.call("task_next_actions", {});
  at(0);
}

const HOSTILE = [
  "<script>alert(document.domain)</script>",
  "<img src=x onerror=alert(1)>",
  "\"><svg onload=alert(1)>",
  "W".repeat(256),
  "averylongwordwithoutanybreak".repeat(9),
  "right \u202eot left\u202c \u2066isolated\u2069",
  "\u202e\u202e\u202eturned over and never back",
  "עברית עם English ומספר 42",
  "日本語の長い題名".repeat(16),
  "two\nlines\tand a tab",
  "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301 combining",
  "https://example.org/?a=b&c=d#e",
  "</style></svg></title></main><h1>out</h1>",
  "javascript:alert(1)",
  "\u001b[31mred\u001b[0m\u0001\u0007",
  "👩‍👩‍👧‍👦".repeat(20),
  "&lt;b&gt; &amp; &#60;b&#62;",
];

/// A name that the server takes: no control characters, and so many characters at most.
const named = (text, most) => [...text.replaceAll(/[\u0000-\u001f\u007f]/g, "")].slice(0, most).join("");

/// As many tasks as asked for, with titles, names and thoughts that try to be more than text. Most of them wait for another one.
export async function hostile(desk, count) {
  const agent = await desk.agent(HOSTILE[0], HOSTILE[1]);
  const text = (at) => HOSTILE[at % HOSTILE.length];
  const ids = [];
  for (let at = 0; at < count; at += 1) {
    const needs = at % 5 === 4 ? [] : [ids[Math.floor(at / 3)], ids[at - 7]];
    const task = await agent.data("task_create", {
      title: text(at),
      project_id: named(text(at + 4), 120),
      assignee: named(text(at + 3), 120),
      priority: at % 2 ? "high" : "low",
      depends_on: [...new Set(needs.filter(Boolean))],
    });
    ids.push(task.id);
  }
  for (const at of HOSTILE.keys()) {
    const [name, session_id, task_id] = [named(text(at), 100), named(`${at} ${text(at)}`, 120), ids[at * 5]];
    await agent.data("audit_session_start", { session_id, intent: text(at) });
    const content = `${text(at)}\n${text(at).repeat(20)}`;
    await agent.data("thought_record", { type: "decision", task_id, agent_id: name, content, session_id });
    if (at % 3 === 0) await agent.data("merkle_finalize", { session_id });
    await agent.call("task_claim", { agent_id: name, id: task_id });
  }
  for (const [status, every] of [["GATHER", 3], ["ANALYZE", 9], ["PLAN", 18]]) {
    for (let at = 1; at < count; at += every) await agent.call("task_update", { id: ids[at], status });
  }
}
