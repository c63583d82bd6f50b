import type { Problem } from '../problem.js';
import { counted, dollars } from '../outputs/format.js';
import { noStats, type Stats } from '../store/stats.js';
import { withStore } from '../store/with-store.js';
import { print } from './end.js';

/** The flags of `self-heal stats`. */
export interface StatsOptions {
  agents?: string;
  json?: boolean;
}

/** Runs `self-heal stats`; returns the exit code, or the problem with the store. */
export function runStats(options: StatsOptions): Promise<number | Problem> {
  return withStore(options, async (store) => {
    const found = await store?.stats();
    if (options.json) return print({ schemaVersion: 1, ...(found ?? noStats) });
    return print(found ? statsAsText(found) : 'No runs are stored yet.');
  });
}

function statsAsText(stats: Stats): string {
  const lines = [
    `${counted(stats.runs, 'run')} with failures`,
    '',
    ...stats.classes.map(({ category, failures, healed, healRate }) =>
      row(category, `${counted(failures, 'failure')}, ${healed} healed${percent(healRate)}`),
    ),
    '',
    ...stats.agents.map(({ agent, runs, healed, healRate, costUsd }) => {
      const cost = costUsd === null ? '' : `, ${dollars(costUsd)}`;
      return row(`/${agent}`, `${counted(runs, 'run')}, ${healed} healed${percent(healRate)}${cost}`);
    }),
    '',
    row(
      'held',
      `${stats.heals - stats.cameBack - stats.undone} of ${counted(stats.heals, 'heal')}${percent(stats.heldRate)}${undoneOf(stats)}`,
    ),
    row('flaky', `${counted(stats.flaky, 'test')} green without a change`),
    row('agent runs saved', String(stats.agentRunsAvoided)),
    row('cost', costs(stats)),
  ];
  return lines.filter((line, index) => line !== '' || lines[index - 1] !== '').join('\n');
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(16)} ${text}`;
}

function undoneOf({ undone }: Stats): string {
  return undone === 0 ? '' : `, ${undone} undone`;
}

function percent(rate: number | null): string {
  return rate === null ? '' : ` (${Math.round(rate * 100)} %)`;
}

function costs({ costUsd, costPerHealUsd }: Stats): string {
  if (costUsd === null) return 'not reported by the agent programs';
  return costPerHealUsd === null
    ? dollars(costUsd)
    : `${dollars(costUsd)}, ${dollars(costPerHealUsd)} for each heal`;
}
