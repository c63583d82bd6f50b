import type { BuiltInProgram, RunnerSettings } from '../../core/settings.js';
import type { Runner } from '../runner.js';
import { claudeRunner } from './claude.js';
import { codexRunner } from './codex.js';
import { commandRunner } from './command.js';
import { copilotRunner } from './copilot.js';
import { geminiRunner } from './gemini.js';
import { opencodeRunner } from './opencode.js';

const builtIn: Readonly<Record<BuiltInProgram, Runner>> = {
  claude: claudeRunner,
  codex: codexRunner,
  gemini: geminiRunner,
  opencode: opencodeRunner,
  copilot: copilotRunner,
};

/** How the program of some settings is started and understood. */
export function runnerOf(settings: RunnerSettings): Runner {
  return settings.kind === 'command' ? commandRunner(settings) : builtIn[settings.kind];
}
