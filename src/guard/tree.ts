/** The files of one state of a project, wherever that is kept. */
export interface GuardTree {
  /** All paths, relative to the recorded root, with `/`. */
  paths(): Promise<readonly string[]>;
  /** The bytes of the files that are there, by path. */
  read(paths: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
}
