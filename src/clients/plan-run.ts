import { listAgentsForFailure } from '../heal/policy.js';
import { groupIntoCauses } from '../diagnose/group.js';
import { writeTask } from '../heal/attempt/start-agent.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import { recordFlakes } from '../heal/apply-result.js';
import { confirm } from '../heal/confirm.js';
import { type HealResult, createProgress, summarizeCause } from '../heal/progress.js';
import type { CauseRecord } from '../model/cause.js';
import type { Session } from '../heal/session.js';

/** The output of `--dry-run` for one cause. */
export interface Plan {
  readonly cause: CauseRecord;
  readonly slashCommand: string;
  readonly runner: string;
  readonly prompt: string;
}

/**
 * Confirms and classifies red tests, and writes the prompts for agents, without starting any (CL-7). `verify.prepare` does not run, because it could
 * change the project.
 */
export async function planRun(
  opened: Session,
  first: SuiteRun,
  show: (plan: Plan) => void,
): Promise<HealResult> {
  const session = { ...opened, suite: { ...opened.suite, prepare: async () => null } };
  const progress = createProgress(session, first);
  const { confirmed, flaky, blockedBy } = await confirm(progress, await session.diagnostics.diagnose(first));
  await recordFlakes(progress, flaky);
  const causes = groupIntoCauses(blockedBy ? [blockedBy] : confirmed);
  for (const cause of causes) {
    const summary = summarizeCause(cause);
    session.bus.emit({ type: 'cause.found', cause: summary });
    if (cause.environment !== null) {
      const message = `no agent would start for ${cause.id}: ${cause.environment}`;
      session.bus.emit({ type: 'run.warning', message });
      continue;
    }
    const [agent] = listAgentsForFailure(cause.lead, session.settings.routes);
    const settings = agent === undefined ? undefined : session.settings.agents[agent];
    if (!agent || !settings) continue;
    const { prompt } = await writeTask(session, { cause, agent, n: 1, previous: [] });
    show({ cause: summary, slashCommand: settings.slashCommand, runner: settings.runner, prompt });
  }
  return { suiteRed: first.suiteFailure !== null, paused: false };
}

/** Searches for the change that broke the tests of each cause, without agents (BL-1). Skips tests that are green in a re-run. */
export async function blameFailures(session: Session, first: SuiteRun): Promise<HealResult> {
  const progress = createProgress(session, first);
  const { confirmed, flaky } = await confirm(progress, await session.diagnostics.diagnose(first));
  await recordFlakes(progress, flaky);
  const causes = groupIntoCauses(confirmed);
  for (const cause of causes) session.bus.emit({ type: 'cause.found', cause: summarizeCause(cause) });
  const searches = await session.blame?.(causes);
  while (await searches?.next());
  return { suiteRed: first.suiteFailure !== null, paused: false };
}
