import { parseRequestedWaitMs, classifyAgentError, type AgentErrorReason } from './api-error.js';
import { findAgentProgram } from './programs.js';
import type { AgentResult } from './runner.js';

type AgentError = NonNullable<AgentResult['error']>;

const MAX_REASON_CHARACTERS = 300;

/** The remedy for each error, for a person. Login instructions depend on the program. */
const remedies: Readonly<Record<Exclude<AgentErrorReason, 'unauthorized'>, string>> = {
  overloaded: 'The provider is overloaded; run again later.',
  'rate-limited': "The provider's rate limit was reached; run again later, or raise the limit.",
  connection: 'The provider cannot be reached; check the network and the proxy, then run again.',
  'prompt-too-long':
    'Choose a model with a larger context, lower `evidence` in agents.yaml, or shorten the slash command and the files that the program reads at its start.',
  'out-of-credit': 'Add credit to the account, or use another one.',
  'quota-used-up': 'Wait until the limit resets, or raise it.',
  model: 'Choose a model that your account can use.',
  certificate: 'Trust the certificate of your proxy: set NODE_EXTRA_CA_CERTS or SSL_CERT_FILE.',
  'invalid-request':
    "The provider rejects the program's requests: check its model and settings, or update the program.",
  refused: 'The provider refused to work on this failure; read the log, and fix it by hand.',
  'session-unknown': 'Run again; its earlier session no longer exists.',
  'command-line': 'Check the arguments of this runner in agents.yaml and the version of the program.',
  unknown: "Read the agent's log, and try the program by hand.",
};

/** Returns the remedy for an error of this runner's program, in a sentence or two. */
export function chooseRemedy(reason: AgentErrorReason, runner: string): string {
  const login = findAgentProgram(runner)?.login ?? 'Check the login and the permissions of the account.';
  if (reason === 'unauthorized') return login;
  // Without a login, opencode does not know the provider's models.
  return reason === 'model' ? `${remedies.model} If it is not logged in: ${login}` : remedies[reason];
}

/** Classifies a program's own message about why it could not work (AG-6). Unknown wording is fatal. */
export function createAgentError(text: string, runner: string): AgentError {
  const { kind, reason, evidence } = classifyAgentError(text);
  const oneLine = text.trim().replaceAll(/\s+/g, ' ');
  // In a long text, the deciding line is more informative than the beginning.
  const excerpt = oneLine.length > MAX_REASON_CHARACTERS ? (evidence ?? oneLine) : oneLine;
  const message = `${runner}: ${excerpt.slice(0, MAX_REASON_CHARACTERS) || 'it failed without a message'}`;
  if (kind === 'retryable') {
    const waitMs = parseRequestedWaitMs(text);
    return { kind: 'retryable', reason: message, ...(waitMs === null ? {} : { waitMs }) };
  }
  if (kind === 'context_overflow') return { kind: 'context-overflow', reason: message };
  return { kind: 'unusable', reason: message, remedy: chooseRemedy(reason, runner) };
}

/** Creates the error of a program that needs a login. `login` has the program's own instructions. */
export function createLoginError(text: string, runner: string, login: string | null): AgentError {
  const reason = `${runner}: ${text.slice(0, MAX_REASON_CHARACTERS) || 'not logged in'}`;
  return { kind: 'unusable', reason, remedy: login ?? chooseRemedy('unauthorized', runner) };
}

/** Reasons whose words may also describe the user's own app, which agents often mention. */
const ambiguousReasons: readonly AgentErrorReason[] = ['unknown', 'invalid-request', 'refused'];

/** Classifies free text on standard error; returns null unless it is clearly the program's own error (AG-5 then applies). */
export function findAgentError(text: string, runner: string): AgentError | null {
  return ambiguousReasons.includes(classifyAgentError(text).reason) ? null : createAgentError(text, runner);
}
