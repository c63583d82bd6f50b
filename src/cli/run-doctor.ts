import process from 'node:process';
import { examine } from '../doctor/examine.js';
import { exitCodes } from '../core/exit-codes.js';
import { doctorText } from '../doctor/doctor-text.js';
import { paletteForData } from '../outputs/palette.js';
import { print } from './end.js';

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
  print(json ? { schemaVersion: 1, ok, checks } : doctorText(checks, paletteForData(process.env)));
  return ok ? exitCodes.green : exitCodes.usage;
}
