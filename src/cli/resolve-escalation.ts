import { isCancel, select, text } from '@clack/prompts';
import {
  choiceText,
  followsFrom,
  QUARANTINE_DAYS,
  type Answer,
  type Choice,
  type Escalation,
} from '../core/escalation.js';
import { exitCodes } from '../core/exit-codes.js';
import type { Problem } from '../problem.js';
import { counted } from '../outputs/format.js';
import { ok, type Result } from '../result.js';
import type { Store } from '../store/store.js';
import { answerEscalation, checkedAnswer } from '../run/answer-escalation.js';
import { canAsk } from '../outputs/ask.js';
import { asPage } from '../outputs/escalation-text.js';
import { print } from './end.js';

/** An answer given by flags. */
export interface ResolveOptions {
  choice?: Choice | undefined;
  guidance?: string | undefined;
  /** How long a quarantine lasts. */
  days?: number | undefined;
  json?: boolean | undefined;
}

/**
 * Answers an escalation by flags, or by prompting on a terminal (ME-7), and says what follows. A later answer replaces an earlier one. Returns
 * the answered escalation, or an exit code if there was no answer.
 */
export async function resolveEscalation(
  store: Store,
  asked: Escalation,
  options: ResolveOptions,
): Promise<Escalation | number | Problem> {
  const { id } = asked;
  const answer = options.choice ? checkedAnswer(asked, options) : await askFor(asked, options);
  if (!answer.ok) return answer.error;
  if (answer.value === null) {
    process.stderr.write(`No answer was given, so nothing changed: ${id} is ${asked.state}.\n`);
    return exitCodes.interrupted;
  }
  const { days } = options;
  const answered = await answerEscalation(store, id, { ...answer.value, days });
  if (!answered.ok) return answered.error;
  const resolved = answered.value;
  if (!options.json) print(`${id} ${resolved.state}: ${whatFollows(resolved, days)}${insteadOf(asked)}`);
  return resolved;
}

/** Returns null if the person canceled the prompt. */
async function askFor(
  asked: Escalation,
  { guidance }: ResolveOptions,
): Promise<Result<Answer | null, Problem>> {
  if (!canAsk(process.env, process)) return checkedAnswer(asked, {});
  const output = process.stderr;
  output.write(`${asPage(asked, true)}\n\n`);
  const options = asked.choices.map((value) => ({ value, label: choiceText[value] }));
  const message = asked.state === 'pending' ? 'What should be done?' : 'What should be done instead?';
  const choice = await select<Choice>({ message, options, output });
  if (isCancel(choice)) return ok(null);
  if (choice !== 'guide' || guidance?.trim()) return checkedAnswer(asked, { choice, guidance });
  const said = await text({
    message: 'What should the agent know?',
    output,
    validate: (words) => (words?.trim() ? undefined : 'Enter some text, or press Ctrl-C'),
  });
  return isCancel(said) ? ok(null) : ok({ choice, guidance: said });
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
