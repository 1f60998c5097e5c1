/** Devices of a source with errors, and the errors. */
export const name = '0013-device-errors'

export function statements(): readonly string[] {
  return ['alter table sources add column device_errors text']
}
