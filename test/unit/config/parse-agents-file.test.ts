import { describe, expect, it } from 'vitest';
import { headsOf, markedIn, mistakesIn } from './mistakes-in.js';

describe('CF-3 mistakes are shown as a compiler shows them', () => {
  it('CF-3 reports all at once, in the order of the file', () => {
    const text = `version: 1
routes:
  runtime-eror: [debugger]
  ui-error: [code-reviw]
agents:
  debugger: { timeout: 300 }
  database: { slashCommand: database, runer: claude }
limits: { costUsd: -1 }
`;
    expect(mistakesIn(text)).toBe(`agents.yaml:3:3 unknown class "runtime-eror"; did you mean "runtime-error"?
      runtime-eror: [debugger]
      ~~~~~~~~~~~~

agents.yaml:4:14 unknown agent; did you mean "code-review"?
      ui-error: [code-reviw]
                 ~~~~~~~~~~

agents.yaml:6:24 "timeout" needs a unit: write 300s or 300m
      debugger: { timeout: 300 }
                           ~~~

agents.yaml:7:29 "slashCommand" must begin with "/", such as /debugger
      database: { slashCommand: database, runer: claude }
                                ~~~~~~~~

agents.yaml:7:39 unknown key "runer"; did you mean "runner"?
      database: { slashCommand: database, runer: claude }
                                          ~~~~~

agents.yaml:8:20 "costUsd" must not be negative
    limits: { costUsd: -1 }
                       ~~`);
  });

  it('CF-3 shows a missing key at its parent key', () => {
    expect(mistakesIn('runners:\n  fixer:\n    prompt: stdin\n')).toBe(
      'agents.yaml:2:3 "fixer" needs a "command"\n      fixer:\n      ~~~~~',
    );
  });

  it('CF-3 marks the right place after wide characters and CRLF line endings', () => {
    expect(mistakesIn("project: 店\r\nagents: { debugger: { slashCommand: '漢字', runner: me } }\r\n")).toBe(
      [
        'agents.yaml:2:37 "slashCommand" must begin with "/", such as /debugger',
        "    agents: { debugger: { slashCommand: '漢字', runner: me } }",
        '                                        ~~~~~~',
        '',
        'agents.yaml:2:51 unknown runner; known are built-in, claude, codex, gemini, opencode, copilot',
        "    agents: { debugger: { slashCommand: '漢字', runner: me } }",
        '                                                        ~~',
      ].join('\n'),
    );
  });
});

describe('CF-3 the message of a mistake', () => {
  it.each([
    ['- a', '1:1 the file must be a mapping of keys to values'],
    ['colour: 1', '1:1 unknown key "colour"; allowed here: version, project, runner'],
    ['store: mysql://db/x', '1:8 "store" must be a file or a postgres:// URL'],
    ['agents: { debugger: { slash_command: /x } }', '1:23 unknown key "slash_command"; did you mean'],
    ['routes: { broken: [] }', '1:11 unknown class "broken"; allowed here: build-error, database-error,'],
    ['limits:\n', '1:1 "limits" is empty; give it a value, or delete the line'],
    ['agents: { my agent: {} }', '1:11 "my agent" may contain only letters, digits, ".", "_" and "-",'],
    ['routes: { unknown: debugger }', '1:20 "unknown" must be a list of agents, such as [debugger]'],
    ['routes: { unknown: [5] }', '1:21 an entry of "unknown" must be a string; put it in quotes'],
    ['agents: { mine: {} }\nroutes: { unknown: [zzzzzz] }', '2:21 unknown agent; known are'],
    ['verify: { review: reviewer }', '1:19 unknown agent; did you mean "review-fix"?'],
    ['runners: { fixer: { command: [x] } }\nrunner: fixr', '2:9 unknown runner; did you mean "fixer"?'],
    ['runners: { claude: { command: [x] } }', '1:12 "claude" is the name of a built-in runner; choose'],
    ['runners: { f: { command: [] } }', '1:26 "command" must name a program, such as [node,'],
    ['runners: { f: { command: node x } }', '1:26 "command" must be a list of strings, such as [node,'],
    ["runners: { f: { command: [x, 'a{slashcommand}'] } }", '1:30 an entry of "command" contains an'],
    ['limits: { time: 5 minutes }', '1:17 "time" must be a duration such as 5m, 90s, 1h30m, 500ms; did'],
    ['limits: { time: 577h }', '1:17 "time" must be at most 24 days (576h)'],
    ['retries: { max: -1 }', '1:17 "max" must not be negative'],
  ])('CF-3 reports the mistake in %j', (text, head) => {
    expect(headsOf(text)).toEqual([expect.stringContaining(head)]);
  });

  it.each(['claude', 'codex', 'gemini', 'opencode', 'copilot'])(
    'AG-1 runner %s is built in, and takes arguments and variables',
    (runner) => {
      const text = `runner: ${runner}\nagents: { debugger: { runner: ${runner} } }`;
      expect(headsOf(text)).toEqual([]);
      expect(headsOf(`runners: { ${runner}: { args: [--model, x], env: [AWS_PROFILE] } }`)).toEqual([]);
    },
  );

  it('AG-1 arguments and variables next to a command are a mistake, since they would have no effect', () => {
    expect(headsOf('runners: { mine: { command: [x], args: [-v], env: [A] } }')).toEqual([
      '1:34 "args" is for built-in runners; put it into "command"',
      '1:46 "env" is for built-in runners; put it into "command"',
    ]);
  });
});

