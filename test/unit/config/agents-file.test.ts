import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAgentsFile } from '../../../src/config/agents-file.js';
import { renderDiagnostics } from '../../../src/config/diagnostic.js';

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
});

describe('CF-3 the message of a mistake', () => {
  it.each([
    ['- a', '1:1 the file must be a mapping of keys to values'],
    ['store: mysql://db/x', '1:8 "store" must be a file or a postgres:// URL'],
    ['agents: { debugger: { slash_command: /x } }', '1:23 unknown key "slash_command"; did you mean'],
    ['routes: { broken: [] }', '1:11 unknown class "broken"; allowed here: build-error, database-error,'],
    ['limits:\n', '1:1 "limits" is empty; give it a value, or delete the line'],
    ['routes: { unknown: [5] }', '1:21 an entry of "unknown" must be a string; put it in quotes'],
    ['verify: { review: never }', '1:19 "review" must be one of always, off'],
    ['runners: { fixer: { command: [x] } }\nrunner: fixr', '2:9 unknown runner; did you mean "fixer"?'],
    ['runners: { claude: { command: [x] } }', '1:12 "claude" is the name of a built-in runner; choose'],
    ['classify: { rules: [{ id: a, class: netwrok-error, pattern: x }] }', 'did you mean "network-error"?'],
    ["classify: { rules: [{ id: a, class: ui-error, pattern: '(' }] }", 'is not a valid regular expression'],
    ['classify: { off: [network/own-request-4x] }', 'did you mean "network/own-request-4xx"?'],
    ['runners: { f: { env: [X] } }', '1:12 "f" needs a "command", or "acp"'],
    ['runners: { f: { acp: [x], command: [y] } }', '1:17 "acp" and "command" exclude each other'],
    ['runners: { f: { acp: [x], args: [y] } }', '1:27 "args" is for known programs; put it into "acp"'],
    ['runners: { claude: { allow: [x] } }', '1:22 "allow" is for programs that speak the Agent Client'],
    ['runners: { f: { command: [] } }', '1:26 "command" must name a program, such as [node,'],
    ["runners: { f: { command: [x, 'a{slashcommand}'] } }", '1:30 an entry of "command" contains an'],
    ['limits: { time: 5 minutes }', '1:17 "time" must be a duration such as 5m, 90s, 1h30m, 500ms; did'],
  ])('CF-3 reports the mistake in %j', (text, head) => {
    expect(headsOf(text)).toEqual([expect.stringContaining(head)]);
  });
});

