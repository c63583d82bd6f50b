import { middleCut } from '../core/fenced.js';
import type { AgentContext } from './context.js';

const MAX_MESSAGE_CHARACTERS = 1000;
const MAX_ENTRIES = 5;
const MAX_SERVER_CHARACTERS = 1000;

/** The context for a model that had no room for the whole (AG-7): what failed and why, and the last few lines of the rest. */
export function reduceContext(context: AgentContext): AgentContext {
  const { error, console, network, serverOutput, previousAttempts } = context;
  const failed = network.filter(({ status, failure }) => failure !== null || (status ?? 0) >= 400);
  return {
    ...context,
    error: { ...error, message: middleCut(error.message, MAX_MESSAGE_CHARACTERS), causes: [] },
    otherTests: context.otherTests.slice(0, MAX_ENTRIES),
    ariaSnapshot: null,
    console: console.slice(-MAX_ENTRIES),
    network: failed.slice(-MAX_ENTRIES).map((one) => ({ ...one, requestBody: null, responseBody: null })),
    serverOutput: serverOutput.slice(-MAX_SERVER_CHARACTERS),
    previousAttempts: previousAttempts.map((one) => ({ ...one, patch: null })),
    cut: [...context.cut, 'most of the evidence was left out because it was too long for the model'],
  };
}
