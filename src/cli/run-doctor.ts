import process from 'node:process';
import type { ChalkInstance } from 'chalk';
import { examine } from '../doctor/examine.js';
import { exitCodes } from '../core/exit-codes.js';
import { paletteForData } from '../outputs/palette.js';
import { print } from './end.js';
import type { Check } from '../doctor/check.js';

/** The flags of `self-heal doctor`. */
export interface DoctorOptions {
  agents?: string;
  config?: string;
  json?: boolean;
  selfTest?: boolean;
}

/** Runs `self-heal doctor` without the self-test; returns the exit code. */
export async function runDoctor({ agents, config, json }: DoctorOptions): Promise<number> {
  const checks = await examine({
    cwd: process.cwd(),
    env: process.env,
    nodeVersion: process.versions.node,
    agents,
    config,
  });
  const ok = checks.every(({ state }) => state !== 'failed');
  print(json ? { schemaVersion: 1, ok, checks } : doctorText(checks, paletteForData(process.env)));
  return ok ? exitCodes.green : exitCodes.usage;
}

/** Renders one line per check, and what to do below each that did not pass. */
export function doctorText(checks: readonly Check[], paint: ChalkInstance): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, state, found, remedy }) => [
    `${markOf(state, paint)} ${name.padEnd(width)}  ${found.replaceAll('\n', '\n    ')}`,
    ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${remedy}`]),
  ]);
  return [...lines, '', lastLine(checks)].join('\n');
}

function markOf(state: Check['state'], paint: ChalkInstance): string {
  switch (state) {
    case 'ok':
      return paint.green('✓');
    case 'warning':
      return paint.magenta('!');
    case 'failed':
      return paint.red('✗');
    default:
      return state satisfies never;
  }
}

function lastLine(checks: readonly Check[]): string {
  const failed = checks.filter(({ state }) => state === 'failed').length;
  if (failed > 0)
    return `${failed === 1 ? 'One check fails' : `${failed} checks fail`}: a run would not work.`;
  return 'A run can work.';
}
