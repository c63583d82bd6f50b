import { expect, it } from 'vitest';
import { isCommandFile } from '../../../src/agents/command-files.js';

it.each([
  ['.claude/commands/debugger.md', true],
  ['web/.claude/commands/fix/database.md', true],
  ['.agents/skills/debugger/SKILL.md', true],
  ['.gemini/commands/debugger.toml', true],
  ['.opencode/command/debugger.md', true],
  ['.github/prompts/debugger.prompt.md', true],
  ['.github/workflows/test.yml', false],
  ['src/commands/debugger.md', false],
  ['my.claude/commands/debugger.md', false],
])('BL-1 %s is a slash command of the project: %s', (file, is) => expect(isCommandFile(file)).toBe(is));
