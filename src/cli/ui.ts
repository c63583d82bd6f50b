import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { createAction } from './end-command.js';
import { agentsFlag, storeFlag, createWholeNumberParser } from './options.js';
import { systemClock } from '../clock.js';
import { exitCodes } from '../model/exit-codes.js';
import type { StoreFlags } from '../store/with-store.js';
import type { Problem } from '../problem.js';
import { listenForInterrupts } from '../process/interrupts.js';
import { canRedraw } from '../outputs/streams.js';
import { openProjectEscalations } from '../clients/ui/questions.js';
import { openInBrowser } from '../outputs/open-in-browser.js';

/** `self-heal ui`: shows the newest run live in a browser, with the escalations to answer (RP-5). */
export function define(command: Command): Command {
  return command
    .addOption(
      new Option('--port <n>', 'listen on this port of 127.0.0.1')
        .argParser(createWholeNumberParser(0, 65_535))
        .default(0, 'a free port'),
    )
    .option('--no-open', 'do not open a browser, only print the URL (the default without a terminal)')
    .option(...agentsFlag)
    .option(...storeFlag)
    .action(createAction(runUi));
}

const TOKEN_BYTES = 32;

/** Runs `self-heal ui` until it is interrupted, which is its normal end. */
async function runUi({
  open,
  port,
  ...flags
}: StoreFlags & { open: boolean; port: number }): Promise<number | Problem> {
  using interrupts = listenForInterrupts(() => undefined);
  const { startUi } = await import('../clients/ui/server.js');
  const startResult = await startUi({
    projectRoot: process.cwd(),
    port,
    token: randomBytes(TOKEN_BYTES).toString('base64url'),
    escalations: openProjectEscalations(flags),
    clock: systemClock,
  });
  if (!startResult.ok) return startResult.error;
  process.stdout.write(`${startResult.value.url}\n`);
  process.stderr.write('Open this URL and keep it private. Press Ctrl-C to stop.\n');
  const shouldOpen = open && canRedraw(process.env, process.stdout);
  await using _file = shouldOpen ? await openInBrowser(startResult.value.url) : null;
  if (!interrupts.signal.aborted) await once(interrupts.signal, 'abort');
  await startResult.value.close();
  return exitCodes.green;
}
