import type { ChalkInstance } from 'chalk';
import type { Check } from './check.js';

/** One line a check, and under each that is not well what to do. */
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