describe('CF-3 YAML', () => {
  it.each([
    ['routes:\n\tunknown: [debugger]\n', '2:1 lines must be indented with spaces, not tabs'],
    ['runner: "claude\nlimits: {}\n', '1:9 this quote is never closed'],
    ['limits: { time: 1h\n\n', '1:19 this is not valid YAML: Flow map in block collection must be'],
    ['project: a: b', '1:10 this is not valid YAML: Nested mappings are not allowed in compact mappings'],
    ['project: !secret x', '1:10 this is not valid YAML: Unresolved tag: !secret'],
    ['version: 1\n---\nversion: 1\n', '2:1 the file must contain a single document'],
    ['version: 1\nlimits: {}\n# x\nlimits: {}\n', '4:1 duplicate key limits'],
    ['limits: { time: 1m, "time": 2m }', '1:21 duplicate key "time"'],
    ['agents: { a: &slow {}, b: *slwo }', '1:27 there is no anchor &slwo before this alias'],
    ['routes: { unknown: *x, ui-error: &x [] }', '1:20 there is no anchor &x before this alias'],
    ['agents: { a: &a { runner: *a } }', '1:27 "runner" must be a string; put it in quotes'],
    ['agents: { a: { <<: 5 } }', '1:16 Merge sources must be maps or map aliases'],
    ['agents: { a: { << } }', '1:16 Merge sources must be maps or map aliases'],
    ['agents: { a: { <<: *x } }', '1:20 there is no anchor &x before this alias'],
    ['agents: { {a: 1}: {} }', '1:11 a key must be a string'],
  ])('CF-3 reports the mistake in %j', (text, head) => {
    expect(headsOf(text)).toEqual([expect.stringContaining(head)]);
  });

  it('CF-3 reports a mistake repeated by aliases and merges once, where it is written', () => {
    const text = 'agents:\n  a: &x { timeout: 1m, foo: 1 }\n  b: *x\n  c: { <<: *x, runner: fo }\n';
    expect(headsOf(text)).toEqual([
      '2:24 unknown key "foo"; allowed here: slashCommand, runner, timeout',
      '4:24 unknown runner; known are built-in, claude, codex, gemini, opencode, copilot',
    ]);
  });

  it('CF-3 marks the alias itself if its value has the wrong type', () => {
    expect(markedIn('agents: { a: &x { timeout: 1m } }\nlimits: { time: *x }')).toEqual(['*x']);
  });

  it('CF-3 rejects aliases that multiply', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`,
    );
    expect(headsOf(['a0: &a0 [x]', ...levels].join('\n'))).toEqual([
      '1:1 Excessive alias count indicates a resource exhaustion attack',
    ]);
  });

  it.each(['['.repeat(20_000), '- '.repeat(20_000), '{a: '.repeat(20_000), '? '.repeat(20_000)])(
    'CF-3 rejects nesting that would exhaust the stack',
    (text) => {
      expect(headsOf(text)).toContain('1:1 the file is nested too deeply');
    },
  );

  it('CF-3 rejects a merge of itself', () => {
    expect(headsOf('agents: { a: &a { <<: *a, foo: 1 } }')).toHaveLength(1);
  });
});
