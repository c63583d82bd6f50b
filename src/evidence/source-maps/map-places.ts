import type { AppFolders } from './app-folders.js';
import type { FetchedScripts } from './fetched-scripts.js';
import type { ParsedMaps } from './parsed-maps.js';
import type { ProjectFiles } from './project-files.js';

/** Where to look for scripts, maps and sources. */
export interface MapPlaces {
  readonly files: ProjectFiles;
  readonly folders: AppFolders;
  readonly fetched: FetchedScripts;
  readonly maps: ParsedMaps;
}
