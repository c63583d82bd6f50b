import type { AgentContext } from '../../src/agents/context.js';
import { aDiagnosis } from './builders.js';

export function aContext(over: Partial<AgentContext> = {}): AgentContext {
  return {
    schemaVersion: 1,
    runId: 'run-1',
    causeId: 'c1',
    attempt: 1,
    task: 'Fix this error so the test can pass',
    project: { name: 'shop', root: '/project' },
    test: {
      id: 't1',
      name: 'cart.spec.ts › adds',
      titlePath: ['cart.spec.ts', 'adds'],
      file: 'tests/cart.spec.ts',
      line: 12,
      project: 'chromium',
    },
    otherTests: [],
    failedStep: null,
    error: { type: 'Error', message: 'Error: boom', stack: null, snippet: null, causes: [] },
    diagnosis: aDiagnosis(),
    blame: null,
    commits: [],
    files: [],
    playwrightReadsTraces: false,
    source: null,
    screenshot: null,
    trace: null,
    pageUrl: null,
    ariaSnapshot: null,
    console: [],
    network: [],
    serverOutput: '',
    missing: [],
    cut: [],
    guidance: null,
    testChanges: 'asked',
    earlierFix: null,
    previousAttempts: [],
    ...over,
  };
}
