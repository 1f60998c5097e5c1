/** Ids of receivers that scripts report: `ingest:<source>:<id in the report>`. */

const idPrefix = 'ingest:'

/** Whether the receiver with this API device id was last reported by a script. */
export function isIngestedId(id: string | null): boolean {
  return id?.startsWith(idPrefix) ?? false
}

export function ingestedId(source: string, apiDeviceId: string): string {
  return `${idPrefix}${encodeURIComponent(source.toWellFormed())}:${apiDeviceId}`
}

/** Returns the id by which the sender of the report knows the device. Other ids are returned unchanged. */
export function reportedDeviceId(id: string | null): string | null {
  return id !== null && isIngestedId(id) ? id.slice(id.indexOf(':', idPrefix.length) + 1) : id
}
