import type { TestRef } from '../../core/failure.js';

/** `1 test`, `2 tests`. */
export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}

/** A test as Playwright's own list reporter names it: `[project] › file:line › titles`. */
export function testName({ project, titlePath, location }: TestRef): string {
  const [file = '', ...titles] = titlePath;
  return [...(project ? [`[${project}]`] : []), `${file}:${location.line}`, ...titles].join(' › ');
}

/** `840ms`, `4.2s`, `3m 12s`, `1h 4m`. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return `${whole}ms`;
  if (whole < 60_000) return `${(Math.floor(whole / 100) / 10).toFixed(1)}s`;
  const seconds = Math.floor(whole / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** US dollars for people; fractions of a cent are shown where nothing else was spent. */
export function dollars(costUsd: number): string {
  return `$${costUsd > 0 && costUsd < 0.01 ? costUsd.toFixed(4) : costUsd.toFixed(2)}`;
}