describe('CF-3 YAML', () => {
  it.each([
    ['routes:\n\tunknown: [debugger]\n', '2:1 lines must be indented with spaces, not tabs'],
    ['runner: "claude\nlimits: {}\n', '1:9 this quote is never closed'],
    ['project: !secret x', '1:10 this is not valid YAML: Unresolved tag: !secret'],
    ['version: 1\n---\nversion: 1\n', '2:1 the file must contain a single document'],
    ['version: 1\nlimits: {}\n# x\nlimits: {}\n', '4:1 duplicate key limits'],
    ['limits: { time: 1m, "time": 2m }', '1:21 duplicate key "time"'],
    ['agents: { a: &slow {}, b: *slwo }', '1:27 there is no anchor &slwo before this alias'],
    ['agents: { a: { <<: 5 } }', '1:16 Merge sources must be maps or map aliases'],
    ['agents: { {a: 1}: {} }', '1:11 a key must be a string'],
  ])('CF-3 reports the mistake in %j', (text, head) => {
    expect(headsOf(text)).toEqual([expect.stringContaining(head)]);
  });

  it('CF-3 reports a mistake repeated by aliases or merges once, where it is written', () => {
    const text = 'agents:\n  a: &x { timeout: 1m, foo: 1 }\n  b: *x\n  c: { <<: *x, runner: fo }\n';
    expect(headsOf(text)).toEqual([
      '2:24 unknown key "foo"; allowed here: slashCommand, runner, timeout',
      '4:24 unknown runner; the known ones are built-in, claude, codex, gemini, opencode, copilot, auggie, cline, cursor, goose, kimi, kiro, qwen, vibe',
    ]);
  });

  it('CF-3 rejects aliases that expand exponentially', () => {
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
});

describe('CF-4 ${VAR}', () => {
  const env = { RUNNER: 'fixer', TOKEN: 's3cr3t', EMPTY: '', MINUTES: '7m', NESTED: '${TOKEN}' };

  it('CF-4 is replaced in every kind of text, and its value is not expanded again', () => {
    const parsed = parseAgentsFile(
      [
        'project: a-${RUNNER}-${RUNNER}${EMPTY}',
        'runner: "${RUNNER}"',
        "runners: { fixer: { command: [x, '--token=${TOKEN}', '${NESTED}', '$${TOKEN}', '$TOKEN'] } }",
        'limits: { time: "${MINUTES}" }',
        'verify:\n  prepare: |\n    make ${TOKEN}\n',
      ].join('\n'),
      env,
    );
    expect(parsed).toMatchObject({
      ok: true,
      value: {
        project: 'a-fixer-fixer',
        runner: 'fixer',
        runners: { fixer: { command: ['x', '--token=s3cr3t', '${TOKEN}', '${TOKEN}', '$TOKEN'] } },
        limits: { time: '7m' },
        verify: { prepare: 'make s3cr3t\n' },
      },
    });
  });

  it('CF-4 is a mistake with its position if it is not set or has another form', () => {
    const text = 'project: "a ${NO} ${NO} ${x:-y}"\n';
    expect(headsOf(text)).toEqual([
      '1:13 the environment variable NO is not set',
      '1:19 the environment variable NO is not set',
      '1:25 only ${NAME} is replaced; write $${ for a literal ${',
    ]);
    expect(markedIn(text)).toEqual(['${NO}', '${NO}', '${']);
  });

  it('EV-9 never shows its value in a message about a mistake', () => {
    const text = [
      'runner: ${TOKEN}',
      'runners: { f: { command: "${TOKEN}", prompt: "${TOKEN}" }, g: { command: ["{x}${TOKEN}"] } }',
      'agents: { debugger: { slashCommand: "${TOKEN}", runner: "${TOKEN}", timeout: "${TOKEN}" } }',
      'routes: { unknown: ["${TOKEN}"], ui-error: "${TOKEN}" }',
      'limits: { agentRuns: "${TOKEN}", costUsd: "${TOKEN}", time: "${TOKEN}" }',
      'version: "${TOKEN}"',
      'evidence: "${TOKEN}"',
    ].join('\n');
    const rendered = mistakesIn(text, env);
    expect(headsOf(text, env)).toHaveLength(14);
    expect(rendered).not.toContain('s3cr3t');
  });
});

describe('CF-3 parsing any text', () => {
  const valid = readFileSync(new URL('../../../agents.yaml', import.meta.url), 'utf8');
  const words = '&a *a <<: { } [ ] " \' ${ !x % --- __proto__: null ~ .nan *debugger #'.split(' ');
  const pieces = [...words, '\t', '\n', '\r', '- ', '? ', ': ', '|\n', '---\n', '\0', '漢', '\uD800'];

  function holds(text: string): void {
    const parsed = parseAgentsFile(text, {});
    if (parsed.ok) return;
    // Rejecting a file without a reason would be worse than accepting it.
    expect(parsed.error.length).toBeGreaterThan(0);
    const rendered = renderDiagnostics('agents.yaml', text, parsed.error);
    expect(rendered).toMatch(/^agents\.yaml:[1-9]\d*:[1-9]\d* \S/);
    expect(rendered).toContain('~');
  }

  it('CF-3 accepts random edits of a valid file or explains what is wrong, and never throws', () => {
    const change = fc.record({
      at: fc.nat(valid.length),
      remove: fc.nat(12),
      put: fc.constantFrom('', ...pieces),
    });
    const changed = fc
      .array(change, { minLength: 1, maxLength: 4 })
      .map((changes) =>
        changes.reduce(
          (text, { at, remove, put }) => text.slice(0, at) + put + text.slice(at + remove),
          valid,
        ),
      );
    fc.assert(fc.property(changed, holds), { numRuns: 200 });
  });
});

function mark(text: string, fault: string): string {
  const start = text.indexOf(fault);
  return renderDiagnostics('a.yaml', text, [{ start, end: start + fault.length, message: 'wrong' }]);
}

describe('CF-3 how a mistake is shown', () => {
  it.each([
    ['in the first line', 'bad: 1\nok: 2\n', 'bad', '1:1', 'bad: 1', '~~~'],
    ['in a line that ends in CRLF', 'ok: 1\r\nx: bad\r\n', 'bad', '2:4', 'x: bad', '   ~~~'],
    ['on the first of its lines', 'x: [a,\n  b]\n', '[a,\n  b]', '1:4', 'x: [a,', '   ~~~'],
    ['after a tab', 'x:\tbad\n', 'bad', '1:4', 'x:\tbad', '  \t~~~'],
    ['after wide characters', '漢字: bad', 'bad', '1:5', '漢字: bad', '      ~~~'],
    ['after an emoji of several code points', '👩‍👩‍👧: bad', 'bad', '1:11', '👩‍👩‍👧: bad', '    ~~~'],
  ])('CF-3 marks a mistake %s', (_, text, fault, position, line, marker) => {
    expect(mark(text, fault)).toBe(`a.yaml:${position} wrong\n    ${line}\n    ${marker}`);
  });

  it('CF-3 shortens a long line around the mistake, and keeps the marker under it', () => {
    const [head, line = '', marker = ''] = mark(`${'x'.repeat(500)}bad${'y'.repeat(500)}`, 'bad').split('\n');
    expect(head).toBe('a.yaml:1:501 wrong');
    expect(line.length).toBeLessThan(120);
    expect(line).toMatch(/^ {4}…x+bady+…$/);
    expect(line.slice(marker.indexOf('~'), marker.lastIndexOf('~') + 1)).toBe('bad');
  });

  it('CF-3 replaces characters that move the cursor or reverse text', () => {
    const rendered = mark('x\u001B[31m\u202E: \u0007bad', 'bad');
    expect(rendered.split('\n')).toEqual([
      'a.yaml:1:11 wrong',
      '    x\uFFFD[31m\uFFFD: \uFFFDbad',
      '              ~~~',
    ]);
  });
});

type Env = Record<string, string>;

/** All mistakes of a text, as a person sees them. */
function mistakesIn(text: string, env: Env = {}): string {
  const parsed = parseAgentsFile(text, env);
  return parsed.ok ? '' : renderDiagnostics('agents.yaml', text, parsed.error);
}

/** `line:column message` of each mistake. */
function headsOf(text: string, env: Env = {}): string[] {
  const blocks = mistakesIn(text, env).split('\n\n').filter(Boolean);
  return blocks.map((block) => block.slice('agents.yaml:'.length, block.indexOf('\n')));
}

/** The text above each marker. */
function markedIn(text: string, env: Env = {}): string[] {
  const blocks = mistakesIn(text, env).split('\n\n').filter(Boolean);
  return blocks.map((block) => {
    const [, line = '', marker = ''] = block.split('\n');
    return line.slice(marker.indexOf('~'), marker.length);
  });
}
