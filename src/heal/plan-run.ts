import { agentsFor } from '../core/agents-for.js';
import type { Cause } from '../core/cause.js';
import { groupCauses } from '../core/group.js';
import { writeWork } from './attempt/start-agent.js';
import type { SuiteRun } from '../playwright/suite-run.js';
import type { RunRecord } from './run.js';
import { createTestRecords } from '../run/test-records.js';
import type { Session } from './session.js';
import { summarise } from './summarise.js';

/** What `--dry-run` says of one cause. */
export interface Plan {
  readonly cause: Cause;
  readonly slashCommand: string;
  readonly runner: string;
  readonly prompt: string;
}

/** Gathers, classifies and writes the prompts that agents would get, and starts none (CL-7). */
export async function planRun(
  session: Session,
  first: SuiteRun,
  show: (plan: Plan) => void,
): Promise<RunRecord> {
  const board = createTestRecords();
  board.saw(first);
  const causes = groupCauses(await session.diagnose(first));
  for (const cause of causes) {
    board.causeFound(cause);
    session.bus.emit({ type: 'cause.found', cause: summarise(cause) });
    const [agent] = agentsFor(cause.lead, session.settings.routes);
    const settings = agent === undefined ? undefined : session.settings.agents[agent];
    if (!agent || !settings) continue;
    const { prompt } = await writeWork(session, { cause, agent, n: 1, previous: [] });
    show({ cause, slashCommand: settings.slashCommand, runner: settings.runner, prompt });
  }
  return {
    first,
    tests: board.all(),
    causes: causes.map((cause) => ({
      cause,
      verdict: 'failed',
      reason: 'dry run',
      attempts: [],
      overBudget: false,
    })),
    suiteRed: first.suiteFailure !== null,
    paused: false,
    regression: null,
  };
}
