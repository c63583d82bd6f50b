import { confirm, isCancel, select, text } from '@clack/prompts';
import { choiceText, followsFrom, type Choice } from '../model/choice.js';
import { QUARANTINE_DAYS, type Answer, type Escalation } from '../model/escalation.js';
import { exitCodes } from '../model/exit-codes.js';
import type { Problem } from '../problem.js';
import { counted } from '../format.js';
import { ok, type Result } from '../result.js';
import type { Store } from '../store/store.js';
import { answerEscalation, type Answered, checkedAnswer, choosesPatch } from '../run/answer-escalation.js';
import { chosenCommand, chosenRequest, type Flags, shown } from '../clients/chosen-patch.js';
import { canAsk } from '../outputs/ask.js';
import { asPage } from '../outputs/escalation-text.js';
import { tell } from './tell.js';
import { laidOut } from '../outputs/cut.js';
import type { RunRequest } from '../command/run-request.js';
import { withStore } from '../store/with-store.js';

/** An answer given by flags. */
export interface ResolveOptions extends Flags {
  choice?: Choice | undefined;
  guidance?: string | undefined;
  /** What the next agent may change besides the app. */
  allow?: 'tests' | undefined;
  /** How long a quarantine lasts. */
  days?: number | undefined;
}

/** An answer that is stored, and the run that applies its patch and proves it, if it chose one. */
export interface Resolved extends Answered {
  readonly request: RunRequest | null;
}

/**
 * Answers an escalation by flags, or by prompting on a terminal (ME-7), and says what follows, unless that is a run of its own. A later answer
 * replaces an earlier one. Returns the answered escalation, or an exit code if there was no answer.
 */
export async function resolveEscalation(
  store: Store,
  asked: Escalation,
  options: ResolveOptions,
): Promise<Resolved | number | Problem> {
  const { id } = asked;
  const answer = options.choice ? checkedAnswer(asked, options) : await askFor(asked, options);
  if (!answer.ok) return answer.error;
  if (answer.value === null) {
    process.stderr.write(`No answer was given, so nothing changed: ${id} is ${asked.state}.\n`);
    return exitCodes.interrupted;
  }
  const { days } = options;
  const request = choosesPatch(answer.value) ? await chosenRequest(asked, options) : ok(null);
  if (!request.ok) return request.error;
  const answered = await answerEscalation(store, id, { ...answer.value, days });
  if (!answered.ok) return answered.error;
  const { escalation } = answered.value;
  if (!options.json && request.value === null)
    tell(`${id} ${escalation.state}: ${whatFollows(escalation, days)}${insteadOf(asked)}`);
  return { ...answered.value, request: request.value };
}

/** Returns null if the person canceled the prompt. */
async function askFor(
  asked: Escalation,
  { guidance, allow }: ResolveOptions,
): Promise<Result<Answer | null, Problem>> {
  if (!canAsk(process.env, process)) return checkedAnswer(asked, {});
  const output = process.stderr;
  output.write(`${laidOut(asPage(await shown(asked), true), output.columns)}\n\n`);
  const options = asked.choices.map((value) => ({ value, label: choiceText[value] }));
  const message = asked.state === 'pending' ? 'What should be done?' : 'What should be done instead?';
  const choice = await select<Choice>({ message, options, output });
  if (isCancel(choice)) return ok(null);
  if (choice !== 'guide' || guidance?.trim()) return checkedAnswer(asked, { choice, guidance, allow });
  const said = await text({
    message: 'What should the agent know?',
    output,
    validate: (words) => (words?.trim() ? undefined : 'Enter some text, or press Ctrl-C'),
  });
  if (isCancel(said)) return ok(null);
  const opens =
    allow ?? (await confirm({ message: 'May it change the tests, too?', initialValue: false, output }));
  if (isCancel(opens)) return ok(null);
  return ok({ choice, guidance: said, allows: opens ? 'tests' : undefined });
}

function whatFollows({ choice, tests }: Escalation, days = QUARANTINE_DAYS): string {
  if (choice !== 'skip') return choice === null ? '' : followsFrom[choice];
  if (tests.length === 0) return 'the suite itself cannot be quarantined';
  return `${tests.length === 1 ? 'its test is' : `its ${tests.length} tests are`} in quarantine for ${counted(days, 'day')}: reported, but not failing the run (self-heal escalations quarantine lists and releases tests)`;
}

/** Names the answer that was replaced. */
function insteadOf({ state, choice }: Escalation): string {
  return state === 'pending' ? '' : ` (previous answer: ${choice})`;
}

/**
 * Applies the patch that a person has chosen, and proves it on the tests of its question, without an agent. Returns the exit code of that run, or
 * null if the answer chose none.
 */
export async function proveChosen({ escalation, request, lock }: Resolved): Promise<number | Problem | null> {
  if (!request || !lock) return null;
  using held = lock;
  const { runCommand } = await import('../command/run-command.js');
  return await runCommand({ ...request, lock: held }, chosenCommand(escalation));
}

/**
 * After a run in a terminal: asks what is waiting for an answer and has a patch ready. Leaving without an answer changes nothing. Returns the
 * exit code, which stays that of the run unless every patch was chosen and proven.
 */
export async function askAfterRun(result: number | Problem, flags: Flags): Promise<number | Problem> {
  if (result !== exitCodes.personNeeded || flags.json || !canAsk(process.env, process)) return result;
  const open = await withStore(flags, async (store) => (await store?.escalations('pending')) ?? []);
  if ('kind' in open) return open;
  let left = false;
  for (const asked of open.filter(({ offers }) => offers.length > 0)) {
    const answered = await withStore(flags, async (store) => store && resolveEscalation(store, asked, flags));
    // Whoever leaves one question is not asked the next.
    if (answered === null || typeof answered === 'number') return result;
    if ('kind' in answered) return answered;
    const proven = await proveChosen(answered);
    if (proven === exitCodes.interrupted || proven === exitCodes.terminated) return proven;
    left = proven !== exitCodes.green || left;
  }
  return left || open.some(({ offers }) => offers.length === 0) ? result : exitCodes.green;
}
