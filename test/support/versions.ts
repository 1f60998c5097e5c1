/** Returns a copy of the value without the versions of records, which differ after an undo. */
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever fields they expect
export function withoutVersions(value: unknown): any {
  return JSON.parse(JSON.stringify(value, (key, field) => (key === 'version' ? undefined : field)))
}
