import { existsSync } from 'node:fs';
import path from 'node:path';
import { isCancel, select, text } from '@clack/prompts';
import { createBus } from '../bus.js';
import { systemClock } from '../clock.js';
import { choiceText, type Answer, type Choice, type Escalation } from '../core/escalation.js';
import { exitCodes, type Problem } from '../problem.js';
import { ndjsonReporter } from '../reporters/ndjson.js';
import { err, ok, type Result } from '../result.js';
import type { Ledger } from '../store/ledger.js';
import { asPage } from './escalation-text.js';
import { isLive } from './is-live.js';

/** An answer given by flags. */
export interface ResolveOptions {
  choice?: Choice;
  guidance?: string;
  json?: boolean;
}

/** Answers an escalation by flags, or by asking where there is a terminal (ME-7). */
export async function resolveEscalation(
  ledger: Ledger,
  id: string,
  options: ResolveOptions,
): Promise<number | Problem> {
  const asked = await ledger.escalation(id);
  if (!asked) return noSuch(id);
  const answer = options.choice ? checked(asked, options) : await askFor(asked, options);
  if (!answer.ok) return answer.error;
  if (answer.value === null) return exitCodes.interrupted;
  const resolved = await ledger.resolve(id, answer.value);
  if (!resolved) return noSuch(id);
  await tellRun(resolved, answer.value.choice);
  if (options.json) process.stdout.write(`${JSON.stringify({ schemaVersion: 1, ...resolved }, null, 2)}\n`);
  else process.stdout.write(`${id} ${resolved.state}: ${whatFollows(resolved)}\n`);
  return exitCodes.green;
}

function noSuch(id: string): Problem {
  return {
    kind: 'usage',
    message: `There is no escalation ${id}`,
    remedy: 'self-heal escalations list names them.',
  };
}

function checked(asked: Escalation, { choice, guidance }: ResolveOptions): Result<Answer, Problem> {
  if (!choice || !asked.choices.includes(choice)) {
    return err({
      kind: 'usage',
      message: choice
        ? `${choice} is no choice of escalation ${asked.id}`
        : `Escalation ${asked.id} needs an answer, and there is no terminal to ask on`,
      remedy: `Say --choice ${asked.choices.join(' | ')}.`,
    });
  }
  if (choice === 'guide' && !guidance?.trim()) {
    return err({
      kind: 'usage',
      message: 'The guidance is missing',
      remedy: 'Say it with --guidance "what is right, or where to look".',
    });
  }
  return ok({ choice, guidance: guidance ?? null });
}

/** Null where the person left without an answer. */
async function askFor(
  asked: Escalation,
  { guidance }: ResolveOptions,
): Promise<Result<Answer | null, Problem>> {
  if (!process.stdin.isTTY || !isLive(process.env, process.stderr.isTTY)) return checked(asked, {});
  process.stderr.write(`${asPage(asked)}\n\n`);
  const output = process.stderr;
  const options = asked.choices.map((value) => ({ value, label: choiceText[value] }));
  const choice = await select<Choice>({ message: 'What is to be done?', options, output });
  if (isCancel(choice)) return ok(null);
  if (choice !== 'guide' || guidance !== undefined)
    return checked(asked, { choice, ...(guidance === undefined ? {} : { guidance }) });
  const said = await text({
    message: 'What is the agent to know?',
    output,
    validate: (words) => (words?.trim() ? undefined : 'Say something, or press Ctrl-C'),
  });
  return isCancel(said) ? ok(null) : ok({ choice, guidance: said });
}

/** The answer is an event of the run that had asked, where its folder is still there. */
async function tellRun({ runId, id }: Escalation, choice: Choice): Promise<void> {
  const file = path.resolve('.self-heal', 'runs', runId, 'events.ndjson');
  if (!existsSync(file)) return;
  const bus = createBus([ndjsonReporter(file)], systemClock);
  bus.emit({ type: 'agent.escalation_resolved', escalationId: id, choice });
  await bus.close();
}

function whatFollows({ choice, tests }: Escalation): string {
  if (choice !== 'skip') return 'the next run tries again (self-heal resume, or self-heal run)';
  if (tests.length === 0) return 'it is no test, so nothing can be put in quarantine';
  return `${tests.length === 1 ? 'its test is' : `its ${tests.length} tests are`} in quarantine: reported each time, not failing the run`;
}
