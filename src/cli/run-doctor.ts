import process from 'node:process';
import { Chalk } from 'chalk';
import { examine } from '../doctor/examine.js';
import { exitCodes } from '../problem.js';
import { doctorText } from './doctor-text.js';

/** The flags of `self-heal doctor`. */
export interface DoctorOptions {
  agents?: string;
  config?: string;
  json?: boolean;
  selfTest?: boolean;
}

/** `self-heal doctor` without the self-test: gives the exit code. */
export async function runDoctor({ agents, config, json }: DoctorOptions): Promise<number> {
  const checks = await examine({
    cwd: process.cwd(),
    env: process.env,
    nodeVersion: process.versions.node,
    ...(agents === undefined ? {} : { agents }),
    ...(config === undefined ? {} : { config }),
  });
  const ok = checks.every(({ state }) => state !== 'failed');
  const paint = (process.env['NO_COLOR'] ?? '') === '' ? new Chalk() : new Chalk({ level: 0 });
  const text = json
    ? `${JSON.stringify({ schemaVersion: 1, ok, checks }, null, 2)}\n`
    : doctorText(checks, paint);
  process.stdout.write(text);
  return ok ? exitCodes.green : exitCodes.usage;
}
