import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Command, InvalidArgumentError } from 'commander';
import { systemClock } from '../clock.js';
import { exitCodes, type Problem } from '../problem.js';
import { end } from './end.js';
import { listenForInterrupts } from './interrupts.js';
import { isLive } from './is-live.js';
import { openEscalationDesk } from './open-escalation-desk.js';
import { openInBrowser } from './open-in-browser.js';

interface UiCommandOptions {
  agents?: string;
  open: boolean;
  port: number;
}

const TOKEN_BYTES = 32;

/** `self-heal ui`: the newest run as it happens, in a browser, with the questions to decide (RP-5). */
export function uiCommand(): Command {
  return new Command('ui')
    .description('the newest run in a browser while it happens, with the questions that wait for a person')
    .option('--port <n>', 'port of 127.0.0.1 to listen on (default: a free one)', port, 0)
    .option('--no-open', 'only print the URL; so it is also without a terminal')
    .option('--agents <file>', 'agents.yaml to use instead of the one in this folder')
    .action(async (options: UiCommandOptions) => end(await ui(options)));
}

function port(value: string): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number <= 65_535) return number;
  throw new InvalidArgumentError('It must be a port: a whole number up to 65535.');
}

/** Ends when it is interrupted, which is how it is meant to end. */
async function ui({ agents, open, port }: UiCommandOptions): Promise<number | Problem> {
  // The web server is code that no other command needs.
  const { startUi } = await import('../ui/server.js');
  using interrupts = listenForInterrupts(() => undefined);
  const started = await startUi({
    projectRoot: process.cwd(),
    port,
    token: randomBytes(TOKEN_BYTES).toString('base64url'),
    desk: openEscalationDesk(agents),
    clock: systemClock,
  });
  if (!started.ok) return started.error;
  process.stdout.write(`${started.value.url}\n`);
  process.stderr.write('Open this URL; it is for you alone. Ctrl-C ends it.\n');
  if (open && isLive(process.env, process.stdout.isTTY)) await openInBrowser(started.value.url);
  if (!interrupts.signal.aborted) await once(interrupts.signal, 'abort');
  await started.value.close();
  return exitCodes.green;
}
