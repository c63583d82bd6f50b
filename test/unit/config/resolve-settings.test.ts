import { describe, expect, it } from 'vitest';
import { parseAgentsFile } from '../../../src/config/agents-file.js';
import { resolveSettings } from '../../../src/config/load-settings.js';
import type { Settings } from '../../../src/core/settings.js';

function settingsOf(yaml: string): Settings {
  const file = parseAgentsFile(yaml, {});
  if (!file.ok) throw new Error(JSON.stringify(file.error));
  return resolveSettings({ file: file.value, project: 'shop', filePath: null });
}

// The defaults: load-settings.test.ts compares them with the shipped agents.yaml.
const nothing = settingsOf('');
const { verify } = nothing;
const { backoff } = nothing.retries;

describe('CF-1 the settings of a file, with defaults for the rest', () => {
  it('CF-1 a file can set everything', () => {
    const settings = settingsOf(`
version: 1
project: till
runner: fixer
runners:
  codex: { args: [-m, big], env: [DATABASE_URL] }
  fixer: { command: [node, fixer.mjs, '{slashCommand}', '{contextFile}', '{promptFile}', '{screenshot}'], prompt: none }
  other: { command: [other] }
agents:
  debugger: { timeout: 1h30m }
  mine: { slashCommand: /plugin:mine --deep, runner: other }
routes:
  ui-error: [mine, debugger]
  unknown: []
retries: { max: 0, backoff: { initial: 0s, factor: 1.5, max: 500ms } }
limits: { escalations: 0, agentRuns: 1, agentRunsPerTest: 2, costUsd: 0.5, time: 90s, parallel: 3, perDay: { agentRuns: 7, costUsd: 8 }, perBranch: 1 }
evidence: { console: 0, network: 7 }
verify: { intent: tests, review: mine, prepare: npm run build, confirm: 2, repeat: 5, flips: 0, regression: none, regressionTime: 90s }
blame: { enabled: false, time: 30s }
flaky: { runs: 50, time: 1m }
store: postgres://ann@db/till
fixer: none
quarantine: [{ test: a.spec.ts › b, until: 2027-01-31 }]
notify: { url: 'https://hooks.example.org/x' }
`);
    const agents = Object.entries(nothing.agents).map(([name, agent]) => [
      name,
      { ...agent, runner: 'fixer' },
    ]);
    expect(settings).toEqual({
      project: 'till',
      agents: {
        ...Object.fromEntries(agents),
        debugger: { name: 'debugger', slashCommand: '/debugger', runner: 'fixer', timeoutMs: 5_400_000 },
        mine: { name: 'mine', slashCommand: '/plugin:mine --deep', runner: 'other', timeoutMs: 300_000 },
      },
      runners: {
        ...nothing.runners,
        codex: { kind: 'codex', args: ['-m', 'big'], env: ['DATABASE_URL'] },
        fixer: {
          kind: 'command',
          command: ['node', 'fixer.mjs', '{slashCommand}', '{contextFile}', '{promptFile}', '{screenshot}'],
          prompt: 'none',
        },
        other: { kind: 'command', command: ['other'], prompt: 'stdin' },
      },
      routes: { ...nothing.routes, 'ui-error': ['mine', 'debugger'], unknown: [] },
      retries: { max: 0, backoff: { initialMs: 0, factor: 1.5, maxMs: 500 } },
      limits: {
        escalations: 0,
        agentRuns: 1,
        agentRunsPerTest: 2,
        costUsd: 0.5,
        timeMs: 90_000,
        parallel: 3,
        perDay: { agentRuns: 7, costUsd: 8 },
      },
      quarantine: [{ test: 'a.spec.ts › b', until: '2027-01-31' }],
      notifyUrl: 'https://hooks.example.org/x',
      classify: nothing.classify,
      evidence: { console: 0, network: 7 },
      verify: {
        level: 'full',
        intent: 'tests',
        review: 'mine',
        prepare: 'npm run build',
        confirm: 2,
        repeat: 5,
        flips: 0,
        regression: 'none',
        regressionTimeMs: 90_000,
      },
      blame: { enabled: false, timeMs: 30_000 },
      flaky: { runs: 50, timeMs: 60_000 },
      store: 'postgres://ann@db/till',
      fixer: 'none',
      runnerByDefault: [],
      file: null,
    });
  });

  it.each([
    ['limits: { costUsd: 2 }', { limits: { ...nothing.limits, costUsd: 2 } }],
    ['retries: { backoff: { max: 1s } }', { retries: { max: 3, backoff: { ...backoff, maxMs: 1_000 } } }],
    ['verify: { level: quick, repeat: 5 }', { verify: { ...verify, level: 'quick', repeat: 1, flips: 0 } }],
    [
      'verify: { level: none }',
      { verify: { ...verify, level: 'none', repeat: 1, flips: 0, regression: 'none' } },
    ],
    ['# nothing', {}],
    ['---\n', {}],
    ['limits: {}', {}],
    ['\uFEFFproject: till', { project: 'till' }],
    ['project: till\r\nverify:\r\n  confirm: 2\r\n', { project: 'till', verify: { ...verify, confirm: 2 } }],
  ])('CF-1 %j changes only what it names', (yaml, changes) => {
    expect(settingsOf(yaml)).toEqual({ ...nothing, ...changes });
  });

  it('CF-1 understands anchors, aliases and merge keys', () => {
    const { agents } = settingsOf(`
agents:
  first: &slow { timeout: 10m, slashCommand: /slow }
  second: { <<: *slow, slashCommand: /second }
  third: *slow
routes: { unknown: &both [first, second], ui-error: *both }
`);
    expect(agents['second']).toMatchObject({ timeoutMs: 600_000, slashCommand: '/second' });
    expect(agents['third']).toMatchObject({ name: 'third', timeoutMs: 600_000, slashCommand: '/slow' });
  });

  it('CF-1 allows an agent with the name of a property of Object.prototype', () => {
    const { agents, routes } = settingsOf('agents: { constructor: {} }\nroutes: { unknown: [constructor] }');
    expect(agents['constructor']).toMatchObject({ slashCommand: '/constructor' });
    expect(routes.unknown).toEqual(['constructor']);
  });
});
