import type { RemoteFix } from './clients/patches.js';
import { builtIn } from './model/built-in.js';
import { showPlan } from './outputs/terminal.js';
import { isRed } from './playwright/suite-run.js';
import type { Problem } from './problem.js';
import { err, ok, type Result } from './result.js';
import type { OpenRun } from './command/open-run.js';
import type { CreateHooks } from './command/compose-session.js';
import type { HealResult } from './heal/progress.js';
import type { Command, Run } from './command/run.js';
import type { ProofRequest } from './clients/verify/compare-change.js';

/** Heals the red tests of the suite, or of other machines' reports, and then, with `--flaky`, the flaky ones. */
export const heal: Command = (run) => healWithHooks(run, async () => (await loadHooks()).createAgentHooks);

/** Heals with the fixes in other machines' artifacts, without an agent. */
export const provePatches =
  (patches: readonly RemoteFix[]): Command =>
  (run) =>
    healWithHooks(run, async () => (await loadHooks()).createPatchHooks(patches));

// Loaded only for a red run (CL-4).
const loadHooks = () => import('./clients/hooks.js');
const loadBlame = () => import('./clients/blame/create-blame-search.js');

async function healWithHooks(
  run: Run,
  chooseHooks: () => Promise<CreateHooks>,
): Promise<Result<HealResult, Problem>> {
  const { request, settings } = run.opened;
  const first = await run.runSuite({ needsCopies: startsAgents(run.opened) });
  if (!first.ok) return first;
  const healsFlakes =
    request.options.flaky && first.value.run.tests.some(({ outcome }) => outcome === 'flaky');
  if (!isRed(first.value.run) && !healsFlakes) return run.endGreenRun(first.value.run);
  const blameSearch = settings.blame.enabled ? (await loadBlame()).createBlameSearch(null) : null;
  const session = await run.openSession(first.value, {
    ...(blameSearch && { blameSearch }),
    hooks: await chooseHooks(),
  });
  if (!session.ok) return session;
  const { healRun } = await import('./heal/heal-rounds.js');
  const healed = await healRun(session.value, first.value.run);
  const flaky = [...session.value.bus.getRun().tests.values()].filter(({ verdict }) => verdict === 'flaky');
  if (request.options.flaky && flaky.length > 0) {
    const { runFlaky } = await import('./clients/flaky/flaky-run.js');
    const suspected = flaky.map(({ id }) => id);
    const { paused } = await runFlaky(run.opened, session.value, { first: first.value.run, suspected });
    return ok({ ...healed, paused: healed.paused || paused });
  }
  return ok(healed);
}

/** Shows which agent would get which prompt, without starting any. */
export const plan: Command = async (run) => {
  const first = await run.runSuite();
  if (!first.ok) return first;
  if (!isRed(first.value.run)) return run.endGreenRun(first.value.run);
  const session = await run.openSession(first.value);
  if (!session.ok) return session;
  const { planRun } = await import('./clients/plan-run.js');
  const show = run.opened.request.options.json ? () => undefined : showPlan;
  return ok(await planRun(session.value, first.value.run, show));
};

/** Searches for the change that broke the red tests, since the `base` commit if one is given. */
export const blame =
  (base: string | null): Command =>
  async (run) => {
    const first = await run.runSuite();
    if (!first.ok) return first;
    if (!isRed(first.value.run)) return run.endGreenRun(first.value.run);
    const { createBlameSearch } = await loadBlame();
    const session = await run.openSession(first.value, { blameSearch: createBlameSearch(base) });
    if (!session.ok) return session;
    const { blameFailures: blameRun } = await import('./clients/plan-run.js');
    return ok(await blameRun(session.value, first.value.run));
  };

/** Measures, explains and heals flaky tests instead of red ones. */
export const flaky: Command = async (run) => {
  const noAgent = findNoAgentProblem(run.opened);
  if (noAgent) return err(noAgent);
  const first = await run.runSuite({ ids: null, needsCopies: startsAgents(run.opened) });
  if (!first.ok) return first;
  const session = await run.openSession(first.value, { hooks: (await loadHooks()).createAgentHooks });
  if (!session.ok) return session;
  const { runFlaky } = await import('./clients/flaky/flaky-run.js');
  return ok(await runFlaky(run.opened, session.value, { first: first.value.run }));
};

/** Proves the changes in the working tree on these tests, or on the whole selection if `ids` is empty. */
export const verify =
  (proofRequest: ProofRequest, ids: readonly string[]): Command =>
  async (run) => {
    // The guard judges the change first, because it may refuse it without running a test.
    const { compareChange, endIfRefused } = await import('./clients/verify/compare-change.js');
    const change = await compareChange(run.opened, proofRequest);
    if (!change.ok) return change;
    const refused = endIfRefused(run.opened, change.value);
    if (refused) return ok(refused);
    const first = await run.runSuite(ids.length > 0 ? { ids } : {});
    if (!first.ok) return first;
    const session = await run.openSession(first.value);
    if (!session.ok) return session;
    const { verifyChange } = await import('./clients/verify/prove-change.js');
    return ok(
      await verifyChange(run.opened, session.value, { first: first.value.run, change: change.value }),
    );
  };

/** Applies the patch that a person chose for these tests, or for the suite itself if `ids` is empty, and proves it without an agent. */
export const applyChosenPatch =
  (ids: readonly string[]): Command =>
  async (run) => {
    const first = await run.runSuite(ids.length > 0 ? { ids } : {});
    if (!first.ok) return first;
    if (!isRed(first.value.run)) {
      const message =
        'The patch was not applied, because its tests are now green without it, even under the condition that had turned them red.';
      run.opened.bus.emit({ type: 'run.warning', message });
      return run.endGreenRun(first.value.run);
    }
    const { createChoiceHooks } = await loadHooks();
    const session = await run.openSession(first.value, { hooks: createChoiceHooks, skipsRegression: true });
    if (!session.ok) return session;
    const { healRun } = await import('./heal/heal-rounds.js');
    return ok(await healRun(session.value, first.value.run));
  };

/** True if the run may start an agent, which needs a copy; the built-in fixer does not. */
function startsAgents({ request, settings, missing }: OpenRun): boolean {
  if (request.options.dryRun) return false;
  return Object.entries(settings.agents).some(
    ([name, { runner }]) => runner !== builtIn && !missing.has(name),
  );
}

/** Returns a problem if no agent can heal flaky tests, so that nobody waits minutes for the measurements first; null if an agent can. */
function findNoAgentProblem({ settings, missing }: OpenRun): Problem | null {
  const agents = settings.routes.flaky;
  const problems = agents.flatMap((name) => missing.get(name) ?? []);
  const [first] = problems;
  if (!first || problems.length < agents.length) return null;
  return { ...first, remedy: `${first.remedy} To only measure and explain the flaky tests, add --dry-run.` };
}
