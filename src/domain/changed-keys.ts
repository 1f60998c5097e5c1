import { isRecord, isSameJson } from './json.ts'

/** Returns the paths at which two objects differ, such as `server.port`. Lists are compared as a whole. */
export function findChangedKeys(before: unknown, after: unknown): readonly string[] {
  if (isSameJson(before, after)) return []
  if (!isRecord(before) || !isRecord(after)) return ['']
  return Object.keys({ ...before, ...after }).flatMap((key) =>
    findChangedKeys(before[key], after[key]).map((path) => (path === '' ? key : `${key}.${path}`)),
  )
}
