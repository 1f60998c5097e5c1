/** Ids of receivers that scripts report: `ingest:<source>:<id in the report>`. */

const idPrefix = 'ingest:'

/** True if a script last reported the receiver with this API device id. */
export function isIngestedId(id: string | null): boolean {
  return id?.startsWith(idPrefix) ?? false
}

export function ingestedId(source: string, apiDeviceId: string): string {
  return `${idPrefix}${encodeURIComponent(source.toWellFormed())}:${apiDeviceId}`
}

/** Returns the id that the sender of the report uses. Other ids are returned unchanged. */
export function reportedDeviceId(id: string | null): string | null {
  return id !== null && isIngestedId(id) ? id.slice(id.indexOf(':', idPrefix.length) + 1) : id
}
