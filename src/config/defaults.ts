import type { Category } from '../core/diagnosis.js';
import type { Settings } from '../core/settings.js';

/** The agents that exist without a file. The slash command of each is `/` and its name (CS-1 to CS-6). */
export const defaultAgents = ['build-doctor', 'database', 'debugger', 'code-review'] as const;

const routes: Readonly<Record<Category, readonly (typeof defaultAgents)[number][]>> = {
  'build-error': ['build-doctor'],
  'database-error': ['database'],
  'runtime-error': ['debugger'],
  'ui-error': ['code-review'],
  'network-error': ['debugger'],
  unknown: ['debugger'],
};

/** The settings that apply if agents.yaml does not set them (CF-1). */
export const defaults: Pick<
  Settings,
  'routes' | 'retries' | 'limits' | 'evidence' | 'verify' | 'blame' | 'store' | 'queue' | 'fixer'
> & {
  runner: string;
  timeoutMs: number;
} = {
  runner: 'claude',
  /** How long an agent may take (AG-4). */
  timeoutMs: 5 * 60_000,
  routes,
  retries: { max: 3, backoff: { initialMs: 5_000, factor: 2, maxMs: 60_000 } },
  limits: {
    escalations: 5,
    agentRuns: 20,
    agentRunsPerTest: 6,
    costUsd: 10,
    timeMs: 60 * 60_000,
    parallel: 1,
  },
  evidence: { console: 50, network: 50 },
  verify: {
    level: 'full',
    prepare: null,
    confirm: 1,
    repeat: 3,
    flips: 1,
    regression: 'suite',
    regressionTimeMs: 10 * 60_000,
  },
  blame: { enabled: true, runs: 12, timeMs: 2 * 60_000 },
  store: '.self-heal/ledger.db',
  queue: { leaseMs: 30_000 },
  fixer: 'built-in',
};
