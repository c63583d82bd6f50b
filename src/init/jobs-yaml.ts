import { Document, stringify, YAMLSeq } from 'yaml';

/** One job by its name, and the comment above it. */
export type CommentedJob = readonly [comment: string, job: Readonly<Record<string, object>>];

/** Renders jobs as YAML, each below its comment. */
export function jobsYaml(jobs: readonly CommentedJob[]): string {
  const options = { lineWidth: 0, flowCollectionPadding: false, aliasDuplicateObjects: false };
  return jobs
    .map(([comment, job]) => `${comment === '' ? '' : `# ${comment}\n`}${stringify(job, options)}`)
    .join('\n');
}

/** A list that is written on one line. */
export function inline(items: readonly unknown[]): YAMLSeq {
  const list = new Document(items).contents as unknown as YAMLSeq;
  list.flow = true;
  return list;
}
