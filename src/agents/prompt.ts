import type { AgentContext } from './context.js';

// STOPGAP
export function renderPrompt(context: AgentContext, paths: { contextFile: string; slashCommand: string }): string {
  return `${paths.slashCommand}\n\n${context.task}\n\n${context.error.message}\n\n${paths.contextFile}\n`;
}
