import type { Hosting, Ran } from './heal/hosted-run.js';
import type { VerifyOptions as VerifyFlags } from './heal/verify/verify-request.js';
import type { RunOptions as RunFlags } from './heal/run-request.js';
import type { Problem } from './problem.js';
import type { Result } from './result.js';

export type { Ran } from './heal/hosted-run.js';
export type { Problem } from './problem.js';
export type { Report } from './run/report.js';

/** Where and how a call works, besides its flags. */
export interface Place extends Hosting {
  /** The project; the current folder if absent. */
  readonly cwd?: string | undefined;
  /** The environment; that of this process if absent. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** The flags of `self-heal run`, and where it works. */
export interface RunOptions extends Place, Omit<RunFlags, 'json'> {
  /** Test files, as Playwright takes them. */
  readonly filters?: readonly string[];
  /** Arguments for Playwright. */
  readonly passThrough?: readonly string[];
}

/** The flags of `self-heal verify`, and where it works. */
export interface VerifyOptions extends Place, Omit<VerifyFlags, 'json'> {}

/** Runs the suite and heals what is red, as `self-heal run` does (CL-15). */
export async function run({
  cwd = process.cwd(),
  env = process.env,
  signal,
  onEvent,
  filters = [],
  passThrough = [],
  ...flags
}: RunOptions = {}): Promise<Result<Ran, Problem>> {
  const [{ runHosted }, { heal, plan }] = await Promise.all([
    import('./heal/hosted-run.js'),
    import('./heal/commands.js'),
  ]);
  const request = { cwd, env, name: 'run', filters, passThrough, options: { ...flags, json: true } };
  return runHosted(request, flags.dryRun ? plan : heal, { signal, onEvent });
}

/** Proves the changes in the working tree, as `self-heal verify` does (CL-15). */
export async function verify({
  cwd = process.cwd(),
  env = process.env,
  signal,
  onEvent,
  ...flags
}: VerifyOptions = {}): Promise<Result<Ran, Problem>> {
  const { verifyRequest } = await import('./heal/verify/verify-request.js');
  const { runHosted } = await import('./heal/hosted-run.js');
  const request = await verifyRequest({ cwd, env }, { ...flags, json: true });
  if (!request.ok) return request;
  return runHosted(request.value.request, request.value.command, { signal, onEvent });
}
