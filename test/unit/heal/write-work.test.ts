import { expect, it } from 'vitest';
import { writeWork } from '../../../src/heal/attempt/start-agent.js';
import { aCause, aDiagnosed, anEvidence, someSettings } from '../../rig/builders.js';
import { healingSession } from '../../rig/healing-session.js';

const entry = { time: 0, type: 'error', text: 'no such order', location: '', stack: null };
const lead = aDiagnosed({
  n: 7,
  evidence: anEvidence({ console: [entry], serverOutput: 'GET /orders 500' }),
});

it('CL-7 BF-1 writes a prompt to paste, without a slash command, if no agent program is set up', async () => {
  const { agents } = someSettings();
  const own = Object.entries(agents).map(
    ([name, agent]) => [name, { ...agent, runner: 'built-in' }] as const,
  );
  const { session } = await healingSession([], {
    settings: someSettings({ agents: Object.fromEntries(own) }),
  });
  const request = { cause: aCause({ lead }), agent: 'debugger', n: 1, previous: [] };
  const { prompt } = await writeWork(session, request);
  expect(prompt).toMatch(/^Fix this error so the test can pass/);
});
