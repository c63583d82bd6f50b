import { middleCut } from '../core/fenced.js';
import type { AgentContext } from './context.js';

const few = 5;
const shortText = 1500;

/** The same failure in fewer words, for a model whose context was too small for all of it (AG-7); `cut` says what is gone. */
export function reduceContext(context: AgentContext): AgentContext {
  const failed = context.network.filter(({ status, failure }) => failure !== null || (status ?? 0) >= 400);
  return {
    ...context,
    error: {
      ...context.error,
      message: middleCut(context.error.message, shortText),
      stack: context.error.stack && middleCut(context.error.stack, shortText),
    },
    ariaSnapshot: null,
    console: context.console.slice(-few),
    network: failed.slice(-few).map((entry) => ({
      ...entry,
      requestHeaders: {},
      responseHeaders: {},
      requestBody: null,
      responseBody: entry.responseBody && middleCut(entry.responseBody, 300),
    })),
    serverOutput: context.serverOutput.split('\n').slice(-few).join('\n'),
    previousAttempts: context.previousAttempts.map((one) => ({
      ...one,
      patch: one.patch && middleCut(one.patch, shortText),
    })),
    cut: [...context.cut, 'most of the evidence, since the context of the model was too small for it'],
  };
}
