import { confirm, isCancel, select, text } from '@clack/prompts';
import { choiceText, consequences, type Choice } from '../model/choice.js';
import { QUARANTINE_DAYS, type Escalation } from '../model/escalation.js';
import { exitCodes } from '../model/exit-codes.js';
import type { Problem } from '../problem.js';
import { counted } from '../format.js';
import type { Store } from '../store/store.js';
import {
  recordAnswer,
  type AnsweredQuestion,
  type EscalationFlags,
  type TypedAnswer,
  readPatchTexts,
} from '../clients/answer-escalation.js';
import { canAskPerson } from '../outputs/ask.js';
import { formatEscalation } from '../outputs/escalation-text.js';
import { printText } from './print-text.js';
import { wrapLines } from '../outputs/truncate.js';
import { withStore } from '../store/with-store.js';

/** An answer given by flags. */
export type ResolveOptions = EscalationFlags & TypedAnswer;

/**
 * Answers an escalation with the flags, or with a prompt on a terminal (ME-7), and prints the consequence unless a run that proves a patch follows. A
 * later answer replaces an earlier one. Returns the answered escalation, or an exit code if there was no answer.
 */
export async function resolveEscalation(
  store: Store,
  escalation: Escalation,
  options: ResolveOptions,
): Promise<AnsweredQuestion | number | Problem> {
  const { id, state } = escalation;
  const shouldPrompt = options.choice === undefined && canAskPerson(process.env, process);
  const answer = shouldPrompt ? await promptForAnswer(escalation, options) : options;
  if (answer === null) {
    process.stderr.write(`No answer was given, so ${id} is still ${state}.\n`);
    return exitCodes.interrupted;
  }
  const { days } = options;
  const recorded = await recordAnswer(store, escalation, { ...answer, days }, options);
  if (!recorded.ok) return recorded.error;
  const { escalation: answeredEscalation, proof } = recorded.value;
  if (!options.json && proof === null)
    printText(
      `${id} ${answeredEscalation.state}: ${describeConsequence(answeredEscalation, days)}${describeReplacedAnswer(escalation)}`,
    );
  return recorded.value;
}

/** Returns null if the person canceled the prompt. */
async function promptForAnswer(
  escalation: Escalation,
  { guidance, allow }: ResolveOptions,
): Promise<TypedAnswer | null> {
  const output = process.stderr;
  const question = formatEscalation(await readPatchTexts(escalation), { withChoices: false });
  output.write(`${wrapLines(question, output.columns)}\n\n`);
  const options = escalation.choices.map((value) => ({ value, label: choiceText[value] }));
  const message = escalation.state === 'pending' ? 'What should be done?' : 'What should be done instead?';
  const choice = await select<Choice>({ message, options, output });
  if (isCancel(choice)) return null;
  if (choice !== 'guide' || guidance?.trim()) return { choice, guidance, allow };
  const typed = await text({
    message: 'What should the agent know?',
    output,
    validate: (words) => (words?.trim() ? undefined : 'Enter some text, or press Ctrl-C'),
  });
  if (isCancel(typed)) return null;
  const mayEditTests =
    allow ??
    (await confirm({ message: 'May the agent change the tests, too?', initialValue: false, output }));
  if (isCancel(mayEditTests)) return null;
  return { choice, guidance: typed, allow: mayEditTests ? 'tests' : undefined };
}

function describeConsequence({ choice, tests }: Escalation, days = QUARANTINE_DAYS): string {
  if (choice !== 'skip') return choice === null ? '' : consequences[choice];
  if (tests.length === 0) return 'the suite itself cannot be quarantined';
  return `${tests.length === 1 ? 'its test is' : `its ${tests.length} tests are`} in quarantine for ${counted(days, 'day')}: failures are reported but do not fail the run (self-heal escalations quarantine lists and releases tests)`;
}

/** Names the answer that was replaced. */
function describeReplacedAnswer({ state, choice }: Escalation): string {
  return state === 'pending' ? '' : ` (previous answer: ${choice})`;
}

/**
 * Applies the patch that a person chose and proves it on the tests of the escalation, without an agent. Returns the exit code of that run, or null if
 * the answer chose no patch.
 */
export async function proveChosenPatch({ proof }: AnsweredQuestion): Promise<number | Problem | null> {
  if (!proof) return null;
  using lock = proof.request.lock;
  const { runCommand } = await import('../command/run-command.js');
  return await runCommand({ ...proof.request, lock }, proof.command);
}

/**
 * After a run in a terminal, prompts for each open escalation with a ready patch. Leaving a prompt changes nothing. Returns the exit code of the run,
 * or green if the person chose and the proof confirmed a patch for every open escalation.
 */
export async function askAfterRun(
  result: number | Problem,
  flags: EscalationFlags,
): Promise<number | Problem> {
  if (result !== exitCodes.personNeeded || flags.json || !canAskPerson(process.env, process)) return result;
  const pending = await withStore(flags, async (store) => (await store?.listEscalations('pending')) ?? []);
  if ('kind' in pending) return pending;
  let isAnyUnproven = false;
  for (const escalation of pending.filter(({ offers }) => offers.length > 0)) {
    const answered = await withStore(
      flags,
      async (store) => store && resolveEscalation(store, escalation, flags),
    );
    // Leaving one prompt skips the others.
    if (answered === null || typeof answered === 'number') return result;
    if ('kind' in answered) return answered;
    const exitCode = await proveChosenPatch(answered);
    if (exitCode === exitCodes.interrupted || exitCode === exitCodes.terminated) return exitCode;
    isAnyUnproven = exitCode !== exitCodes.green || isAnyUnproven;
  }
  return isAnyUnproven || pending.some(({ offers }) => offers.length === 0) ? result : exitCodes.green;
}
