import { Command } from 'commander';
import { endWith } from './end.js';

/** `self-heal classify`: classifies a failure, and shows the deciding evidence (CL-8). */
export function classifyCommand(): Command {
  return new Command('classify')
    .description('classify a failure given as text or JSON, and show the deciding evidence')
    .argument('[file]', 'a file, or - for standard input', '-')
    .option('--jsonl', 'read one JSON failure per line, print one result per line')
    .option('--json', 'print the whole diagnosis as JSON')
    .option('--agent', 'classify the error output of a coding agent: retryable, context_overflow or fatal')
    .action(endWith(async () => (await import('./run-classify.js')).runClassify));
}
