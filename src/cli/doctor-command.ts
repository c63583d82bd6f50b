import process from 'node:process';
import { Chalk } from 'chalk';
import { Command } from 'commander';
import { examine } from '../doctor/examine.js';
import { exitCodes } from '../problem.js';
import { doctorDrill } from './doctor-drill.js';
import { doctorText } from './doctor-text.js';
import { end } from './end.js';

interface DoctorOptions {
  agents?: string;
  config?: string;
  json?: boolean;
  drill?: boolean;
}

const explanation = `
The drill runs this installation in a temporary folder, with this project's Playwright and browser and a scripted agent: a drifted
locator and a real bug have to be healed and proven; a flake, a cheat, an empty claim, a hanging agent and a fix that breaks another
test have to be seen through. Nothing of the project is touched, no account is needed.
Exit codes: ${exitCodes.green} a run can work (every guard fired), ${exitCodes.usage} it could not (one did not), ${exitCodes.interrupted}/${exitCodes.terminated} interrupted`;

/** `self-heal doctor`: whether a run could work here, and what to do where it could not (CL-11). */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check everything that a run needs; no model is asked')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .option('-c, --config <file>', 'Playwright configuration file, or a folder that holds one')
    .option('--drill', 'plant faults in a scratch copy, and show each guard firing; about a minute')
    .option('--json', 'print one JSON document')
    .addHelpText('after', explanation)
    .action(async (options: DoctorOptions) =>
      end(await (options.drill ? doctorDrill(options) : run(options))),
    );
}

async function run({ agents, config, json }: DoctorOptions): Promise<number> {
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
