import type { RemoteFix } from './clients/patches.js';
import { builtIn } from './model/built-in.js';
import { showPlan } from './outputs/terminal.js';
import { isRed } from './playwright/suite-run.js';
import type { Problem } from './problem.js';
import { err, ok, type Result } from './result.js';
import type { OpenRun } from './command/open-run.js';
import type { MakeHooks } from './command/compose-session.js';
import type { HealResult } from './heal/progress.js';
import type { Command, Run } from './command/run.js';
import type { ProofRequest } from './clients/verify/compare-change.js';

/** Heals what is red, in the suite here or in the reports of other runs, and then, if that was asked for, what is flaky. */
export const heal: Command = (run) => healWith(run, async () => (await clients()).byAgents);

/** Heals by the fixes in the artifacts of other machines, without an agent. */
export const provePatches =
  (patches: readonly RemoteFix[]): Command =>
  (run) =>
    healWith(run, async () => (await clients()).byPatches(patches));

// Loaded only for a run that is red (CL-4).
const clients = () => import('./clients/hooks.js');
const blaming = () => import('./clients/blame/explain.js');

async function healWith(run: Run, hooksOf: () => Promise<MakeHooks>): Promise<Result<HealResult, Problem>> {
  const { request, settings } = run.opened;
  const first = await run.suite({ needsCopies: startsAgents(run.opened) });
  if (!first.ok) return first;
  const mayBeFlaky =
    request.options.flaky && first.value.run.tests.some(({ outcome }) => outcome === 'flaky');
  if (!isRed(first.value.run) && !mayBeFlaky) return run.green(first.value.run);
  const explain = settings.blame.enabled ? { explain: (await blaming()).explainByChanges(null) } : {};
  const session = await run.session(first.value, { ...explain, hooks: await hooksOf() });
  if (!session.ok) return session;
  const { healRun } = await import('./heal/heal-rounds.js');
  const healed = await healRun(session.value, first.value.run);
  const flaky = [...session.value.bus.run().tests.values()].filter(({ verdict }) => verdict === 'flaky');
  if (request.options.flaky && flaky.length > 0) {
    const { runFlaky: flakyRun } = await import('./clients/flaky/flaky-run.js');
    const suspected = flaky.map(({ id }) => id);
    const { paused } = await flakyRun(run.opened, session.value, { first: first.value.run, suspected });
    return ok({ ...healed, paused: healed.paused || paused });
  }
  return ok(healed);
}

/** Shows which agent would get which prompt, and starts none. */
export const plan: Command = async (run) => {
  const first = await run.suite();
  if (!first.ok) return first;
  if (!isRed(first.value.run)) return run.green(first.value.run);
  const session = await run.session(first.value);
  if (!session.ok) return session;
  const { planRun } = await import('./clients/plan-run.js');
  const show = run.opened.request.options.json ? () => undefined : showPlan;
  return ok(await planRun(session.value, first.value.run, show));
};

/** Searches for the change that broke what is red, since a commit if one is named. */
export const blame =
  (base: string | null): Command =>
  async (run) => {
    const first = await run.suite();
    if (!first.ok) return first;
    if (!isRed(first.value.run)) return run.green(first.value.run);
    const session = await run.session(first.value, { explain: (await blaming()).explainByChanges(base) });
    if (!session.ok) return session;
    const { blameRun } = await import('./clients/plan-run.js');
    return ok(await blameRun(session.value, first.value.run));
  };

/** Measures, explains and heals what is flaky, in place of what is red. */
export const flaky: Command = async (run) => {
  const nobody = nobodyToHeal(run.opened);
  if (nobody) return err(nobody);
  const first = await run.suite({ ids: null, needsCopies: startsAgents(run.opened) });
  if (!first.ok) return first;
  const session = await run.session(first.value, { hooks: (await clients()).byAgents });
  if (!session.ok) return session;
  const { runFlaky: flakyRun } = await import('./clients/flaky/flaky-run.js');
  return ok(await flakyRun(run.opened, session.value, { first: first.value.run }));
};

/** Proves the changes in the working tree on these tests, or on the selection if there are none. */
export const verify =
  (asked: ProofRequest, ids: readonly string[]): Command =>
  async (run) => {
    // Judged before anything is run with it, since it may be refused as it stands.
    const { compareChange, refusedAtOnce } = await import('./clients/verify/compare-change.js');
    const change = await compareChange(run.opened, asked);
    if (!change.ok) return change;
    const refused = refusedAtOnce(run.opened, change.value);
    if (refused) return ok(refused);
    const first = await run.suite(ids.length > 0 ? { ids } : {});
    if (!first.ok) return first;
    const session = await run.session(first.value);
    if (!session.ok) return session;
    const { verifyChange } = await import('./clients/verify/prove-change.js');
    return ok(
      await verifyChange(run.opened, session.value, { first: first.value.run, change: change.value }),
    );
  };

/** Applies the patch that a person has chosen for these tests, or for the suite itself if there are none, and proves it without an agent. */
export const applyChosen =
  (ids: readonly string[]): Command =>
  async (run) => {
    const first = await run.suite(ids.length > 0 ? { ids } : {});
    if (!first.ok) return first;
    if (!isRed(first.value.run)) {
      const message =
        'Its tests are green without the patch, under the condition in which they were red, so it was not applied.';
      run.opened.bus.emit({ type: 'run.warning', message });
      return run.green(first.value.run);
    }
    const { byChoice } = await clients();
    const session = await run.session(first.value, { hooks: byChoice, theseTestsOnly: true });
    if (!session.ok) return session;
    const { healRun } = await import('./heal/heal-rounds.js');
    return ok(await healRun(session.value, first.value.run));
  };

/** Whether an agent may need a copy; the built-in fixer does not. */
function startsAgents({ request, settings, missing }: OpenRun): boolean {
  if (request.options.dryRun) return false;
  return Object.entries(settings.agents).some(
    ([name, { runner }]) => runner !== builtIn && !missing.has(name),
  );
}

/** Measuring takes minutes, so a search for flakes that no agent could heal is refused before it; null if one can. */
function nobodyToHeal({ settings, missing }: OpenRun): Problem | null {
  const agents = settings.routes.flaky;
  const problems = agents.flatMap((name) => missing.get(name) ?? []);
  const [first] = problems;
  if (!first || problems.length < agents.length) return null;
  return { ...first, remedy: `${first.remedy} To only measure and explain, add --dry-run.` };
}
