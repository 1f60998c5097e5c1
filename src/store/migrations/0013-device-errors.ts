/** Which devices of a source fail, and why. */
export const name = '0013-device-errors'

export function statements(): readonly string[] {
  return ['alter table sources add column device_errors text']
}
