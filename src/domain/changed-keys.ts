/** Compares two configurations. */

import { isRecord, isSameJson } from './json.ts'

/** Returns the paths, such as `server.port`, at which two objects differ. Lists are compared as a whole. */
export function findChangedKeys(before: unknown, after: unknown): readonly string[] {
  if (isSameJson(before, after)) return []
  if (!isRecord(before) || !isRecord(after)) return ['']
  return Object.keys({ ...before, ...after }).flatMap((key) =>
    findChangedKeys(before[key], after[key]).map((path) => (path === '' ? key : `${key}.${path}`)),
  )
}
