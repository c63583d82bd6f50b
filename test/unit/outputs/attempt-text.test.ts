import { expect, it } from 'vitest';
import { formatAttempt } from '../../../src/outputs/view.js';
import { anAttempt } from '../../rig/builders.js';

it.each(['person', 'memory', 'patch'] as const)(
  'RP-1 a %s’s patch does not name the program that made it',
  (proposedBy) => {
    const claim = { status: 'fixed', summary: 'the patch for the app, chosen by a person' } as const;
    const attempt = anAttempt({ proposedBy, claim, slashCommand: null, runner: 'built-in' });
    const cost = { costUsd: null, inputTokens: null, outputTokens: null, sessionId: null };
    const text = formatAttempt({ ...attempt, ...cost, cut: [], notes: [] });
    expect(text).toMatch(/^the patch for the app, chosen by a person: /);
  },
);
